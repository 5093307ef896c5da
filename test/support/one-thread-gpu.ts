import type { Wiring } from '../../src/engine/connectome/connectome.js';
import { simulateInParts } from '../../src/engine/simulation/gpu/batch-parts.js';
import {
  outDegreesOf,
  resultsOf,
  type BatchLists,
  type GpuResult,
} from '../../src/engine/simulation/gpu/batch-results.js';
import { batchTables, type GpuTrial } from '../../src/engine/simulation/gpu/batch-tables.js';
import { GpuEngine, type GpuEngineOptions } from '../../src/engine/simulation/gpu/gpu-engine.js';
import { FREE, STIMULATED } from '../../src/engine/simulation/gpu/kernels.js';
import { WINDOW_STEPS } from '../../src/engine/simulation/gpu/number-format.js';

/** A GPU engine that prepares and reads its batches itself. A service does so in other threads. */
export class OneThreadGpu extends GpuEngine {
  constructor(
    private readonly network: Wiring,
    options: GpuEngineOptions,
  ) {
    super(network, options);
  }

  /**
   * @param trials any number, of any durations; a batch takes as long as its longest trial
   * @returns the runs in the order of the trials; undefined for a trial that the adapter has no room for
   */
  simulateBatch(trials: readonly GpuTrial[]): Promise<(GpuResult | undefined)[]> {
    return simulateInParts(trials, this.room, {
      prepare: (batch) => batchTables(batch, this.room),
      simulate: (tables) => this.simulate(tables),
      read: (lists, batch) => this.#read(lists, batch),
    });
  }

  /** One batch with the state at its end. */
  async simulateWithStates(trials: readonly GpuTrial[]): Promise<{
    results: GpuResult[];
    /** Steps of the batch, in whole windows, after which the state was read. */
    stateSteps: number;
    stateFloats(trial: number, neuron: number): number[];
  }> {
    const { shape, result } = (await this.simulateWithState(batchTables(trials, this.room)!))!;
    return {
      results: this.#read(result.lists, trials),
      stateSteps: shape.windows * WINDOW_STEPS,
      stateFloats: (trial, neuron) => {
        const state = neuron * shape.width + trial;
        // A neuron without a state has nothing written.
        const hasState = statusHasState(result.statuses![state]!);
        return [0, 1, 2, 3].map((part) => (hasState ? result.states![statePartAt(state, part)]! + 0 : 0));
      },
    };
  }

  #read(lists: BatchLists, trials: readonly GpuTrial[]): GpuResult[] {
    return resultsOf(
      lists,
      trials.map(({ options }) => options),
      outDegreesOf(this.network),
    );
  }
}

/** Tells whether `states` has something for a neuron of this status. */
function statusHasState(status: number): boolean {
  const code = (Math.abs(status) >> WINDOW_STEPS) & 31;
  return code === FREE || code === STIMULATED;
}

/** @returns the index of a part of a state in `states`: eight states stand together, part by part */
function statePartAt(state: number, part: number): number {
  return (state - (state % 8)) * 4 + part * 8 + (state % 8);
}
