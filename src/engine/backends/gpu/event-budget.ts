import type { Wiring } from '../../../connectome/connectome.js';
import { DELAY_STEPS } from '../../network.js';
import type { SimulationOptions, SpikeRaster, Trial } from '../../simulation.js';

/**
 * Counts the synaptic events of a trial from its spikes, which are all that they depend on, and ends the trial where
 * the CPU engines end it: after the first step with more events in all than the budget.
 * @param raster with all spikes of the first `durationSteps` steps, and no others
 */
export function withDeliveredEvents(
  raster: SpikeRaster,
  { rowStart, neuronCount }: Pick<Wiring, 'rowStart' | 'neuronCount'>,
  { durationSteps, eventBudget = Infinity, silenced = new Uint32Array(0) }: SimulationOptions,
): Trial {
  const { steps, neurons } = raster;
  const isSilenced = new Uint8Array(neuronCount);
  for (const neuron of silenced) isSilenced[neuron] = 1;
  let deliveredEvents = 0;
  for (let spike = 0; spike < steps.length; spike++) {
    const step = steps[spike]! + DELAY_STEPS;
    if (step >= durationSteps) break;
    const neuron = neurons[spike]!;
    if (isSilenced[neuron] === 0) deliveredEvents += rowStart[neuron + 1]! - rowStart[neuron]!;
    const isLastOfStep = steps[spike + 1] !== steps[spike];
    if (isLastOfStep && deliveredEvents > eventBudget) {
      const end = firstAfter(steps, step);
      return {
        steps: steps.slice(0, end),
        neurons: neurons.slice(0, end),
        deliveredEvents,
        stoppedAtStep: step,
      };
    }
  }
  return { ...raster, deliveredEvents };
}

/** The first spike behind a step. */
function firstAfter(steps: Uint16Array, step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! <= step) low = middle + 1;
    else high = middle;
  }
  return low;
}
