import { type MembraneRecording, sampledSteps } from '../simulation.js';
import { ADDRESS_SHIFT, type Kernel, viewOf } from './kernel-exports.js';

/** Potentials that all recordings together have in the kernel: few enough to stay in a cache until they are taken out. */
const POTENTIALS_IN_KERNEL = 16_384;

/** A recording during a trial. */
interface Course {
  readonly recording: MembraneRecording;
  /** The place of its first neuron among all recorded ones. */
  readonly firstNeuron: number;
  /** The place in the kernel of the first of the samples that are there. */
  readonly firstPotential: number;
  /** Samples that the kernel has room for. */
  readonly room: number;
  readonly steps: Uint32Array;
  readonly potentials: Float64Array;
  taken: number;
  /** Samples that were taken out of the kernel. */
  kept: number;
}

/** Samples of all recorded neurons that the kernel can take without its host. */
interface Series {
  readonly everySteps: number;
  readonly count: number;
  /** The place in the kernel of the first of them. */
  readonly firstPotential: number;
}

/** Takes the samples of all recordings of one trial from the kernel. */
export class Recorder {
  readonly neuronCount: number;
  /** Potentials that the kernel needs room for. */
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
    let firstPotential = 0;
    this.#courses = recordings.map((recording) => {
      const { length } = recording.neurons;
      const steps = sampledSteps(recording, endStep, startStep);
      const room = Math.max(1, Math.floor(POTENTIALS_IN_KERNEL / recordings.length / length));
      const potentials = new Float64Array(length * steps.length);
      const course = { recording, firstNeuron, firstPotential, room, steps, potentials, taken: 0, kept: 0 };
      firstNeuron += length;
      firstPotential += length * room;
      return course;
    });
    this.neuronCount = firstNeuron;
    this.sampleCount = firstPotential;
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

  /** Samples that are due before a step and have room, where there is one recording. */
  seriesBefore(untilStep: number): Series | undefined {
    const [course, another] = this.#courses;
    if (course === undefined || another !== undefined) return undefined;
    const { everySteps } = course.recording;
    const due = Math.ceil((untilStep - this.nextStep) / everySteps);
    const count = Math.min(
      due,
      course.steps.length - course.taken,
      course.room - (course.taken - course.kept),
    );
    return count > 0 ? { everySteps, count, firstPotential: placeOf(course) } : undefined;
  }

  /** Tells that the kernel has taken those of a series that were due before a step. */
  tookBefore(untilStep: number): void {
    const course = this.#courses[0]!;
    while (course.steps[course.taken]! < untilStep) this.#took(course);
    this.#advance();
  }

  /** Takes what is due at the end of `nextStep`. */
  sample(): void {
    for (const course of this.#courses) {
      if (course.steps[course.taken] !== this.nextStep) continue;
      this.kernel.sample(course.firstNeuron, course.recording.neurons.length, placeOf(course));
      this.#took(course);
    }
    this.#advance();
  }

  /** @returns the samples of each recording that were taken, in mV, in memory of their own */
  samples(): Float64Array[] {
    return this.#courses.map((course) => {
      this.#keep(course);
      return course.potentials.subarray(0, course.taken * course.recording.neurons.length);
    });
  }

  #took(course: Course): void {
    course.taken++;
    if (course.taken - course.kept === course.room) this.#keep(course);
  }

  #keep(course: Course): void {
    const { recording, firstPotential, potentials, taken, kept } = course;
    const { length } = recording.neurons;
    const all = viewOf(this.kernel, Float64Array, 'samples', this.sampleCount);
    potentials.set(all.subarray(firstPotential, firstPotential + (taken - kept) * length), kept * length);
    course.kept = taken;
  }

  #advance(): void {
    this.nextStep = Infinity;
    for (const { steps, taken } of this.#courses) {
      if (taken < steps.length) this.nextStep = Math.min(this.nextStep, steps[taken]!);
    }
  }
}

/** The place in the kernel of the next sample. */
function placeOf({ recording, firstPotential, taken, kept }: Course): number {
  return firstPotential + (taken - kept) * recording.neurons.length;
}
