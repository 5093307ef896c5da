import { viewOf } from '../../instantiated.js';
import { type MembraneRecording, sampledSteps } from '../simulation.js';
import { ADDRESS_SHIFT, type Kernel } from './kernel-exports.js';

/**
 * The kernel's room for potentials, all recordings together. It is small, so they stay in a cache until they are
 * copied.
 */
const POTENTIALS_IN_KERNEL = 16_384;

/** The state of a recording during a trial. */
interface RecordingState {
  readonly recording: MembraneRecording;
  /** The position of its first neuron among all recorded neurons. */
  readonly firstNeuron: number;
  /** The index of its first potential in the kernel. */
  readonly firstPotential: number;
  /** The number of samples that the kernel has room for. */
  readonly room: number;
  readonly steps: Uint32Array;
  readonly potentials: Float64Array;
  /** The number of samples that the kernel has taken. */
  taken: number;
  /** The number of samples that were copied from the kernel. */
  copied: number;
}

/** Takes the samples of all recordings of one trial from the kernel. */
export class Recorder {
  readonly neuronCount: number;
  /** The number of potentials that the kernel needs room for. */
  readonly sampleCount: number;
  readonly #states: readonly RecordingState[];
  /** The next step at whose end a sample is due; Infinity after the last sample. */
  nextStep = Infinity;

  /** @param endStep the step after the trial or segment, which begins with startStep */
  constructor(
    private readonly kernel: Kernel,
    recordings: readonly MembraneRecording[],
    startStep: number,
    endStep: number,
  ) {
    let firstNeuron = 0;
    let firstPotential = 0;
    this.#states = recordings.map((recording) => {
      const { length } = recording.neurons;
      const steps = sampledSteps(recording, endStep, startStep);
      const room = Math.max(1, Math.floor(POTENTIALS_IN_KERNEL / recordings.length / Math.max(1, length)));
      const potentials = new Float64Array(length * steps.length);
      const state = { recording, firstNeuron, firstPotential, room, steps, potentials, taken: 0, copied: 0 };
      firstNeuron += length;
      firstPotential += length * room;
      return state;
    });
    this.neuronCount = firstNeuron;
    this.sampleCount = firstPotential;
    this.#advance();
  }

  /** Writes the recorded neurons. Call it after layOutTrial. */
  writeNeurons(): void {
    const recorded = viewOf(this.kernel, Uint32Array, 'recordedNeurons', this.neuronCount);
    // The kernel needs addresses.
    for (const { recording, firstNeuron } of this.#states) {
      recorded.set(
        recording.neurons.map((neuron) => neuron << ADDRESS_SHIFT),
        firstNeuron,
      );
    }
  }

  /**
   * @returns the samples that are due before a step and have room, and the index of the first potential in the kernel;
   *   undefined unless there is exactly one recording
   */
  seriesBefore(untilStep: number) {
    const [state, another] = this.#states;
    if (state === undefined || another !== undefined) return undefined;
    const { everySteps } = state.recording;
    const due = Math.ceil((untilStep - this.nextStep) / everySteps);
    const count = Math.min(due, state.steps.length - state.taken, state.room - (state.taken - state.copied));
    return count > 0 ? { everySteps, count, firstPotential: nextPotentialOf(state) } : undefined;
  }

  /** Records that the kernel has taken the samples of a series that were due before a step. */
  tookBefore(untilStep: number): void {
    const state = this.#states[0]!;
    while (state.steps[state.taken]! < untilStep) this.#took(state);
    this.#advance();
  }

  /** Takes the samples that are due at the end of `nextStep`. */
  sample(): void {
    for (const state of this.#states) {
      if (state.steps[state.taken] !== this.nextStep) continue;
      this.kernel.sample(state.firstNeuron, state.recording.neurons.length, nextPotentialOf(state));
      this.#took(state);
    }
    this.#advance();
  }

  /** @returns the taken samples of each recording in mV, copied */
  samples(): Float64Array[] {
    return this.#states.map((state) => {
      this.#copyOut(state);
      return state.potentials.subarray(0, state.taken * state.recording.neurons.length);
    });
  }

  #took(state: RecordingState): void {
    state.taken++;
    if (state.taken - state.copied === state.room) this.#copyOut(state);
  }

  #copyOut(state: RecordingState): void {
    const { recording, firstPotential, potentials, taken, copied } = state;
    const { length } = recording.neurons;
    const all = viewOf(this.kernel, Float64Array, 'samples', this.sampleCount);
    potentials.set(all.subarray(firstPotential, firstPotential + (taken - copied) * length), copied * length);
    state.copied = taken;
  }

  #advance(): void {
    this.nextStep = Infinity;
    for (const { steps, taken } of this.#states) {
      if (taken < steps.length) this.nextStep = Math.min(this.nextStep, steps[taken]!);
    }
  }
}

/** @returns the index in the kernel of the next sample's first potential */
function nextPotentialOf({ recording, firstPotential, taken, copied }: RecordingState): number {
  return firstPotential + (taken - copied) * recording.neurons.length;
}
