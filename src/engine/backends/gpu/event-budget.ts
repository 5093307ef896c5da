import { firstNotBelow } from '../../../connectome/ascending.js';
import { DELAY_STEPS } from '../../network.js';
import type { SimulationOptions, SpikeRaster, Trial } from '../../simulation.js';

/**
 * Counts the synaptic events of a trial from its spikes, which are all that they depend on, and ends the trial where
 * the CPU engines end it: after the first step with more events in all than the budget.
 * @param raster with all spikes of the first `durationSteps` steps, and no others
 * @param outDegree of each neuron the number of its connections
 * @returns a trial whose arrays are views of the raster's
 */
export function withDeliveredEvents(
  raster: SpikeRaster,
  outDegree: Uint32Array,
  { durationSteps, eventBudget = Infinity, silenced = new Uint32Array(0) }: SimulationOptions,
): Trial {
  const { steps, neurons } = raster;
  const events = silenced.length === 0 ? outDegree : outDegree.slice();
  for (const neuron of silenced) events[neuron] = 0;
  const arriving = firstNotBelow(steps, durationSteps - DELAY_STEPS);
  let deliveredEvents = 0;
  for (let spike = 0; spike < arriving; spike++) {
    deliveredEvents += events[neurons[spike]!]!;
    const isLastOfStep = steps[spike + 1] !== steps[spike];
    if (isLastOfStep && deliveredEvents > eventBudget) {
      const step = steps[spike]! + DELAY_STEPS;
      const end = firstNotBelow(steps, step + 1);
      return {
        steps: steps.subarray(0, end),
        neurons: neurons.subarray(0, end),
        deliveredEvents,
        stoppedAtStep: step,
      };
    }
  }
  return { ...raster, deliveredEvents };
}
