import fc from 'fast-check';
import type { Connectome, Wiring } from '../../src/engine/connectome/connectome.js';
import { encodeConnectome, openConnectome } from '../../src/engine/connectome/format.js';
import { trialTask } from '../../src/experiments/plan/trial.js';
import type { RunTrial } from '../../src/experiments/run/condition-run.js';
import { trialOf, TrialReader } from '../../src/experiments/run/readout.js';
import { getOrInsert } from '../../src/engine/get-or-insert.js';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import { rewired } from '../../src/engine/simulation/rewiring/rewired.js';
import { drawInputEvents } from '../../src/engine/stimulus/input-events.js';
import { networkOf, recipes, type Recipe } from '../support/network-recipe.js';
import { answerOf, localTrials, planOf, rowsOf, tableIn } from '../support/open-experiments.js';
import { smallConnectome } from '../support/small-connectome.js';
import { variedDocuments } from '../support/varied-documents.js';

const DURATION_MS = 40;

/** A random network of the small brain's neurons. */
function connectomeOf(recipe: Recipe): Connectome {
  const content = smallConnectome();
  const { wiring } = networkOf({ ...recipe, neurons: content.metadata.neuronCount });
  const { rowStart, targets, synapseCounts, signs, connectionCount } = wiring;
  const synapseCount = synapseCounts.reduce((sum, count) => sum + count, 0);
  const metadata = { ...content.metadata, minimumSynapses: 1, connectionCount, synapseCount };
  const drawn = { ...content, metadata, rowStart, targets, synapseCounts, signs };
  return openConnectome(encodeConnectome(drawn).buffer as ArrayBuffer);
}

/** Computes trials with the code that is written to be read: its drawing, its rewiring and its engine. */
function referenceTrials(connectome: Connectome): RunTrial {
  const networks = new Map<string, Wiring>();
  const read = trialOf(new TrialReader(connectome, drawInputEvents), {
    simulate: (events, options) => {
      const { wiring } = options;
      const network =
        wiring === undefined
          ? connectome
          : getOrInsert(networks, JSON.stringify(wiring), () => rewired(connectome, wiring));
      return new ReferenceEngine(network).simulate(events, options);
    },
  });
  return async (task, trial) => read(trialTask(task, trial));
}

const documents = variedDocuments({
  stimulated: ['S_sugar', 'S_loom', 'S_heat'],
  read: ['C_walk', 'C_motor', { sub_class: 'inter' }],
  many: ['@all', { super_class: 'central' }, { side: 'left' }],
  backgroundRateHz: 5,
  durationMs: DURATION_MS,
});

const wirings = fc.record(
  {
    minimum_synapses: fc.integer({ min: 1, max: 20 }),
    shuffle: fc.constantFrom('weights', 'targets', 'targets_within_super_class'),
    jitter: fc.constantFrom(0, 0.3, 1.5),
    seed: fc.nat(1000),
  },
  { requiredKeys: [] },
);

it('documents with every member have the same answer of the kernels and of the references', async () => {
  let spikes = 0;
  await fc.assert(
    fc.asyncProperty(
      recipes.map((recipe) => ({ ...recipe, connectionsPerNeuron: 4 + (recipe.connectionsPerNeuron % 20) })),
      documents,
      fc.option(wirings, { nil: undefined }),
      async (recipe, document, wiring) => {
        const connectome = connectomeOf(recipe);
        const given = document as { reports: object };
        const reports = { ...given.reports, all: { node_set: '@all', type: 'spikes' } };
        const plan = planOf(connectome, { ...given, reports, ...(wiring && { wiring }) });
        const [found, expected] = await Promise.all(
          [localTrials(connectome), referenceTrials(connectome)].map((trials) => answerOf(plan, trials)),
        );
        expect(found!.conditions).toHaveLength(expected!.conditions.length);
        for (const [index, condition] of expected!.conditions.entries()) {
          const other = found!.conditions[index]!;
          for (const name of ['spikes', 'synaptic_events', 'responding_neurons'] as const) {
            expect(other[name]).toEqual(condition[name]);
          }
          expect(rowsOf(tableIn(other, 'all'))).toEqual(rowsOf(tableIn(condition, 'all')));
          const [membranes, samples] = [other, condition].map((each) => rowsOf(tableIn(each, 'v')));
          expect(membranes!.length).toBe(samples!.length);
          const off = samples!.findIndex((sample, row) =>
            sample.some(
              (value, at) => Math.abs(value - membranes![row]![at]!) > 1e-9 + 1e-12 * Math.abs(value),
            ),
          );
          expect(off).toBe(-1);
          spikes += condition.spikes!.mean;
        }
      },
    ),
    { seed: 783, numRuns: 12 },
  );
  expect(spikes).toBeGreaterThan(5_000);
});
