/** Runs of Brian 2 with edited networks, asked for as documents: their kicks are replayed, their edits are said in words. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Connectome } from '../../src/connectome/connectome.js';
import { openConnectome } from '../../src/connectome/format.js';
import type { RunTrial } from '../../src/experiments/run/condition-run.js';
import { connectomeFile } from '../support/connectomes.js';
import { answerOf, localTrials, planOf, rowsOf, tableIn } from '../support/open-experiments.js';
import { describeWith, GOLDEN_DIR } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

const LARGEST_DIFFERENCE_MV = 1e-9;
/** Times that one input may have. */
const TIMES = 10_000;

interface Run {
  readonly spikes: number;
  /** Members of the document, as the README of the files describes the run. */
  readonly edits: object;
  /** Pairs that an override changes, where the README counts them. */
  readonly pairs?: number;
  /** Neurons whose potentials were recorded, and every how many ms. */
  readonly traces?: Readonly<Record<string, number>>;
}

const RUNS: Readonly<Record<string, Run>> = {
  'gain-0.7-sugar-1000ms': { spikes: 3064, edits: { constants: { synapse_mv: 0.1925 } } },
  'gain-1.3-sugar-500ms': {
    spikes: 5032,
    edits: { constants: { synapse_mv: 0.3575 } },
    traces: { CB0701: 1 },
  },
  'balance-loom-400ms': {
    spikes: 16_958,
    edits: { constants: { excitatory_scale: 0.8, inhibitory_scale: 1.5 } },
  },
  'timing-odour-300ms': {
    spikes: 40_345,
    edits: { constants: { threshold_mv: -44.2, delay_ms: 2.5, refractory_ms: 3 } },
  },
  'cut-giant-fibre-350ms': {
    spikes: 4905,
    edits: {
      connection_overrides: { cut: { source: 'LC4', target: 'DNp01', weight: 0 } },
      silence: [{ node_set: 'PVLP122b', start_ms: 150, end_ms: 250 }],
    },
    pairs: 89,
    traces: { DNp01: 0.1, DNp04: 1, 'PVLP122b:left': 1 },
  },
  'rewired-sugar-800ms': {
    spikes: 4295,
    edits: {
      constants: { input_event_mv: 6 },
      connection_overrides: {
        a: { source: 'LB3', target: ['CB0248', 'CB0118'], weight: 0.5 },
        b: { source: 'CB0008', target: '@all', weight: -1 },
        c: { source: 'LB3', target: 'CB0*', weight: 1.7 },
        d: { source: ['CB0192', 'CB0118', 'CB0616'], target: '@all', weight: 0.3 },
        e: { source: '@all', target: 'CB0701', weight: 1.7 },
      },
      silence: [{ node_set: ['CB0248', 'CB0445'], start_ms: 250.5, end_ms: 650 }],
    },
    traces: { CB0701: 1 },
  },
};

const linesOf = (name: string): string[][] =>
  gunzipSync(readFileSync(resolve(GOLDEN_DIR, 'edited', `${name}.csv.gz`)))
    .toString()
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));

/** Inputs that replay kicks; a neuron has a step once in each, and an input so many times as it may. */
function replayed(kicks: readonly string[][], stimulated: readonly string[]): object {
  const inputs: { readonly times: Record<string, number[]>; readonly seen: Set<string> }[] = [];
  for (const [, step, id] of kicks) {
    const key = `${step} ${id}`;
    let input = inputs.find(({ seen }) => seen.size < TIMES && !seen.has(key));
    if (input === undefined) inputs.push((input = { times: {}, seen: new Set() }));
    input.seen.add(key);
    (input.times[id!] ??= []).push(Number(step) / 10);
  }
  const node_set = { root_id: stimulated };
  return Object.fromEntries(
    inputs.map(({ times }, at) => [`kicks${at}`, { module: 'spikes', node_set, times_ms: times }]),
  );
}

describeWith(['tables', 'golden'], 'documents that edit the network, against Brian 2', () => {
  let connectome: Connectome;
  let runTrial: RunTrial;

  beforeAll(async () => {
    connectome = openConnectome(
      new Uint8Array(readFileSync(await connectomeFile('measured-predicted'))).buffer,
    );
    runTrial = localTrials(connectome);
  });

  it.each(Object.entries(RUNS))('%s', async (name, { spikes, edits, pairs, traces = {} }) => {
    const lines = linesOf(name);
    const of = (event: string) => lines.filter(([each]) => each === event);
    const plan = planOf(connectome, {
      inputs: replayed(
        of('kick'),
        of('stimulated').map(([, , id]) => id!),
      ),
      ...edits,
      duration_ms: Number(/(\d+)ms$/.exec(name)![1]),
      trials: 1,
      reports: {
        spikes: { node_set: '@all', type: 'spikes' },
        ...Object.fromEntries(
          Object.entries(traces).map(([type, dt_ms], at) => [
            `v${at}`,
            { node_set: type, type: 'membrane', dt_ms },
          ]),
        ),
      },
    });
    const changed = plan.head.resolved['connection_overrides'] as
      Record<string, { pairs: number }> | undefined;
    if (pairs !== undefined) expect(changed?.['cut']?.pairs).toBe(pairs);

    const { conditions } = await answerOf(plan, runTrial);
    const found = rowsOf(tableIn(conditions[0]!, 'spikes')).map(
      ([, step, i]) => `${step} ${connectome.neuronId(i!)}`,
    );
    expect(found).toHaveLength(spikes);
    expect(found.toSorted()).toEqual(
      of('spike')
        .map(([, step, id]) => `${step} ${id}`)
        .toSorted(),
    );

    const potentials = Object.keys(traces).flatMap((_, at) => rowsOf(tableIn(conditions[0]!, `v${at}`)));
    const golden = Object.keys(traces).length === 0 ? [] : linesOf(`${name}.membrane`);
    const goldenMv = new Map(golden.map(([step, id, mv]) => [`${step} ${id}`, Number(mv)]));
    expect(potentials).toHaveLength(golden.length);
    expect(goldenMv.size).toBe(golden.length);
    let largestMv = 0;
    for (const [, step, i, mv] of potentials) {
      const expectedMv = goldenMv.get(`${step} ${connectome.neuronId(i!)}`);
      if (expectedMv === undefined)
        throw new Error(`Brian 2 has no potential of ${connectome.neuronId(i!)} in step ${step}`);
      largestMv = Math.max(largestMv, Math.abs(mv! - expectedMv));
    }
    expect(largestMv).toBeLessThan(LARGEST_DIFFERENCE_MV);
  });
});
