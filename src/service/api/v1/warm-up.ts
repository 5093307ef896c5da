import type { FastifyInstance } from 'fastify';
import { apiPath } from '../../http/api-versions.js';
import { QUERY_FIELDS } from '../../../presets/fields.js';
import { trialExperiment } from '../../../presets/presets.js';
import type { LoadedModel } from '../../health/model-health.js';

/** With half as many, the first run of a client takes up to twice as long as its tenth. */
const ROUNDS = 8;
/** On a machine that needs longer, it is better to be ready than to be warm. */
const LONGEST_MS = 5_000;
const ENCODINGS = ['identity', 'gzip'];
/** One for each round, from this on. */
const FIRST_SEED = 783_000_000;

/**
 * The first requests to a new process are slow, because no code is compiled yet. So the service sends requests to
 * itself, from the router to the workers and back, before it reports ready. Their responses are ignored.
 */
export async function warmUp(fastify: FastifyInstance, { connectome }: LoadedModel): Promise<void> {
  const { stimulus } = trialExperiment(connectome.metadata);
  const begunMs = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    for (const view of QUERY_FIELDS.view.enum) {
      for (const encoding of ENCODINGS) {
        if (performance.now() - begunMs > LONGEST_MS) return;
        await fastify.inject({
          method: 'POST',
          url: `${apiPath('1', 'run')}?view=${view}`,
          headers: { 'accept-encoding': encoding },
          payload: { stimulus, seed: FIRST_SEED + round },
        });
      }
    }
  }
}

/** Tells whether a run is one of these: for tests, whose faults are meant for others. */
export function isWarmUpSeed(seed: number): boolean {
  return seed >= FIRST_SEED && seed < FIRST_SEED + ROUNDS;
}
