import type { EventResult } from '../../experiments/kinds/reports/event-table.js';
import type { ConditionTask, TrialResult } from '../../experiments/plan/trial.js';
import type { TrialBundle } from './messages.js';
import { TrialBundles } from './trial-bundles.js';

const READING: TrialResult = { spikes: 0, responding: 0, inputEvents: 0, synapticEvents: 0, reports: [] };
const taskOf = (neurons: number): ConditionTask => ({
  protocol: {
    inputs: [
      {
        neurons: new Uint32Array(neurons),
        train: { kind: 'poisson', name: 's', rateHz: 0, seed: 1, startStep: 0, endStep: 100 },
      },
    ],
    silenced: new Uint32Array(0),
    durationSteps: 100,
  },
  reports: [],
  countsAll: false,
});
const withRows = (rows: number) =>
  ({
    ...READING,
    reports: [
      {
        type: 'spikes',
        rows,
        steps: new Uint32Array(rows),
        neurons: new Uint32Array(0),
        values: [],
      } as EventResult,
    ],
  }) as const;

/** Lengths of the bundles of 16 trials, after one with this task and result. */
async function lengthsAfter(task: ConditionTask, reading: TrialResult): Promise<number[]> {
  const sent: TrialBundle[] = [];
  const bundles = new TrialBundles(async (bundle) => {
    sent.push(bundle);
    return bundle.map(() => reading);
  });
  await bundles.run(task, 0);
  await Promise.all(Array.from({ length: 16 }, (_, trial) => bundles.run(task, trial)));
  expect(sent[0]).toEqual([{ condition: 0, task, trial: 0 }]);
  expect(sent[1]![0]).toEqual({ condition: 0, trial: 0 });
  return sent.slice(1).map(({ length }) => length);
}

it.each([
  // A trial of its own is 0.2 ms.
  ['trials that cost nothing beside handing them over', taskOf(0), READING, [16]],
  // 4,000 trains are 5 ms more.
  ['trains that are drawn', taskOf(4000), READING, new Array(16).fill(1)],
  // 325,000 synaptic events are 1 ms.
  ['synaptic events', taskOf(0), { ...READING, synapticEvents: 325_000 }, [5, 5, 5, 1]],
  // 520 rows are 0.8 ms.
  ['rows of tables', taskOf(0), withRows(520), [6, 6, 4]],
])('a bundle takes 6 ms of a core at most: %s', async (_, task, reading, lengths) => {
  expect(await lengthsAfter(task, reading)).toEqual(lengths);
});
