/** Golden runs of Brian 2 as documents: of open experiments, and of edited networks. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { goldenReader, type GoldenRun } from '../../src/tools/golden/golden.js';
import { GOLDEN_DIR } from './requirements.js';

/** Times that one input may have. */
const TIMES = 10_000;

interface EditedGolden {
  readonly spikes: number;
  /** Members of the document, as the README of the files describes the run. */
  readonly edits: object;
  /** Pairs that an override changes, if the README counts them. */
  readonly pairs?: number;
  /** Neurons whose potentials were recorded, and every how many ms. */
  readonly traces?: Readonly<Record<string, number>>;
}

/** By the names of their files. */
export const EDITED_GOLDENS: Readonly<Record<string, EditedGolden>> = {
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

/** Rows of a file: an event, a step, a neuron, and the columns that its README names. */
export const editedGoldenLines = (name: string): string[][] =>
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

/** The run as a document that replays its kicks. */
export function editedGoldenDocument(name: string): object {
  const lines = editedGoldenLines(name);
  const of = (event: string) => lines.filter(([each]) => each === event);
  const { edits, traces = {} } = EDITED_GOLDENS[name]!;
  const stimulated = of('stimulated').map(([, , id]) => id!);
  return {
    inputs: replayed(of('kick'), stimulated),
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
  };
}

/** Files of open experiments, with their durations in ms and their numbers of spikes. */
export const OPEN_GOLDENS = [
  ['sugar-1000ms', 1000, 7044],
  ['sugar-bitter-500ms', 500, 3390],
  ['odour-1000ms', 1000, 226_879],
  ['loom-left-lesion-400ms', 400, 6049],
] as const;

/** A run of OPEN_GOLDENS, and a document that replays its events and reports the whole raster. */
export function openGolden(
  connectome: Connectome,
  name: string,
  durationMs: number,
): { readonly golden: GoldenRun; readonly document: object } {
  const csv = gunzipSync(readFileSync(resolve(GOLDEN_DIR, 'open', `${name}.csv.gz`))).toString();
  const golden = goldenReader(connectome)(csv, name);
  const document = {
    ...documentOf(connectome, golden),
    duration_ms: durationMs,
    trials: 1,
    reports: {
      all: { node_set: [{ super_class: '*' }, { side: ['left', 'right', 'center'] }], type: 'spikes' },
    },
  };
  return { golden, document };
}

/** Given events for each neuron; if two coincide in a step, the second is that of another input. */
function documentOf(connectome: Connectome, { events, silenced }: GoldenRun): object {
  const ids = (neurons: Uint32Array) => ({
    root_id: Array.from(neurons, (neuron) => connectome.neuronId(neuron)),
  });
  const times: Record<string, number[]>[] = [{}, {}];
  events.steps.forEach((step, at) => {
    const id = connectome.neuronId(events.neurons[at]!);
    const isFirst = times[0]![id]?.at(-1) !== step / 10;
    (times[isFirst ? 0 : 1]![id] ??= []).push(step / 10);
  });
  const inputs = times.map((times_ms, at) => [
    `kicks${at}`,
    { node_set: ids(events.stimulated), module: 'spikes', times_ms },
  ]);
  return {
    inputs: Object.fromEntries(inputs.filter((_, at) => Object.keys(times[at]!).length > 0)),
    silence: silenced.length > 0 ? [ids(silenced)] : [],
  };
}
