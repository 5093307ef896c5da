/**
 * A trial between two parts: what the next part needs, in shared memory, bound to no engine. A part is a stretch of steps that
 * is simulated in one go (engine.advance). Equal trials have equal bytes, wherever they were cut and whoever computed their
 * parts, which tests compare.
 */
import { type Kernel, REGISTERS, viewOf } from './kernel-exports.js';

/** See Neuron, StepSpikes, Spike and Entry in kernel/memory.ts. */
const NEURON_DOUBLES = 2;
const STEP_SPIKES_WORDS = 3;
const SPIKE_WORDS = 2;

/** A state begins with doubles: the step that comes next, the lengths of two lists, and the registers. */
const FIRST_REGISTER = 3;
const HEAD_LENGTH = FIRST_REGISTER + REGISTERS.length;
/** More than HEAD_LENGTH doubles. */
const HEAD_BYTES = 128;

/** Spikes that may not have arrived yet, or whose neurons may be refractory: those of the last steps. */
interface SpikeHistory {
  /**
   * Three words a step, as in StepSpikes: where its spikes begin in the other list, where those of inhibitory neurons do,
   * and their connections. One entry more has the beginning of the next step.
   */
  readonly steps: Uint32Array;
  /** Addresses of the neurons. */
  readonly spikes: Uint32Array;
}

/** The rest of a trial that has begun, beside what is in the memory of the kernel. */
export interface OpenTrial {
  /** The step that comes next. */
  readonly step: number;
  readonly history: SpikeHistory;
}

export class TrialState {
  readonly #head: Float64Array;

  /**
   * @param historySteps the delay or the refractory period, whichever is longer
   * @param buffer another thread's state; a new one is a trial at rest, of which no step was simulated
   */
  constructor(
    private readonly neuronCount: number,
    private readonly historySteps: number,
    readonly buffer: SharedArrayBuffer = newBuffer(neuronCount, historySteps),
  ) {
    this.#head = new Float64Array(buffer, 0, HEAD_LENGTH);
  }

  /** The step that comes next. */
  get step(): number {
    return this.#head[0]!;
  }

  /** Bytes in use. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.buffer, 0, this.#lists().end);
  }

  /** Writes it into a kernel. */
  load(kernel: Kernel): OpenTrial {
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

  /** Takes it from the kernel that has simulated the last part. */
  save(kernel: Kernel, { step, history }: OpenTrial): void {
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

  /** Lists behind the head, as long as it says. */
  #lists() {
    const [, reachedCount = 0, spikeCount = 0] = this.#head;
    const candidateCount = this.#head[placeOf('candidateCount')]!;
    const waitingCount = this.#head[placeOf('waitingCount')]!;
    const uhLength = NEURON_DOUBLES * reachedCount;
    const lengths = [
      reachedCount,
      STEP_SPIKES_WORDS * (this.historySteps + 1),
      spikeCount,
      candidateCount,
      waitingCount,
    ];
    let end = HEAD_BYTES + Float64Array.BYTES_PER_ELEMENT * uhLength;
    const bytes = 4 * lengths.reduce((sum, length) => sum + length, 0);
    if (this.buffer.byteLength < end + bytes) this.buffer.grow(end + bytes);
    const uh = new Float64Array(this.buffer, HEAD_BYTES, uhLength);
    const [reached, steps, spikes, candidates, waiting] = lengths.map((length) => {
      const list = new Uint32Array(this.buffer, end, length);
      end += 4 * length;
      return list;
    }) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array];
    return { uh, reached, steps, spikes, candidates, waiting, end };
  }
}

/** Memory grows with what is written, up to whatever the lists can hold. */
function newBuffer(neuronCount: number, historySteps: number): SharedArrayBuffer {
  const fixedBytes = HEAD_BYTES + 4 * STEP_SPIKES_WORDS * (historySteps + 1);
  // Words of a neuron: u and h, one in the list, up to three as a candidate, one waiting, and spikes in every other step.
  const entries = neuronCount * (4 + 1 + 3 + 1 + Math.ceil((historySteps + 1) / 2));
  const buffer = new SharedArrayBuffer(fixedBytes, { maxByteLength: fixedBytes + 4 * entries });
  const head = new Float64Array(buffer, 0, HEAD_LENGTH);
  for (const growth of ['growthOfU', 'growthOfH'] as const) head[placeOf(growth)] = 1;
  return buffer;
}

function placeOf(register: (typeof REGISTERS)[number]): number {
  return FIRST_REGISTER + REGISTERS.indexOf(register);
}

/** Reads the spikes that the next part needs, before the raster of this one is made. */
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
  // Only the beginning of the next step is known.
  steps.fill(0, -2);
  const count = steps.at(-STEP_SPIKES_WORDS)!;
  const words = viewOf(kernel, Uint32Array, 'spikes', SPIKE_WORDS * (first + count));
  return {
    steps,
    spikes: Uint32Array.from({ length: count }, (_, at) => words[SPIKE_WORDS * (first + at)]!),
  };
}

/** Writes these spikes before the first step of a part that was laid out. */
export function writeHistory(kernel: Kernel, { steps, spikes }: SpikeHistory, firstStep: number): void {
  kernel.reserveSpikes(spikes.length + 1);
  const end = STEP_SPIKES_WORDS * (firstStep + 1);
  viewOf(kernel, Uint32Array, 'stepSpikes', end).set(steps, end - steps.length);
  const words = viewOf(kernel, Uint32Array, 'spikes', SPIKE_WORDS * spikes.length);
  spikes.forEach((address, at) => (words[SPIKE_WORDS * at] = address));
}
