/**
 * What goes into a simulation and what comes out of it: the contract between the stimulus, the engines and
 * the readout.
 */

/** The events given to the stimulated neurons. */
export interface KickTrain {
  /** Every stimulated neuron, also those without a kick: their refractory period is 0. */
  readonly stimulated: Uint32Array;
  /** Step at whose end each kick is added to v, ascending. */
  readonly steps: Uint16Array;
  /** Its neuron, one of the stimulated; ascending within a step, no pair twice. */
  readonly neurons: Uint32Array;
}

/** Every spike of a run, ordered by step, then by neuron. */
export interface SpikeRaster {
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
}

/** Simulates one network again and again. Runs share no state: equal kicks give equal spikes. */
export interface SimulationEngine {
  /**
   * @param durationSteps steps of 0.1 ms, 1 to 2000
   * @returns arrays that belong to the caller
   */
  simulate(kicks: KickTrain, durationSteps: number): SpikeRaster;
}
