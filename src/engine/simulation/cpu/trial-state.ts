/**
 * The state of a trial between two segments. It is in shared memory, and any engine of the same network can continue
 * it. A segment is a stretch of steps that one call of KernelEngine.advance simulates. Equal trials have equal bytes,
 * however they were cut and on whatever thread they ran; tests compare them.
 */
import { CodedError } from '../../errors.js';
import { viewOf } from '../../instantiated.js';
import type { StateMemory } from '../simulation.js';
import { fixedBytesOf, HEAD_BYTES, maxBytes, STEP_SPIKES_WORDS } from './state-bytes.js';
import { type Kernel, REGISTERS } from './kernel-exports.js';

/** See Neuron, StepSpikes, Spike and Entry in kernel/memory.ts. */
const NEURON_DOUBLES = 2;
const SPIKE_WORDS = 2;

/** A state begins with doubles: the next step, the lengths of two lists, and the registers. */
const FIRST_REGISTER = 3;
const HEAD_LENGTH = FIRST_REGISTER + REGISTERS.length;

/** The spikes of the last steps, which may not have arrived yet, or whose neurons may be refractory. */
interface SpikeHistory {
  /**
   * Three words for each step, as in StepSpikes: the index of its first spike, the index of its first inhibitory spike,
   * and the number of connections. A last entry has the first index of the next step.
   */
  readonly steps: Uint32Array;
  /** The address of the neuron of each spike. */
  readonly spikes: Uint32Array;
}

/** A trial that has begun, without the data in the kernel's memory. */
export interface LoadedTrial {
  /** The next step. */
  readonly step: number;
  readonly history: SpikeHistory;
}

export class TrialState {
  readonly #head: Float64Array;
  readonly #buffer: SharedArrayBuffer;
  readonly #begin: number;

  /**
   * @param historySteps the delay or the refractory period, whichever is longer
   * @param memory a state that another thread has written; by default a trial at rest before its first step
   */
  constructor(
    private readonly neuronCount: number,
    private readonly historySteps: number,
    readonly memory: StateMemory = newBuffer(neuronCount, historySteps),
  ) {
    const isPiece = ArrayBuffer.isView(memory);
    this.#buffer = isPiece ? memory.buffer : memory;
    this.#begin = isPiece ? memory.byteOffset : 0;
    this.#head = new Float64Array(this.#buffer, this.#begin, HEAD_LENGTH);
  }

  /** The bytes in use. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#buffer, this.#begin, this.#lists().end - this.#begin);
  }

  /** Writes the state into a kernel. */
  load(kernel: Kernel): LoadedTrial {
    REGISTERS.forEach((name, at) => (kernel[name].value = this.#head[FIRST_REGISTER + at]!));
    const lists = this.#lists();
    viewOf(kernel, Uint32Array, 'reachedNeurons', lists.reached.length).set(lists.reached);
    viewOf(kernel, Float64Array, 'reachedStates', lists.uh.length).set(lists.uh);
    kernel.restoreReached(lists.reached.length);
    viewOf(kernel, Uint32Array, 'candidates', lists.candidates.length).set(lists.candidates);
    viewOf(kernel, Uint32Array, 'waitingNeurons', lists.waiting.length).set(lists.waiting);
    const history = { steps: lists.steps.slice(), spikes: lists.spikes.slice() };
    return { step: this.#head[0]!, history };
  }

  /** Reads the state from the kernel that has simulated the last segment. */
  save(kernel: Kernel, { step, history }: LoadedTrial): void {
    const registers = REGISTERS.map((name) => Number(kernel[name].value));
    this.#head.set([step, kernel.listReached(), history.spikes.length, ...registers]);
    const lists = this.#lists();
    lists.reached.set(viewOf(kernel, Uint32Array, 'reachedNeurons', lists.reached.length));
    lists.uh.set(viewOf(kernel, Float64Array, 'reachedStates', lists.uh.length));
    lists.steps.set(history.steps);
    lists.spikes.set(history.spikes);
    lists.candidates.set(viewOf(kernel, Uint32Array, 'candidates', lists.candidates.length));
    lists.waiting.set(viewOf(kernel, Uint32Array, 'waitingNeurons', lists.waiting.length));
  }

  /** The lists after the head, which has their lengths. Grows the memory if necessary. */
  #lists() {
    const [, reachedCount = 0, spikeCount = 0] = this.#head;
    const candidateCount = this.#head[headIndexOf('candidateCount')]!;
    const waitingCount = this.#head[headIndexOf('waitingCount')]!;
    const uhLength = NEURON_DOUBLES * reachedCount;
    const lengths = [
      reachedCount,
      STEP_SPIKES_WORDS * (this.historySteps + 1),
      spikeCount,
      candidateCount,
      waitingCount,
    ];
    const uhBegin = this.#begin + HEAD_BYTES;
    let end = uhBegin + Float64Array.BYTES_PER_ELEMENT * uhLength;
    this.#makeRoom(end - this.#begin + 4 * lengths.reduce((sum, length) => sum + length, 0));
    const uh = new Float64Array(this.#buffer, uhBegin, uhLength);
    const [reached, steps, spikes, candidates, waiting] = lengths.map((length) => {
      const list = new Uint32Array(this.#buffer, end, length);
      end += 4 * length;
      return list;
    }) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array];
    return { uh, reached, steps, spikes, candidates, waiting, end };
  }

  /** @throws CodedError SESSION_FULL if the memory cannot grow */
  #makeRoom(bytes: number): void {
    if (this.memory.byteLength >= bytes) return;
    if (ArrayBuffer.isView(this.memory)) {
      const what = `its state takes ${bytes} bytes, and ${this.memory.byteLength} were counted for it`;
      throw new CodedError('SESSION_FULL', `Too many neurons spike at once: ${what}.`);
    }
    this.#buffer.grow(bytes);
  }
}

/** The memory can grow up to the longest possible lists. */
function newBuffer(neuronCount: number, historySteps: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(fixedBytesOf(historySteps), {
    maxByteLength: maxBytes(neuronCount, historySteps),
  });
  const head = new Float64Array(buffer, 0, HEAD_LENGTH);
  for (const growth of ['growthOfU', 'growthOfH'] as const) head[headIndexOf(growth)] = 1;
  return buffer;
}

function headIndexOf(register: (typeof REGISTERS)[number]): number {
  return FIRST_REGISTER + REGISTERS.indexOf(register);
}

/** Reads the spikes that the next segment needs. Call it before the kernel writes the raster of this one. */
export function historyOf(kernel: Kernel, historySteps: number): SpikeHistory {
  const stepCount = kernel.stepCount.value as number;
  const steps = viewOf(kernel, Uint32Array, 'stepSpikes', STEP_SPIKES_WORDS * (stepCount + 1)).slice(
    STEP_SPIKES_WORDS * (stepCount - historySteps),
  );
  const first = steps[0]!;
  for (let at = 0; at < steps.length; at += STEP_SPIKES_WORDS) {
    steps[at]! -= first;
    steps[at + 1]! -= first;
  }
  // The counts of the next step are not known yet, only its first index.
  steps.fill(0, -2);
  const count = steps.at(-STEP_SPIKES_WORDS)!;
  const words = viewOf(kernel, Uint32Array, 'spikes', SPIKE_WORDS * (first + count));
  return {
    steps,
    spikes: Uint32Array.from({ length: count }, (_, at) => words[SPIKE_WORDS * (first + at)]!),
  };
}

/** Writes these spikes into the steps before a segment's first one. Call it after layOutTrial. */
export function writeHistory(kernel: Kernel, { steps, spikes }: SpikeHistory, firstStep: number): void {
  kernel.reserveSpikes(spikes.length + 1);
  const end = STEP_SPIKES_WORDS * (firstStep + 1);
  viewOf(kernel, Uint32Array, 'stepSpikes', end).set(steps, end - steps.length);
  const words = viewOf(kernel, Uint32Array, 'spikes', SPIKE_WORDS * spikes.length);
  spikes.forEach((address, at) => (words[SPIKE_WORDS * at] = address));
}
