import { type MembraneRecording, sampledSteps } from '../simulation.js';
import { ADDRESS_SHIFT, type Kernel, viewOf } from './kernel-exports.js';

/** A recording during a trial. */
interface Course {
  readonly recording: MembraneRecording;
  /** The place of its first neuron among all recorded ones. */
  readonly firstNeuron: number;
  /** The place of its first sample among all samples. */
  readonly firstSample: number;
  readonly steps: readonly number[];
  taken: number;
}

/** Takes the samples of all recordings of one trial from the kernel. */
export class Recorder {
  readonly neuronCount: number;
  readonly sampleCount: number;
  readonly #courses: readonly Course[];
  /** The next step at whose end a sample is due; Infinity after the last one. */
  nextStep = Infinity;

  /** @param endStep the one behind the part of the trial that begins with startStep */
  constructor(
    private readonly kernel: Kernel,
    recordings: readonly MembraneRecording[],
    startStep: number,
    endStep: number,
  ) {
    let firstNeuron = 0;
    let firstSample = 0;
    this.#courses = recordings.map((recording) => {
      const steps = sampledSteps(recording, endStep, startStep);
      const course = { recording, firstNeuron, firstSample, steps, taken: 0 };
      firstNeuron += recording.neurons.length;
      firstSample += recording.neurons.length * steps.length;
      return course;
    });
    this.neuronCount = firstNeuron;
    this.sampleCount = firstSample;
    this.#advance();
  }

  /** Once the trial is laid out. */
  writeNeurons(): void {
    const recorded = viewOf(this.kernel, Uint32Array, 'recordedNeurons', this.neuronCount);
    // The kernel takes them as a list of its own: addresses.
    for (const { recording, firstNeuron } of this.#courses) {
      recorded.set(
        recording.neurons.map((neuron) => neuron << ADDRESS_SHIFT),
        firstNeuron,
      );
    }
  }

  /** Takes what is due at the end of `nextStep`. */
  sample(): void {
    for (const course of this.#courses) {
      if (course.steps[course.taken] !== this.nextStep) continue;
      const { length } = course.recording.neurons;
      this.kernel.sample(course.firstNeuron, length, course.firstSample + course.taken * length);
      course.taken++;
    }
    this.#advance();
  }

  /** @returns the samples of each recording that were taken, in mV */
  samples(): Float64Array[] {
    const all = viewOf(this.kernel, Float64Array, 'samples', this.sampleCount);
    return this.#courses.map(({ recording: { neurons }, firstSample, taken }) =>
      all.subarray(firstSample, firstSample + taken * neurons.length),
    );
  }

  #advance(): void {
    this.nextStep = Infinity;
    for (const { steps, taken } of this.#courses) {
      if (taken < steps.length) this.nextStep = Math.min(this.nextStep, steps[taken]!);
    }
  }
}
