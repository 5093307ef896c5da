/**
 * Reads and compares golden runs: the spikes of another simulator, Brian 2, for given input events. Spikes are CSV lines
 * `event,step,root_id`, membrane potentials are lines `step,root_id,v_mv`. Callers open the files.
 */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { positionOf } from '../../engine/connectome/sorted-array.js';
import { CodedError, describeValue } from '../../engine/errors.js';
import { own } from '../../engine/own.js';
import type { InputEvents } from '../../engine/stimulus/input-events.js';
import {
  MAX_WHOLE_TRIAL_STEPS,
  type NetworkConstants,
  type SilencedWindow,
  STEPS_PER_MS,
} from '../../engine/stimulus/protocol.js';
import type { ConnectionFactors } from '../../engine/simulation/connection-factors.js';
import type {
  MembraneRecording,
  SimulationOptions,
  SpikeRaster,
} from '../../engine/simulation/simulation.js';

const HEADER = 'event,step,root_id';
const MEMBRANE_HEADER = 'step,root_id,v_mv';
/** Packs a step and a neuron into one exact number. Neuron indices are below this. */
const STEP_STRIDE = 2 ** 20;

/** Constants of the protocol by their names in the files. Times are converted from ms to steps. */
const CONSTANTS: Readonly<Record<string, readonly [name: keyof NetworkConstants, perUnit: number]>> = {
  synapse_mv: ['synapseMv', 1],
  excitatory_scale: ['excitatoryScale', 1],
  inhibitory_scale: ['inhibitoryScale', 1],
  threshold_mv: ['thresholdMv', 1],
  refractory_ms: ['refractorySteps', STEPS_PER_MS],
  delay_ms: ['delaySteps', STEPS_PER_MS],
  input_event_mv: ['inputEventMv', 1],
};

/** Options of an engine, and the expected spikes and potentials. */
export interface GoldenRun extends SimulationOptions {
  readonly events: InputEvents;
  /** Neurons whose spikes were not delivered. */
  readonly silenced: Uint32Array;
  readonly spikes: SpikeRaster;
  /** Potentials in mV for each recording, which has one neuron. */
  readonly membranes: readonly Float64Array[];
  readonly recordings: readonly MembraneRecording[];
  /** The step after the last event, because a file has no duration. */
  readonly durationSteps: number;
}

type GoldenNetwork = Pick<Connectome, 'neuronCount' | 'neuronId' | 'rowStart' | 'targets'>;

/** Reads the two files of a run. */
export type GoldenReader = (csv: string, name: string, membraneCsv?: string) => GoldenRun;

/**
 * A file has a header and these lines:
 *
 * - `stimulated,,ID`: a neuron with an input; before its input events
 * - `silenced,,ID`: a neuron whose spikes are not delivered
 * - `silence_from,STEP,ID` and `silence_to,STEP,ID`: the same, from the first step up to but excluding the second
 * - `constant,VALUE,NAME`
 * - `weight,FACTOR,ID>ID`: a connection whose weight is multiplied
 * - `kick,STEP,ID`: an input event; twice if two inputs coincide
 * - `spike,STEP,ID`: a spike of the golden run
 *
 * @returns a reader that throws CodedError GOLDEN_INVALID with the line, the expected and the actual text. It refuses a file
 *   without spikes, which may be truncated and would make the comparison meaningless.
 */
export function goldenReader(network: GoldenNetwork): GoldenReader {
  const { neuronOf, connectionOf } = lookupIn(network);
  return (csv, name, membraneCsv) => {
    const [stimulated, silenced] = [new Set<number>(), new Set<number>()];
    const kicks: number[] = [];
    const spikeKeys: number[] = [];
    const silencedFrom: [neuron: number, startStep: number][] = [];
    const silencedTo = new Map<number, number>();
    const constants: Partial<Record<keyof NetworkConstants, number>> = {};
    const factors = new Map<number, number>();
    const readers: Readonly<Record<string, (value: string, subject: string) => unknown>> = {
      stimulated: (_, id) => stimulated.add(neuronOf(id)),
      silenced: (_, id) => silenced.add(neuronOf(id)),
      kick: (step, id) => {
        const neuron = neuronOf(id);
        if (stimulated.has(neuron)) return kicks.push(keyOf(stepFrom(step), neuron));
        throw new Error('expected a kick of a neuron that a line "stimulated" names, found one of another');
      },
      spike: (step, id) => spikeKeys.push(keyOf(stepFrom(step), neuronOf(id))),
      constant: (value, constant) => {
        const known = own(CONSTANTS, constant);
        if (known === undefined) throw expected(Object.keys(CONSTANTS).join(', '), constant);
        const [member, perUnit] = known;
        const scaled = numberFrom(value) * perUnit;
        constants[member] = perUnit === 1 ? scaled : Math.round(scaled);
      },
      weight: (factor, pair) => factors.set(connectionOf(pair), numberFrom(factor)),
      silence_from: (step, id) => silencedFrom.push([neuronOf(id), stepFrom(step)]),
      silence_to: (step, id) => silencedTo.set(neuronOf(id), stepFrom(step, MAX_WHOLE_TRIAL_STEPS)),
    };
    readEach(csv, name, HEADER, (event, value, subject) => {
      const read = own(readers, event);
      if (read === undefined) throw expected(Object.keys(readers).join(', '), event);
      read(value, subject);
    });
    const events = toRaster(kicks);
    const spikes = toRaster(spikeKeys);
    if (spikeKeys.length === 0) {
      throw new CodedError('GOLDEN_INVALID', `${name}: expected spikes to compare with, found none`);
    }
    const traces = membraneCsv === undefined ? [] : tracesIn(membraneCsv, `${name}, membranes`, neuronOf);
    const ends = [events, spikes, ...traces].map(({ steps }) => steps.at(-1) ?? 0);
    return {
      events: { stimulated: ascending(stimulated), ...events },
      silenced: ascending(silenced),
      silencedWindows: windowsBetween(silencedFrom, silencedTo, name),
      constants,
      connectionFactors: inOrder(factors),
      spikes,
      durationSteps: Math.max(...ends) + 1,
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

/** Returns functions that find a neuron by its id, and a connection by its pair of ids. */
function lookupIn(network: GoldenNetwork) {
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
    const position = positionOf(targets.subarray(begin, rowStart[neuronOf(source) + 1]), neuronOf(target));
    if (position < 0) throw new Error(`${describeValue(pair)} is no connection of this connectome`);
    return begin + position;
  };
  return { neuronOf, connectionOf };
}

function ascending(numbers: Iterable<number>): Uint32Array {
  return Uint32Array.from(numbers).sort();
}

function inOrder(factorOf: ReadonlyMap<number, number>): ConnectionFactors {
  const connections = ascending(factorOf.keys());
  return {
    connections,
    factors: Float64Array.from(connections, (connection) => factorOf.get(connection)!),
  };
}

function windowsBetween(
  from: readonly (readonly [neuron: number, startStep: number])[],
  to: ReadonlyMap<number, number>,
  name: string,
): SilencedWindow[] {
  if (to.size !== from.length || from.some(([neuron]) => !to.has(neuron))) {
    throw new CodedError('GOLDEN_INVALID', `${name}: expected a line silence_to for each silence_from`);
  }
  return from.map(([neuron, startStep]) => ({
    neurons: Uint32Array.of(neuron),
    startStep,
    endStep: to.get(neuron)!,
  }));
}

/** The potential of a neuron at equally spaced steps; the first step equals the spacing. */
interface Trace {
  readonly neuron: number;
  readonly steps: number[];
  readonly mv: number[];
}

function tracesIn(csv: string, name: string, neuronOf: (id: string) => number): Trace[] {
  const traces = new Map<number, Trace>();
  readEach(csv, name, MEMBRANE_HEADER, (step, id, mv) => {
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

/**
 * Reads the lines below the header, except empty ones. Lines count from 1.
 * @throws CodedError GOLDEN_INVALID with the line that `read` refuses
 */
function readEach(
  csv: string,
  name: string,
  header: string,
  read: (first: string, second: string, third: string) => void,
): void {
  const [first, ...lines] = csv.split(/\r?\n/);
  if (first !== header) {
    throw invalidLine(name, 1, `expected the columns ${header}, found ${describeValue(first)}`);
  }
  lines.forEach((line, at) => {
    if (line === '') return;
    const [first = '', second = '', third = ''] = line.split(',');
    try {
      read(first, second, third);
    } catch (error) {
      throw invalidLine(name, at + 2, (error as Error).message);
    }
  });
}

function invalidLine(name: string, line: number, fault: string): CodedError {
  return new CodedError('GOLDEN_INVALID', `${name}, line ${line}: ${fault}`);
}

function expected(what: string, found: unknown): Error {
  return new Error(`expected ${what}, found ${describeValue(found)}`);
}

function stepFrom(text: string, last = MAX_WHOLE_TRIAL_STEPS - 1): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= last) return Number(text);
  throw expected(`a step from 0 to ${last}`, text);
}

function numberFrom(text: string): number {
  if (text !== '' && Number.isFinite(Number(text))) return Number(text);
  throw expected('a number', text);
}

/** The largest difference of potentials in mV; Infinity if the lengths of a trace differ. */
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

/** Counts the spikes of the simulated run, those of the golden run that it lacks, and those that it has beyond them. */
export function compareSpikes(golden: SpikeRaster, simulated: SpikeRaster) {
  const keysOf = ({ steps, neurons }: SpikeRaster) =>
    Array.from(steps, (step, i) => keyOf(step, neurons[i]!));
  const missing = new Set(keysOf(golden));
  const extra = keysOf(simulated).filter((key) => !missing.delete(key)).length;
  return { spikes: simulated.steps.length, missing: missing.size, extra };
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
