/**
 * Golden runs: the spikes that another simulator, Brian 2, found for given input events, in the form of CSV lines
 * `event,step,root_id`. Reading and comparing them; no file is opened here.
 */
import type { Connectome } from '../connectome/connectome.js';
import { CodedError, describeValue } from '../errors.js';
import type { InputEvents } from '../stimulus/input-events.js';
import { MAXIMUM_TRIAL_STEPS } from '../stimulus/protocol.js';
import type { SpikeRaster } from './simulation.js';

const HEADER = 'event,step,root_id';
/** Step and neuron in one exact number; neuron indices stay below this. */
const STEP_STRIDE = 2 ** 20;

export interface GoldenRun {
  readonly events: InputEvents;
  /** Neurons whose spikes were not delivered. */
  readonly silenced: Uint32Array;
  readonly spikes: SpikeRaster;
  /** How long to simulate: up to the step of the last event, since a file does not say how long it ran. */
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

/** Index of every neuron by its id. */
export function neuronIndexById(connectome: Connectome): Map<string, number> {
  return new Map(Array.from({ length: connectome.neuronCount }, (_, i) => [connectome.neuronId(i), i]));
}

/**
 * @param csv lines `stimulated,,ID` (a neuron of any input), `silenced,,ID` (one whose spikes are not delivered),
 *   `kick,STEP,ID` (an input event, twice where two inputs meet), `spike,STEP,ID` below a header
 * @param name of the file, for messages
 * @throws CodedError GOLDEN_INVALID with the line, what was found and what was expected; also for a file without
 *   spikes, which is cut short or compares nothing with nothing
 */
export function parseGolden(csv: string, name: string, indexById: ReadonlyMap<string, number>): GoldenRun {
  const lines = csv.split(/\r?\n/);
  const invalid = (at: number, fault: string) =>
    new CodedError('GOLDEN_INVALID', `${name}, line ${at + 1}: ${fault}`);
  if (lines[0] !== HEADER) {
    throw invalid(0, `expected the columns ${HEADER}, found ${describeValue(lines[0])}`);
  }
  const [stimulated, silenced] = [new Set<number>(), new Set<number>()];
  const firstKickAt = new Map<number, number>();
  const events: number[] = [];
  const spikes: number[] = [];
  lines.forEach((line, at) => {
    if (at === 0 || line === '') return;
    const [event, step = '', id = ''] = line.split(',');
    const neuron = indexById.get(id);
    if (neuron === undefined) throw invalid(at, `neuron ${describeValue(id)} is not in this connectome`);
    if (event === 'stimulated' || event === 'silenced') {
      (event === 'stimulated' ? stimulated : silenced).add(neuron);
    } else if (event === 'kick' || event === 'spike') {
      if (!/^\d{1,5}$/.test(step) || Number(step) >= MAXIMUM_TRIAL_STEPS) {
        throw invalid(
          at,
          `expected a step from 0 to ${MAXIMUM_TRIAL_STEPS - 1}, found ${describeValue(step)}`,
        );
      }
      (event === 'kick' ? events : spikes).push(Number(step) * STEP_STRIDE + neuron);
      if (event === 'kick' && !firstKickAt.has(neuron)) firstKickAt.set(neuron, at);
    } else {
      throw invalid(at, `expected stimulated, silenced, kick or spike, found ${describeValue(event)}`);
    }
  });
  for (const [neuron, at] of firstKickAt) {
    if (!stimulated.has(neuron)) {
      throw invalid(at, 'expected a kick of a neuron that a line "stimulated" names, found one of another');
    }
  }
  if (spikes.length === 0) {
    throw new CodedError('GOLDEN_INVALID', `${name}: expected spikes to compare with, found none`);
  }
  const inputEvents = toRaster(events);
  const spikeRaster = toRaster(spikes);
  const last = Math.max(inputEvents.steps.at(-1) ?? 0, spikeRaster.steps.at(-1)!);
  return {
    events: { stimulated: Uint32Array.from(stimulated).sort(), ...inputEvents },
    silenced: Uint32Array.from(silenced).sort(),
    spikes: spikeRaster,
    durationSteps: last + 1,
  };
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
