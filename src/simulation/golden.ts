/**
 * Golden runs: the spikes that another simulator, Brian 2, found for given input events, in the form of CSV lines
 * `event,step,root_id`, and membrane potentials as lines `step,root_id,v_mv`. Reading and comparing them; no file is opened
 * here.
 */
import type { Connectome } from '../connectome/connectome.js';
import { placeOf } from '../connectome/sorted-array.js';
import { CodedError, describeValue } from '../errors.js';
import type { InputEvents } from '../stimulus/input-events.js';
import {
  MAXIMUM_TRIAL_STEPS,
  type NetworkConstants,
  type SilencedWindow,
  STEPS_PER_MS,
} from '../stimulus/protocol.js';
import type { MembraneRecording, SimulationOptions, SpikeRaster } from './simulation.js';

const HEADER = 'event,step,root_id';
const MEMBRANE_HEADER = 'step,root_id,v_mv';
/** Step and neuron in one exact number; neuron indices stay below this. */
const STEP_STRIDE = 2 ** 20;

/** From the names of the files to those of the protocol; a time has the number of its steps for each ms. */
const CONSTANTS: Readonly<Record<string, readonly [name: keyof NetworkConstants, perUnit: number]>> = {
  synapse_mv: ['synapseMv', 1],
  excitatory_scale: ['excitatoryScale', 1],
  inhibitory_scale: ['inhibitoryScale', 1],
  threshold_mv: ['thresholdMv', 1],
  refractory_ms: ['refractorySteps', STEPS_PER_MS],
  delay_ms: ['delaySteps', STEPS_PER_MS],
  input_event_mv: ['inputEventMv', 1],
};

/** Options of an engine, and the spikes and potentials that it should find. */
export interface GoldenRun extends SimulationOptions {
  readonly events: InputEvents;
  /** Neurons whose spikes were not delivered. */
  readonly silenced: Uint32Array;
  readonly spikes: SpikeRaster;
  /** The potential of the one neuron of each recording, in mV. */
  readonly membranes: readonly Float64Array[];
  readonly recordings: readonly MembraneRecording[];
  /** Up to the step of the last event, since a file does not say how long it ran. */
  readonly durationSteps: number;
}

export interface SpikeComparison {
  /** Spikes of the simulated run. */
  readonly spikes: number;
  /** Spikes of the golden run that were not simulated. */
  readonly missing: number;
  /** Simulated spikes that the golden run does not have. */
  readonly extra: number;
}

/** Reads the two files of a run. */
export type GoldenReader = (csv: string, name: string, membraneCsv?: string) => GoldenRun;

/** Rows of a file, as they are read. */
interface Rows {
  readonly stimulated: Set<number>;
  readonly silenced: Set<number>;
  readonly silencedFrom: [neuron: number, step: number][];
  readonly silencedTo: [neuron: number, step: number][];
  readonly constants: Partial<Record<keyof NetworkConstants, number>>;
  readonly factors: Map<number, number>;
  readonly kicks: number[];
  readonly spikes: number[];
  /** Neurons with a kick, and the line of the first one. */
  readonly firstKickAt: Map<number, number>;
}

/**
 * @returns a reader of lines `stimulated,,ID` (a neuron of any input), `silenced,,ID` (one whose spikes are not delivered),
 *   `silence_from,STEP,ID` and `silence_to,STEP,ID` (from one step to before the other), `constant,VALUE,NAME`,
 *   `weight,FACTOR,ID>ID` (a connection is multiplied), `kick,STEP,ID` (an input event, twice where two inputs meet) and
 *   `spike,STEP,ID` below a header. It throws CodedError GOLDEN_INVALID with the line, what was found and what was
 *   expected; also for a file without spikes, which is cut short or compares nothing with nothing.
 */
export function goldenReader(
  network: Pick<Connectome, 'neuronCount' | 'neuronId' | 'rowStart' | 'targets'>,
): GoldenReader {
  const { neuronCount, rowStart, targets } = network;
  const indexById = new Map(Array.from({ length: neuronCount }, (_, i) => [network.neuronId(i), i]));
  const neuronOf = (id: string): number => {
    const neuron = indexById.get(id);
    if (neuron === undefined) throw new Error(`neuron ${describeValue(id)} is not in this connectome`);
    return neuron;
  };
  const connectionOf = (pair: string): number => {
    const [source = '', target = ''] = pair.split('>');
    const begin = rowStart[neuronOf(source)]!;
    const place = placeOf(targets.subarray(begin, rowStart[neuronOf(source) + 1]), neuronOf(target));
    if (place < 0) throw new Error(`${describeValue(pair)} is no connection of this connectome`);
    return begin + place;
  };
  const readers: Readonly<Record<string, (rows: Rows, value: string, name: string, at: number) => void>> = {
    stimulated: (rows, _, id) => rows.stimulated.add(neuronOf(id)),
    silenced: (rows, _, id) => rows.silenced.add(neuronOf(id)),
    kick(rows, step, id, at) {
      const neuron = neuronOf(id);
      rows.kicks.push(stepFrom(step) * STEP_STRIDE + neuron);
      if (!rows.firstKickAt.has(neuron)) rows.firstKickAt.set(neuron, at);
    },
    spike: (rows, step, id) => rows.spikes.push(stepFrom(step) * STEP_STRIDE + neuronOf(id)),
    constant(rows, value, name) {
      const known = CONSTANTS[name];
      if (known === undefined) throw expected(Object.keys(CONSTANTS).join(', '), name);
      const scaled = numberFrom(value) * known[1];
      rows.constants[known[0]] = known[1] === 1 ? scaled : Math.round(scaled);
    },
    weight: (rows, factor, pair) => rows.factors.set(connectionOf(pair), numberFrom(factor)),
    silence_from: (rows, step, id) => rows.silencedFrom.push([neuronOf(id), stepFrom(step)]),
    silence_to: (rows, step, id) => rows.silencedTo.push([neuronOf(id), stepFrom(step, MAXIMUM_TRIAL_STEPS)]),
  };
  return (csv, name, membraneCsv) => {
    const rows: Rows = {
      stimulated: new Set(),
      silenced: new Set(),
      silencedFrom: [],
      silencedTo: [],
      constants: {},
      factors: new Map(),
      kicks: [],
      spikes: [],
      firstKickAt: new Map(),
    };
    forEachRow(csv, name, HEADER, ([event, value = '', subject = ''], at) => {
      const read = readers[event ?? ''];
      if (read === undefined) throw expected(Object.keys(readers).join(', '), event);
      read(rows, value, subject, at);
    });
    for (const [neuron, at] of rows.firstKickAt) {
      if (rows.stimulated.has(neuron)) continue;
      throw invalidLine(
        name,
        at,
        'expected a kick of a neuron that a line "stimulated" names, found one of another',
      );
    }
    if (rows.spikes.length === 0) {
      throw new CodedError('GOLDEN_INVALID', `${name}: expected spikes to compare with, found none`);
    }
    const traces = membraneCsv === undefined ? [] : tracesIn(membraneCsv, `${name}, membranes`, neuronOf);
    const events = toRaster(rows.kicks);
    const spikes = toRaster(rows.spikes);
    const lasts = [
      events.steps.at(-1) ?? 0,
      spikes.steps.at(-1)!,
      ...traces.map(({ steps }) => steps.at(-1)!),
    ];
    const connections = Uint32Array.from(rows.factors.keys()).sort();
    return {
      events: { stimulated: Uint32Array.from(rows.stimulated).sort(), ...events },
      silenced: Uint32Array.from(rows.silenced).sort(),
      silencedWindows: windowsOf(rows, name),
      constants: rows.constants,
      connectionFactors: {
        connections,
        factors: Float64Array.from(connections, (connection) => rows.factors.get(connection)!),
      },
      spikes,
      durationSteps: Math.max(...lasts) + 1,
      recordings: traces.map(({ neuron, steps }) => ({
        neurons: Uint32Array.of(neuron),
        everySteps: steps[0]!,
        startStep: 0,
        endStep: steps.at(-1)! + 1,
      })),
      membranes: traces.map(({ mv }) => Float64Array.from(mv)),
    };
  };
}

/** @throws CodedError GOLDEN_INVALID where windows do not come in pairs, one for each neuron */
function windowsOf({ silencedFrom, silencedTo }: Rows, name: string): SilencedWindow[] {
  const ends = new Map(silencedTo);
  if (ends.size !== silencedFrom.length || silencedFrom.some(([neuron]) => !ends.has(neuron))) {
    throw new CodedError('GOLDEN_INVALID', `${name}: expected a line silence_to for each silence_from`);
  }
  return silencedFrom.map(([neuron, startStep]) => ({
    neurons: Uint32Array.of(neuron),
    startStep,
    endStep: ends.get(neuron)!,
  }));
}

/** The potential of a neuron at steps of equal distance, the first of which is that distance. */
interface Trace {
  readonly neuron: number;
  readonly steps: number[];
  readonly mv: number[];
}

function tracesIn(csv: string, name: string, neuronOf: (id: string) => number): Trace[] {
  const traces = new Map<number, Trace>();
  forEachRow(csv, name, MEMBRANE_HEADER, ([step = '', id = '', mv = '']) => {
    const neuron = neuronOf(id);
    const trace = traces.get(neuron) ?? { neuron, steps: [], mv: [] };
    traces.set(neuron, trace);
    trace.steps.push(stepFrom(step));
    trace.mv.push(numberFrom(mv));
    const every = trace.steps[0]!;
    if (trace.steps.at(-1) !== trace.steps.length * every)
      throw expected(`step ${trace.steps.length * every}`, step);
  });
  return [...traces.values()];
}

/** Reads lines below a header. @throws CodedError GOLDEN_INVALID with the line that a reader refuses */
function forEachRow(
  csv: string,
  name: string,
  header: string,
  read: (cells: readonly string[], at: number) => void,
): void {
  const lines = csv.split(/\r?\n/);
  if (lines[0] !== header) {
    throw invalidLine(name, 0, `expected the columns ${header}, found ${describeValue(lines[0])}`);
  }
  lines.forEach((line, at) => {
    if (at === 0 || line === '') return;
    try {
      read(line.split(','), at);
    } catch (error) {
      throw invalidLine(name, at, (error as Error).message);
    }
  });
}

function invalidLine(name: string, at: number, fault: string): CodedError {
  return new CodedError('GOLDEN_INVALID', `${name}, line ${at + 1}: ${fault}`);
}

function expected(what: string, found: unknown): Error {
  return new Error(`expected ${what}, found ${describeValue(found)}`);
}

function stepFrom(text: string, last = MAXIMUM_TRIAL_STEPS - 1): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= last) return Number(text);
  throw expected(`a step from 0 to ${last}`, text);
}

function numberFrom(text: string): number {
  if (text !== '' && Number.isFinite(Number(text))) return Number(text);
  throw expected('a number', text);
}

/** The largest difference of potentials in mV; Infinity where a trace has another length. */
export function compareMembranes(
  golden: readonly Float64Array[],
  simulated: readonly Float64Array[],
): number {
  return golden.reduce((largest, mv, trace) => {
    const found = simulated[trace]!;
    if (found.length !== mv.length) return Infinity;
    return mv.reduce((most, each, at) => Math.max(most, Math.abs(each - found[at]!)), largest);
  }, 0);
}

/** Counts the differences between two rasters; both are ordered by step, then neuron. */
export function compareSpikes(golden: SpikeRaster, simulated: SpikeRaster): SpikeComparison {
  const expected = new Set(toKeys(golden));
  let extra = 0;
  for (const key of toKeys(simulated)) {
    if (!expected.delete(key)) extra++;
  }
  return { spikes: simulated.steps.length, missing: expected.size, extra };
}

function toKeys({ steps, neurons }: SpikeRaster): number[] {
  return Array.from(steps, (step, i) => step * STEP_STRIDE + neurons[i]!);
}

function toRaster(keys: readonly number[]): SpikeRaster {
  const ordered = Float64Array.from(keys).sort();
  return {
    steps: Uint16Array.from(ordered, (key) => Math.floor(key / STEP_STRIDE)),
    neurons: Uint32Array.from(ordered, (key) => key % STEP_STRIDE),
  };
}
