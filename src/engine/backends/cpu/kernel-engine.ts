/**
 * The CPU backend: the kernel of engine/kernel, compiled to WebAssembly, behind the contract of the engines.
 * This file only carries things in and out of its memory; what is computed, and why it is right, is said there.
 */
import {
  MAXIMUM_NEURONS,
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  TARGET_BITS,
  type Wiring,
} from '../../../connectome/connectome.js';
import {
  DELAY_STEPS,
  KICK_MV,
  MAXIMUM_STEPS,
  MEMBRANE_DECAY,
  REFRACTORY_STEPS,
  SYNAPSE_DECAY,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
  THRESHOLD_ABOVE_REST_MV,
} from '../../network.js';
import type { KickTrain, SimulationEngine, SpikeRaster } from '../../simulation.js';

/** What kernel.ts exports. A section is the address of its first byte. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly connections: WebAssembly.Global;
  readonly rowStarts: WebAssembly.Global;
  readonly excites: WebAssembly.Global;
  readonly factors: WebAssembly.Global;
  readonly stimulated: WebAssembly.Global;
  readonly kickSteps: WebAssembly.Global;
  readonly kickNeurons: WebAssembly.Global;
  readonly rasterSteps: WebAssembly.Global;
  readonly rasterNeurons: WebAssembly.Global;
  setConstants(thresholdMv: number, delaySteps: number, refractorySteps: number): void;
  layOutNetwork(neuronCount: number, connectionCount: number, stepCount: number): void;
  layOutRun(kickCount: number): void;
  simulate(stepCount: number, kickCount: number): number;
}

/**
 * Keeps a neuron on the list of hot ones when rounding alone decides whether it belongs there: the line is
 * lowered by far more than the rounding errors of a run (some 1e-12), and by far less than would cost time.
 */
const HOT_MARGIN = 1e-9;

export class KernelEngine implements SimulationEngine {
  readonly #kernel: Kernel;

  /**
   * @param module dist/engine/kernel/kernel.wasm, compiled; engines of several threads can share it
   * @param wiring is copied
   * @throws RangeError where the wiring does not fit
   */
  constructor(
    module: WebAssembly.Module,
    private readonly wiring: Wiring,
  ) {
    this.#kernel = new WebAssembly.Instance(module, { env: { abort: brokenInvariant } }).exports as Kernel;
    this.#kernel.setConstants(THRESHOLD_ABOVE_REST_MV, DELAY_STEPS, REFRACTORY_STEPS);
    this.#kernel.layOutNetwork(wiring.neuronCount, wiring.connectionCount, MAXIMUM_STEPS);
    this.#writeWiring();
    this.#writeFactors();
  }

  simulate(kicks: KickTrain, durationSteps: number): SpikeRaster {
    if (!(Number.isInteger(durationSteps) && durationSteps >= 1 && durationSteps <= MAXIMUM_STEPS)) {
      throw new RangeError(`a run has 1 to ${MAXIMUM_STEPS} steps, not ${durationSteps}`);
    }
    const kernel = this.#kernel;
    const kickCount = kicks.steps.length;
    kernel.layOutRun(kickCount);
    this.#view(Uint16Array, kernel.kickSteps, kickCount).set(kicks.steps);
    this.#view(Uint32Array, kernel.kickNeurons, kickCount).set(kicks.neurons);
    this.#markStimulated(kicks, 1);
    try {
      const spikeCount = kernel.simulate(durationSteps, kickCount);
      return {
        steps: this.#view(Uint16Array, kernel.rasterSteps, spikeCount).slice(),
        neurons: this.#view(Uint32Array, kernel.rasterNeurons, spikeCount).slice(),
      };
    } finally {
      this.#markStimulated(kicks, 0);
    }
  }

  #markStimulated({ stimulated }: KickTrain, mark: 0 | 1): void {
    const marks = this.#view(Uint8Array, this.#kernel.stimulated, this.wiring.neuronCount);
    for (const i of stimulated) marks[i] = mark;
  }

  #writeWiring(): void {
    const { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs } = this.wiring;
    if (neuronCount > MAXIMUM_NEURONS) {
      throw new RangeError(`the kernel takes up to ${MAXIMUM_NEURONS} neurons, not ${neuronCount}`);
    }
    const { connections, rowStarts, excites } = this.#kernel;
    this.#view(Uint32Array, rowStarts, neuronCount + 1).set(rowStart);
    const excitatory = this.#view(Uint8Array, excites, neuronCount);
    const words = this.#view(Int32Array, connections, connectionCount);
    for (let i = 0; i < neuronCount; i++) {
      const sign = signs[i]!;
      excitatory[i] = sign > 0 ? 1 : 0;
      for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
        const synapses = synapseCounts[c]!;
        if (synapses > MAXIMUM_SYNAPSES_PER_CONNECTION) {
          throw new RangeError(
            `the kernel takes up to ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses a connection, not ${synapses}`,
          );
        }
        words[c] = ((sign * synapses) << TARGET_BITS) | targets[c]!;
      }
    }
  }

  /** See StepFactors in engine/kernel/memory.ts. Growth by divisions in this order: the same bits everywhere. */
  #writeFactors(): void {
    const hotMv =
      ((THRESHOLD_ABOVE_REST_MV * (1 - SYNAPSE_DECAY)) / (MEMBRANE_DECAY - SYNAPSE_DECAY)) * (1 - HOT_MARGIN);
    const synapseMv = SYNAPSE_MV * SYNAPSE_TO_MEMBRANE;
    const factorsOfStep = 6;
    const factors = this.#view(Float64Array, this.#kernel.factors, factorsOfStep * MAXIMUM_STEPS);
    let membraneGrowth = 1;
    let synapseGrowth = 1;
    for (let step = 0; step < MAXIMUM_STEPS; step++) {
      factors.set(
        [
          synapseMv * membraneGrowth,
          synapseMv * synapseGrowth,
          1 / membraneGrowth,
          1 / synapseGrowth,
          KICK_MV * membraneGrowth,
          hotMv * membraneGrowth,
        ],
        factorsOfStep * step,
      );
      membraneGrowth /= MEMBRANE_DECAY;
      synapseGrowth /= SYNAPSE_DECAY;
    }
  }

  /** Growing memory detaches its buffer, so a view lives no longer than the call that makes it. */
  #view<T>(
    TypedArray: new (buffer: ArrayBuffer, byteOffset: number, length: number) => T,
    section: WebAssembly.Global,
    length: number,
  ): T {
    return new TypedArray(this.#kernel.memory.buffer, section.value, length);
  }
}

function brokenInvariant(): never {
  throw new Error('the kernel broke one of its own rules');
}
