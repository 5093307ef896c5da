/** Turns trials into the tables that a pipeline takes. This needs no GPU, so another thread may do it. */
import type { InputEvents } from '../../stimulus/input-events.js';
import { checkDuration, type SimulationOptions } from '../simulation.js';
import { WINDOW_STEPS } from './number-format.js';
import { fits, inputRows, NO_NEURON, slotsOf, type BatchRoom, type BatchShape } from './pipeline-shape.js';

export interface GpuTrial {
  readonly events: InputEvents;
  readonly options: SimulationOptions;
}

/** The arguments of a pipeline. */
export interface BatchTables {
  readonly shape: BatchShape;
  /** [trial][slot], ascending, padded with NO_NEURON */
  readonly silenced: Float32Array<ArrayBuffer>;
  /** [row][trial][slot]; see `inputs` in kernels.ts */
  readonly inputs: Float32Array<ArrayBuffer>;
}

const MIN_SLOTS = 16;
const MIN_SPIKE_SLOTS = 128;
/** The next batch gets this many times the slots that the last one needed. No more, because all slots are read back. */
const SPARE_SPIKES = 1.25;

/**
 * @param trials of any durations, at most as many as the largest width
 * @returns undefined if the adapter has no room for them side by side
 * @throws RangeError if a duration is not 1 to MAX_WHOLE_TRIAL_STEPS
 */
export function batchTables(trials: readonly GpuTrial[], room: BatchRoom): BatchTables | undefined {
  for (const { options } of trials) checkDuration(options.durationSteps);
  const shape = shapeOf(trials, room.widths);
  if (!fits(room, { ...shape, spikes: spikeSlots(0), withState: false })) return undefined;
  return {
    shape,
    silenced: silencedTable(trials, shape),
    inputs: inputTable(trials, shape, room.neuronCount),
  };
}

/**
 * @param maxSpikes the highest known number of spikes of a trial in a window
 * @returns the number of slots for spikes in a pipeline. A batch with more spikes runs again
 */
export function spikeSlots(maxSpikes: number): number {
  return powerOfTwo(Math.max(MIN_SPIKE_SLOTS, SPARE_SPIKES * maxSpikes));
}

/** Powers of two keep the number of sizes low: gpu.js compiles a plan again if the size of an array changes. */
const powerOfTwo = (atLeast: number) => 2 ** Math.ceil(Math.log2(atLeast));
const slotsFor = (count: number) => powerOfTwo(Math.max(MIN_SLOTS, count));

function shapeOf(trials: readonly GpuTrial[], widths: readonly number[]): BatchShape {
  const max = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 1);
  return {
    width: widths.find((width) => width >= trials.length)!,
    windows: roundedWindows(
      Math.ceil(max(trials.map(({ options }) => options.durationSteps)) / WINDOW_STEPS),
    ),
    stimulated: slotsFor(max(trials.map(({ events }) => events.stimulated.length))),
    silenced: slotsFor(max(trials.map(({ options }) => options.silenced?.length ?? 0))),
    layers: powerOfTwo(max(trials.map(({ events }) => maxAtOnce(events)))),
  };
}

/** Rounds up by at most a quarter, so that many durations share a pipeline. */
function roundedWindows(windows: number): number {
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(windows)) - 2);
  return Math.ceil(windows / unit) * unit;
}

/** @returns the highest number of events of a neuron in one step. Equal events are adjacent */
function maxAtOnce({ steps, neurons }: InputEvents): number {
  let max = 1;
  for (let at = 1, same = 1; at < steps.length; at++) {
    same = steps[at] === steps[at - 1] && neurons[at] === neurons[at - 1] ? same + 1 : 1;
    max = Math.max(max, same);
  }
  return max;
}

function sortedSet(neurons: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(neurons)).sort();
}

function silencedTable(trials: readonly GpuTrial[], { width, silenced: slots }: BatchShape) {
  const table = new Float32Array(width * slots).fill(NO_NEURON);
  trials.forEach(({ options }, trial) =>
    table.set(sortedSet(options.silenced ?? new Uint32Array(0)), trial * slots),
  );
  return table;
}

/** Row 0 has the stimulated neurons, the others bits of steps with an event: see `inputs` in kernels.ts. */
function inputTable(trials: readonly GpuTrial[], shape: BatchShape, neuronCount: number) {
  const { stimulated: slots, layers } = shape;
  const rowLength = slotsOf(shape);
  const table = new Float32Array(rowLength * inputRows(shape));
  table.fill(NO_NEURON, 0, rowLength);
  // Valid only for the neurons that the present trial stimulates.
  const slotOf = new Uint32Array(neuronCount);
  trials.forEach(({ events, options }, trial) => {
    const { steps, neurons, stimulated } = events;
    const ordered = sortedSet(stimulated);
    table.set(ordered, trial * slots);
    ordered.forEach((neuron, slot) => (slotOf[neuron] = slot));
    let layer = 0;
    for (let k = 0; k < steps.length && steps[k]! < options.durationSteps; k++) {
      layer = steps[k] === steps[k - 1] && neurons[k] === neurons[k - 1] ? layer + 1 : 0;
      const row = 1 + Math.floor(steps[k]! / WINDOW_STEPS) * layers + layer;
      const at = row * rowLength + trial * slots + slotOf[neurons[k]!]!;
      table[at]! += 1 << (steps[k]! % WINDOW_STEPS);
    }
  });
  return table;
}
