/** From trials to the tables that a pipeline takes. No GPU is needed: another thread may do it. */
import type { InputEvents } from '../../../experiment/input-events.js';
import { checkDuration, type SimulationOptions } from '../../simulation.js';
import { WINDOW_STEPS } from './number-format.js';
import { fits, inputRows, NO_NEURON, placesOf, type BatchRoom, type BatchShape } from './pipeline-shape.js';

export interface GpuTrial {
  readonly events: InputEvents;
  readonly options: SimulationOptions;
}

/** What a pipeline is given. */
export interface BatchTables {
  readonly shape: BatchShape;
  /** [experiment][place], ascending, padded with NO_NEURON */
  readonly silenced: Float32Array<ArrayBuffer>;
  /** [row][experiment][place], see `inputs` in kernels.ts */
  readonly inputs: Float32Array<ArrayBuffer>;
}

const FEWEST_PLACES = 16;
const FEWEST_SPIKES = 128;
/** Places for spikes beyond those that a batch needed, for the next one. All places are read back. */
const SPARE_SPIKES = 1.25;

/**
 * @param trials of any durations, no more than the largest width
 * @returns undefined when the adapter has no room for them side by side
 * @throws RangeError for a duration that is not 1 to MAXIMUM_TRIAL_STEPS
 */
export function batchTables(trials: readonly GpuTrial[], room: BatchRoom): BatchTables | undefined {
  for (const { options } of trials) checkDuration(options.durationSteps);
  const shape = shapeOf(trials, room.widths);
  if (!fits(room, { ...shape, spikes: placesForSpikes(0), withState: false })) return undefined;
  return {
    shape,
    silenced: silencedTable(trials, shape),
    inputs: inputTable(trials, shape, room.neuronCount),
  };
}

/**
 * @param mostSpikes of an experiment in a window, as far as known
 * @returns places for them in a pipeline; a batch with more of them runs again
 */
export function placesForSpikes(mostSpikes: number): number {
  return powerOfTwo(Math.max(FEWEST_SPIKES, SPARE_SPIKES * mostSpikes));
}

const powerOfTwo = (atLeast: number) => 2 ** Math.ceil(Math.log2(atLeast));
const placesFor = (count: number) => powerOfTwo(Math.max(FEWEST_PLACES, count));

function shapeOf(trials: readonly GpuTrial[], widths: readonly number[]): BatchShape {
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 1);
  return {
    width: widths.find((width) => width >= trials.length)!,
    windows: roundedWindows(
      Math.ceil(most(trials.map(({ options }) => options.durationSteps)) / WINDOW_STEPS),
    ),
    stimulated: placesFor(most(trials.map(({ events }) => events.stimulated.length))),
    silenced: placesFor(most(trials.map(({ options }) => options.silenced?.length ?? 0))),
    layers: powerOfTwo(most(trials.map(({ events }) => mostAtOnce(events)))),
  };
}

/** Up to a quarter more, so that few durations need a pipeline of their own. */
function roundedWindows(windows: number): number {
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(windows)) - 2);
  return Math.ceil(windows / unit) * unit;
}

/** How many events a neuron gets at most in one step. Equal events stand side by side. */
function mostAtOnce({ steps, neurons }: InputEvents): number {
  let most = 1;
  for (let at = 1, same = 1; at < steps.length; at++) {
    same = steps[at] === steps[at - 1] && neurons[at] === neurons[at - 1] ? same + 1 : 1;
    most = Math.max(most, same);
  }
  return most;
}

function ascending(neurons: Uint32Array): Uint32Array {
  return Uint32Array.from(new Set(neurons)).sort();
}

function silencedTable(trials: readonly GpuTrial[], { width, silenced: places }: BatchShape) {
  const table = new Float32Array(width * places).fill(NO_NEURON);
  trials.forEach(({ options }, experiment) =>
    table.set(ascending(options.silenced ?? new Uint32Array(0)), experiment * places),
  );
  return table;
}

function inputTable(trials: readonly GpuTrial[], shape: BatchShape, neuronCount: number) {
  const { stimulated: places, layers } = shape;
  const rowLength = placesOf(shape);
  const table = new Float32Array(rowLength * inputRows(shape));
  table.fill(NO_NEURON, 0, rowLength);
  // Of the neurons that the trial stimulates; what other trials have left here is not read.
  const placeOf = new Uint32Array(neuronCount);
  trials.forEach(({ events, options }, experiment) => {
    const { steps, neurons, stimulated } = events;
    const ordered = ascending(stimulated);
    table.set(ordered, experiment * places);
    ordered.forEach((neuron, place) => (placeOf[neuron] = place));
    let layer = 0;
    for (let k = 0; k < steps.length && steps[k]! < options.durationSteps; k++) {
      layer = steps[k] === steps[k - 1] && neurons[k] === neurons[k - 1] ? layer + 1 : 0;
      const row = 1 + Math.floor(steps[k]! / WINDOW_STEPS) * layers + layer;
      const at = row * rowLength + experiment * places + placeOf[neurons[k]!]!;
      table[at]! += 1 << (steps[k]! % WINDOW_STEPS);
    }
  });
  return table;
}
