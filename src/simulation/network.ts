/**
 * The network model: leaky integrate-and-fire neurons with an exponential synapse, after
 * Shiu et al. 2024 (doi:10.1038/s41586-024-07763-9). Every constant of it stands here and nowhere else; what
 * /api/v1/model publishes is this table.
 */
import { STEPS_PER_MS } from '../experiment/protocol.js';

const SHIU = 'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9';

export const NETWORK = {
  stepMs: {
    value: 1 / STEPS_PER_MS,
    unit: 'ms',
    meaning: 'time step; integration within it is exact',
    source: SHIU,
  },
  tauMembraneMs: { value: 20, unit: 'ms', meaning: 'membrane time constant', source: SHIU },
  tauSynapseMs: { value: 5, unit: 'ms', meaning: 'decay of the synaptic drive g', source: SHIU },
  restMv: { value: -52, unit: 'mV', meaning: 'resting potential', source: SHIU },
  resetMv: { value: -52, unit: 'mV', meaning: 'potential after a spike; g becomes 0 as well', source: SHIU },
  thresholdMv: {
    value: -45,
    unit: 'mV',
    meaning: 'a neuron spikes when v is above it, strictly',
    source: SHIU,
  },
  refractorySteps: {
    value: 22,
    unit: 'steps',
    meaning: 'refractory period, 2.2 ms; 0 for stimulated neurons',
    source: SHIU,
  },
  delaySteps: {
    value: 18,
    unit: 'steps',
    meaning: 'from a spike to its arrival, 1.8 ms, for every connection',
    source: SHIU,
  },
  synapseMv: { value: 0.275, unit: 'mV', meaning: 'added to g by one synapse', source: SHIU },
  inputEventMv: {
    value: 68.75,
    unit: 'mV',
    meaning: 'added to v of a stimulated neuron by one input event: 250 synapses',
    source: SHIU,
  },
} as const;

export { STEPS_PER_MS };
export const DELAY_STEPS = NETWORK.delaySteps.value;
export const REFRACTORY_STEPS = NETWORK.refractorySteps.value;
export const SYNAPSE_MV = NETWORK.synapseMv.value;
export const INPUT_EVENT_MV = NETWORK.inputEventMv.value;
/** Potentials are kept relative to rest: 0 is -52 mV, the threshold is 7 mV. */
export const THRESHOLD_ABOVE_REST_MV = NETWORK.thresholdMv.value - NETWORK.restMv.value;

/**
 * What one step leaves of v and of g: exp(-0.1 / 20) and exp(-0.1 / 5), as literals, because a platform's
 * exp may differ in the last bit and the spikes of a run must not.
 */
export const MEMBRANE_DECAY = 0.9950124791926823;
export const SYNAPSE_DECAY = 0.9801986733067553;
/** The share of g that appears in v: tauSynapse / (tauMembrane - tauSynapse). */
export const SYNAPSE_TO_MEMBRANE = 1 / 3;

/** The longest run of version 1; a trial may last MAXIMUM_TRIAL_STEPS. */
export const MAXIMUM_STEPS = 200 * STEPS_PER_MS;
