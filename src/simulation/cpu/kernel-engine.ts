/** The CPU backend: carries things in and out of the memory of the kernel; kernel.ts says what is computed, and why. */
import {
  MAXIMUM_NEURONS,
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  TARGET_BITS,
  type Wiring,
} from '../../connectome/connectome.js';
import type { InputEvents } from '../../stimulus/input-events.js';
import { MAXIMUM_TRIAL_STEPS } from '../../stimulus/protocol.js';
import {
  DELAY_STEPS,
  INPUT_EVENT_MV,
  MEMBRANE_DECAY,
  NETWORK,
  REFRACTORY_STEPS,
  SYNAPSE_DECAY,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
  THRESHOLD_ABOVE_REST_MV,
} from '../network.js';
import { checkDuration, type SimulationEngine, type SimulationOptions, type Trial } from '../simulation.js';

/** Exports of kernel.ts. A section is the address of its first byte. */
interface Kernel extends Readonly<
  Record<
    'connections' | 'rows' | 'eventSteps' | 'eventNeurons' | 'rasterSteps' | 'rasterNeurons',
    WebAssembly.Global
  >
> {
  readonly memory: WebAssembly.Memory;
  readonly deliveredEvents: WebAssembly.Global;
  readonly stepCount: WebAssembly.Global;
  setConstants(thresholdMv: number, delaySteps: number, refractorySteps: number): void;
  setFactors(membraneDecay: number, synapseDecay: number, ...more: readonly number[]): void;
  layOutNetwork(neurons: number, words: number, wordsOfLongestRow: number, longestTrialSteps: number): void;
  layOutTrial(stepCount: number, eventCount: number): void;
  simulate(durationSteps: number, eventCount: number, eventBudget: number): number;
}

/** See Pair in kernel/memory.ts: a target's address is its index times the 16 bytes of a neuron. */
const ADDRESS_SHIFT = 4;
const ADDRESS_BITS = TARGET_BITS + ADDRESS_SHIFT;
/** A connection of more synapses becomes several words, which add up to the same. */
const SYNAPSES_PER_WORD = 2 ** (31 - ADDRESS_BITS) - 1;
const WORD_BYTES = 4;
/** See Row in kernel/memory.ts. */
const ROW_WORDS = 4;
const ROW_END = 1;
const ROW_CONNECTION_COUNT = 2;
const ROW_MARKS = 3;
const EXCITATORY = 1;
const STIMULATED = 1 << 16;

const NO_NEURONS = new Uint32Array(0);

export class KernelEngine implements SimulationEngine {
  readonly #kernel: Kernel;

  /**
   * @param module dist/simulation/kernel/kernel.wasm, compiled; engines of several threads can share it
   * @param wiring is copied
   * @throws RangeError where the wiring does not fit
   */
  constructor(
    module: WebAssembly.Module,
    private readonly wiring: Wiring,
  ) {
    if (wiring.neuronCount > MAXIMUM_NEURONS) {
      throw new RangeError(`the kernel takes up to ${MAXIMUM_NEURONS} neurons, not ${wiring.neuronCount}`);
    }
    this.#kernel = new WebAssembly.Instance(module, { env: { abort: brokenInvariant } }).exports as Kernel;
    this.#kernel.setConstants(THRESHOLD_ABOVE_REST_MV, DELAY_STEPS, REFRACTORY_STEPS);
    this.#kernel.setFactors(
      MEMBRANE_DECAY,
      SYNAPSE_DECAY,
      NETWORK.stepMs.value / NETWORK.tauMembraneMs.value,
      NETWORK.stepMs.value / NETWORK.tauSynapseMs.value,
      SYNAPSE_MV * SYNAPSE_TO_MEMBRANE,
      INPUT_EVENT_MV,
      THRESHOLD_ABOVE_REST_MV,
    );
    this.#writeWiring();
  }

  simulate(
    { stimulated, steps, neurons }: InputEvents,
    { durationSteps, silenced = NO_NEURONS, eventBudget = Infinity }: SimulationOptions,
  ): Trial {
    checkDuration(durationSteps);
    const kernel = this.#kernel;
    kernel.layOutTrial(durationSteps, steps.length);
    this.#view(Uint16Array, kernel.eventSteps, steps.length).set(steps);
    this.#view(Uint32Array, kernel.eventNeurons, steps.length).set(neurons);
    const rows = this.#rows();
    for (const i of stimulated) rows[ROW_WORDS * i + ROW_MARKS]! |= STIMULATED;
    for (const i of silenced) silence(rows, i);
    try {
      const spikeCount = kernel.simulate(durationSteps, steps.length, eventBudget);
      const deliveredEvents = kernel.deliveredEvents.value;
      return {
        steps: this.#view(Uint16Array, kernel.rasterSteps, spikeCount),
        neurons: this.#view(Uint32Array, kernel.rasterNeurons, spikeCount),
        deliveredEvents,
        ...(deliveredEvents > eventBudget && { stoppedAtStep: kernel.stepCount.value - 1 }),
      };
    } finally {
      const after = this.#rows();
      for (const i of stimulated) after[ROW_WORDS * i + ROW_MARKS]! &= ~STIMULATED;
      for (const i of silenced) this.#restore(after, i);
    }
  }

  #rows(): Uint32Array {
    return this.#view(Uint32Array, this.#kernel.rows, ROW_WORDS * (this.wiring.neuronCount + 1));
  }

  #restore(rows: Uint32Array, neuron: number): void {
    const { rowStart } = this.wiring;
    // A row ends where the next one begins.
    rows[ROW_WORDS * neuron + ROW_END] = rows[ROW_WORDS * (neuron + 1)]!;
    rows[ROW_WORDS * neuron + ROW_CONNECTION_COUNT] = rowStart[neuron + 1]! - rowStart[neuron]!;
  }

  #writeWiring(): void {
    const { neuronCount, rowStart, targets, synapseCounts, signs } = this.wiring;
    const [wordCount, wordsOfLongestRow] = countWords(this.wiring);
    this.#kernel.layOutNetwork(neuronCount, wordCount, wordsOfLongestRow, MAXIMUM_TRIAL_STEPS);
    const rows = this.#rows();
    const words = this.#view(Int32Array, this.#kernel.connections, wordCount);
    const addressOf = (word: number): number => this.#kernel.connections.value + WORD_BYTES * word;
    let end = 0;
    for (let i = 0; i < neuronCount; i++) {
      const sign = signs[i]!;
      rows[ROW_WORDS * i] = addressOf(end);
      for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
        for (let rest = synapseCounts[c]!; rest > 0; rest -= SYNAPSES_PER_WORD) {
          const synapses = sign * Math.min(rest, SYNAPSES_PER_WORD);
          words[end++] = (synapses << ADDRESS_BITS) | (targets[c]! << ADDRESS_SHIFT);
        }
      }
      if (end % 2 !== 0) words[end++] = neuronCount << ADDRESS_SHIFT;
      rows[ROW_WORDS * i + ROW_MARKS] = sign > 0 ? EXCITATORY : 0;
    }
    rows[ROW_WORDS * neuronCount] = addressOf(end);
    for (let i = 0; i < neuronCount; i++) this.#restore(rows, i);
  }

  /** Memory that grows detaches its buffer, so a view lives until the kernel is called again. */
  #view<T>(
    TypedArray: new (buffer: ArrayBuffer, byteOffset: number, length: number) => T,
    section: WebAssembly.Global,
    length: number,
  ): T {
    return new TypedArray(this.#kernel.memory.buffer, section.value, length);
  }
}

/** A silenced neuron has an empty row. */
function silence(rows: Uint32Array, neuron: number): void {
  rows[ROW_WORDS * neuron + ROW_END] = rows[ROW_WORDS * neuron]!;
  rows[ROW_WORDS * neuron + ROW_CONNECTION_COUNT] = 0;
}

/**
 * Words of all connections; each row has an even number of them.
 * @throws RangeError for a connection of more synapses than a connectome may have
 */
function countWords({ neuronCount, rowStart, synapseCounts }: Wiring): [total: number, ofLongestRow: number] {
  let count = 0;
  let longest = 0;
  for (let i = 0; i < neuronCount; i++) {
    const before = count;
    for (let c = rowStart[i]!; c < rowStart[i + 1]!; c++) {
      const synapses = synapseCounts[c]!;
      if (synapses > MAXIMUM_SYNAPSES_PER_CONNECTION) {
        throw new RangeError(
          `the kernel takes up to ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses a connection, not ${synapses}`,
        );
      }
      count += Math.ceil(synapses / SYNAPSES_PER_WORD);
    }
    count += count % 2;
    longest = Math.max(longest, count - before);
  }
  return [count, longest];
}

function brokenInvariant(): never {
  throw new Error('the kernel failed an internal check');
}
