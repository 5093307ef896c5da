/** A session has the same spikes however it is cut, on every number of workers and version of Node. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { NeuralExperimentClient, type ExperimentDocument } from '../../clients/typescript/src/client.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith, OTHER_NODES } from '../support/requirements.js';
import { startProcess } from '../support/service-process.js';

const DOCUMENT: ExperimentDocument = {
  inputs: {
    sugar: { node_set: '@sugar', rate_hz: 0 },
    loom: { node_set: 'LC4', rate_hz: 0 },
    noise: { node_set: '@MN9', module: 'background', rate_hz: 3, event_mv: 30 },
  },
  reports: { spikes: { node_set: '@all', type: 'spikes' } },
  seed: 11,
};
/** Long enough for trains to begin anew and for the growing coordinates of the engine to shrink. */
const PHASE_MS = 1_200;
const PHASES: readonly { readonly rates_hz: Record<string, number>; readonly silence?: string[] }[] = [
  { rates_hz: { sugar: 60, loom: 0 } },
  { rates_hz: { sugar: 0, loom: 40 } },
  { rates_hz: { sugar: 30 }, silence: ['PVLP122b'] },
  { rates_hz: { loom: 0 }, silence: [] },
  { rates_hz: { sugar: 90, loom: 20 }, silence: ['@MN9'] },
];

/** @returns the number and the digest of the spikes, and the digest of the document that the session leaves */
async function sessionOn(variables: Record<string, string>, stepsMs: readonly number[], node?: string) {
  const service = await startProcess(
    { ...variables, CONNECTOME_FILE: await connectomeFile('default') },
    undefined,
    node,
  );
  try {
    await service.untilReady();
    const session = await new NeuralExperimentClient(service.url).openSession(DOCUMENT);
    const spikes = createHash('sha256');
    let count = 0;
    let steps = 0;
    for (const phase of PHASES) {
      for (let leftMs = PHASE_MS; leftMs > 0;) {
        const durationMs = Math.min(stepsMs[steps++ % stepsMs.length]!, leftMs);
        const { reports } = await session.step(durationMs, leftMs === PHASE_MS ? phase : {});
        const { t_ms: times, root_id: ids } = reports['spikes'] as {
          readonly t_ms: readonly number[];
          readonly root_id: readonly string[];
        };
        times.forEach((tMs, row) => spikes.update(`${tMs} ${ids[row]}\n`));
        count += times.length;
        leftMs -= durationMs;
      }
    }
    const document = createHash('sha256').update(JSON.stringify(await session.document()));
    return { count, spikes: spikes.digest('hex'), document: document.digest('hex') };
  } finally {
    await service.stop();
  }
}

let expected: Awaited<ReturnType<typeof sessionOn>>;
beforeAll(async () => {
  expected = await sessionOn({ WORKERS: '1' }, [20]);
  expect(expected.count).toBeGreaterThan(10_000);
});

describe('spikes of a session', () => {
  it.each([
    ['2', [7, 100, 1]],
    ['4', [33, 250]],
  ])('are those of 1 worker on %s workers, in steps of %j ms', async (WORKERS, stepsMs) => {
    expect(await sessionOn({ WORKERS }, stepsMs)).toEqual(expected);
  });
});

describeWith(['other-nodes'], 'spikes of a session on other versions of Node', () => {
  const others = OTHER_NODES.map(
    (node) => [execFileSync(node, ['--version']).toString().trim(), node] as const,
  );

  it.each(others)('are the same on %s', async (version, node) => {
    expect(version).not.toBe(process.version);
    expect(await sessionOn({ WORKERS: '2' }, [20, 9], node)).toEqual(expected);
  });
});
