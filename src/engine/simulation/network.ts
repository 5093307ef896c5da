/**
 * The network model: leaky integrate-and-fire neurons with an exponential synapse, after
 * Shiu et al. 2024 (doi:10.1038/s41586-024-07763-9). Its constants are defined only here, and /api/v1/model publishes
 * this table.
 */
import { type NetworkConstants, STEPS_PER_MS } from '../stimulus/protocol.js';

const SHIU = 'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9';

function constant<const V extends number>(value: V, unit: string, meaning: string) {
  return { value, unit, meaning, source: SHIU } as const;
}

export const NETWORK = {
  stepMs: constant(1 / STEPS_PER_MS, 'ms', 'time step; integration within it is exact'),
  tauMembraneMs: constant(20, 'ms', 'membrane time constant'),
  tauSynapseMs: constant(5, 'ms', 'decay of the synaptic drive g'),
  restMv: constant(-52, 'mV', 'resting potential'),
  resetMv: constant(-52, 'mV', 'potential after a spike; g becomes 0 as well'),
  thresholdMv: constant(-45, 'mV', 'a neuron spikes when v is above it, strictly'),
  refractorySteps: constant(22, 'steps', 'refractory period, 2.2 ms; 0 for stimulated neurons'),
  delaySteps: constant(18, 'steps', 'from a spike to its arrival, 1.8 ms, for every connection'),
  synapseMv: constant(0.275, 'mV', 'added to g by one synapse'),
  inputEventMv: constant(68.75, 'mV', 'added to v of a stimulated neuron by one input event: 250 synapses'),
} as const;

export { STEPS_PER_MS };
export const DELAY_STEPS = NETWORK.delaySteps.value;
export const REFRACTORY_STEPS = NETWORK.refractorySteps.value;
export const SYNAPSE_MV = NETWORK.synapseMv.value;
export const INPUT_EVENT_MV = NETWORK.inputEventMv.value;
/** The defaults of the constants that a trial may change. */
export const DEFAULT_CONSTANTS: NetworkConstants = {
  synapseMv: SYNAPSE_MV,
  excitatoryScale: 1,
  inhibitoryScale: 1,
  thresholdMv: NETWORK.thresholdMv.value,
  refractorySteps: REFRACTORY_STEPS,
  delaySteps: DELAY_STEPS,
  inputEventMv: INPUT_EVENT_MV,
};
/** Engines store potentials relative to rest: 0 is -52 mV, and the threshold is 7 mV. */
export const THRESHOLD_ABOVE_REST_MV = NETWORK.thresholdMv.value - NETWORK.restMv.value;

/**
 * The share of v and of g that remains after a step: exp(-0.1 / 20) and exp(-0.1 / 5). They are literals, because exp
 * may differ in the last bit between platforms, and spikes must not differ.
 */
export const MEMBRANE_DECAY = 0.9950124791926823;
export const SYNAPSE_DECAY = 0.9801986733067553;
/** The share of g that appears in v: tauSynapse / (tauMembrane - tauSynapse). */
export const SYNAPSE_TO_MEMBRANE = 1 / 3;
