/** From what a pipeline reads back to trials with their certificates. No GPU is needed: another thread may do it. */
import type { Wiring } from '../../../connectome/connectome.js';
import type { SimulationOptions, Trial } from '../../simulation.js';
import { withDeliveredEvents } from './event-budget.js';
import { rastersOf, type BatchLists } from './spike-lists.js';

export interface GpuRun {
  readonly trial: Trial;
  /** True when the trial is the one that the CPU engines compute. */
  readonly certified: boolean;
}

/** Of each neuron the number of its connections. */
export function outDegreesOf({ neuronCount, rowStart }: Wiring): Uint32Array {
  return Uint32Array.from({ length: neuronCount }, (_, i) => rowStart[i + 1]! - rowStart[i]!);
}

/**
 * @param trials the options of each, in the order of the batch
 * @returns runs whose arrays are views of two buffers that all of them share
 * @throws CodedError GPU_FAILED as rastersOf
 */
export function runsOf(
  lists: BatchLists,
  trials: readonly SimulationOptions[],
  outDegree: Uint32Array,
): GpuRun[] {
  const { sound, width } = lists;
  const durations = trials.map(({ durationSteps }) => durationSteps);
  return rastersOf(lists, durations).map((raster, experiment) => {
    // Counted and not taken for granted: nobody's zeros may pass for a trial without a flag.
    let soundNeurons = 0;
    for (let at = experiment; at < sound.length; at += width) soundNeurons += sound[at]!;
    return {
      trial: withDeliveredEvents(raster, outDegree, trials[experiment]!),
      certified: soundNeurons === outDegree.length,
    };
  });
}
