/**
 * Golden runs: the spikes that another simulator, Brian 2, found for given input events, in the form of CSV lines
 * `event,step,root_id`, and membrane potentials as lines `step,root_id,v_mv`. Reading and comparing them; no file is opened
 * here.
 */
import type { Connectome } from '../connectome/connectome.js';
import { placeOf } from '../connectome/sorted-array.js';
import { CodedError, describeValue } from '../errors.js';
import type { InputEvents } from '../stimulus/input-events.js';
import { MAXIMUM_TRIAL_STEPS, type NetworkConstants, STEPS_PER_MS } from '../stimulus/protocol.js';
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

const EVENTS = [
  'stimulated',
  'silenced',
  'kick',
  'spike',
  'constant',
  'weight',
  'silence_from',
  'silence_to',
];

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
  return (csv, name, membraneCsv) => {
    const rows = rowsIn(csv, name, HEADER);
    readEach(rows, name, (event) => {
      if (!EVENTS.includes(event)) throw expected(EVENTS.join(', '), event);
    });
    const all = <T>(wanted: string, read: (value: string, subject: string) => T): T[] =>
      readEach(
        rows.filter(({ cells: [event] }) => event === wanted),
        name,
        (_, value, subject) => read(value, subject),
      );
    const stimulated = new Set(all('stimulated', (_, id) => neuronOf(id)));
    const events = toRaster(
      all('kick', (step, id) => {
        const neuron = neuronOf(id);
        if (stimulated.has(neuron)) return keyOf(stepFrom(step), neuron);
        throw new Error('expected a kick of a neuron that a line "stimulated" names, found one of another');
      }),
    );
    const spikes = toRaster(all('spike', (step, id) => keyOf(stepFrom(step), neuronOf(id))));
    if (spikes.steps.length === 0) {
      throw new CodedError('GOLDEN_INVALID', `${name}: expected spikes to compare with, found none`);
    }
    const constants = all('constant', (value, constant) => {
      const known = CONSTANTS[constant];
      if (known === undefined) throw expected(Object.keys(CONSTANTS).join(', '), constant);
      const [own, perUnit] = known;
      const scaled = numberFrom(value) * perUnit;
      return [own, perUnit === 1 ? scaled : Math.round(scaled)] as const;
    });
    const factors = new Map(
      all('weight', (factor, pair) => [connectionOf(pair), numberFrom(factor)] as const),
    );
    const connections = Uint32Array.from(factors.keys()).sort();
    const silencedFrom = all('silence_from', (step, id) => [neuronOf(id), stepFrom(step)] as const);
    const silencedTo = new Map(
      all('silence_to', (step, id) => [neuronOf(id), stepFrom(step, MAXIMUM_TRIAL_STEPS)] as const),
    );
    if (silencedTo.size !== silencedFrom.length || silencedFrom.some(([neuron]) => !silencedTo.has(neuron))) {
      throw new CodedError('GOLDEN_INVALID', `${name}: expected a line silence_to for each silence_from`);
    }
    const traces = membraneCsv === undefined ? [] : tracesIn(membraneCsv, `${name}, membranes`, neuronOf);
    const last = Math.max(
      events.steps.at(-1) ?? 0,
      spikes.steps.at(-1)!,
      ...traces.map(({ steps }) => steps.at(-1)!),
    );
    return {
      events: { stimulated: Uint32Array.from(stimulated).sort(), ...events },
      silenced: Uint32Array.from(new Set(all('silenced', (_, id) => neuronOf(id)))).sort(),
      silencedWindows: silencedFrom.map(([neuron, startStep]) => ({
        neurons: Uint32Array.of(neuron),
        startStep,
        endStep: silencedTo.get(neuron)!,
      })),
      constants: Object.fromEntries(constants),
      connectionFactors: {
        connections,
        factors: Float64Array.from(connections, (connection) => factors.get(connection)!),
      },
      spikes,
      durationSteps: last + 1,
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

/** The potential of a neuron at steps of equal distance, the first of which is that distance. */
interface Trace {
  readonly neuron: number;
  readonly steps: number[];
  readonly mv: number[];
}

function tracesIn(csv: string, name: string, neuronOf: (id: string) => number): Trace[] {
  const traces = new Map<number, Trace>();
  readEach(rowsIn(csv, name, MEMBRANE_HEADER), name, (step, id, mv) => {
    const neuron = neuronOf(id);
    const trace = traces.get(neuron) ?? { neuron, steps: [], mv: [] };
    traces.set(neuron, trace);
    trace.steps.push(stepFrom(step));
    trace.mv.push(numberFrom(mv));
    const due = trace.steps.length * trace.steps[0]!;
    if (trace.steps.at(-1) !== due) throw expected(`step ${due}`, step);
  });
  return [...traces.values()];
}

interface Row {
  readonly cells: readonly string[];
  /** In the file, from 1. */
  readonly line: number;
}

/** The lines below a header, but for empty ones. */
function rowsIn(csv: string, name: string, header: string): Row[] {
  const [first, ...lines] = csv.split(/\r?\n/);
  if (first !== header) {
    throw invalidLine(name, 1, `expected the columns ${header}, found ${describeValue(first)}`);
  }
  const rows = lines.map((text, at) => ({ text, cells: text.split(','), line: at + 2 }));
  return rows.filter(({ text }) => text !== '');
}

/** @throws CodedError GOLDEN_INVALID with the line that `read` refuses */
function readEach<T>(
  rows: readonly Row[],
  name: string,
  read: (first: string, second: string, third: string) => T,
): T[] {
  return rows.map(({ cells: [first = '', second = '', third = ''], line }) => {
    try {
      return read(first, second, third);
    } catch (error) {
      throw invalidLine(name, line, (error as Error).message);
    }
  });
}

function invalidLine(name: string, line: number, fault: string): CodedError {
  return new CodedError('GOLDEN_INVALID', `${name}, line ${line}: ${fault}`);
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
  return Array.from(steps, (step, i) => keyOf(step, neurons[i]!));
}

function keyOf(step: number, neuron: number): number {
  return step * STEP_STRIDE + neuron;
}

function toRaster(keys: readonly number[]): SpikeRaster {
  const ordered = Float64Array.from(keys).sort();
  return {
    steps: Uint16Array.from(ordered, (key) => Math.floor(key / STEP_STRIDE)),
    neurons: Uint32Array.from(ordered, (key) => key % STEP_STRIDE),
  };
}
