/**
 * Neurons of the trial in a kernel that input has reached: all others are at rest, 0. They are a few per cent of a brain,
 * so a trial is loaded and saved by them alone, in a tenth of the time that copying all neurons takes.
 */
import type { Wiring } from '../../connectome/connectome.js';
import type { InputEvents } from '../../stimulus/input-events.js';
import type { SpikeRaster } from '../simulation.js';
import type { Kernel } from './kernel-exports.js';

/** Doubles of a neuron: u and h. See Neuron in kernel/memory.ts. */
export const UH_LENGTH = 2;
/** Mark of an entry whose neuron has spiked, so its targets are listed too. */
const SPIKED = 2 ** 31;

export class TouchedNeurons {
  readonly #entries: Uint32Array;
  /** Place of a neuron in the list, counted from 1; 0 where it is not listed. */
  readonly #places: Uint32Array;
  #count = 0;
  /** False where the kernel has another trial, of which nothing is known. */
  #isKnown = false;

  constructor(private readonly wiring: Wiring) {
    this.#entries = new Uint32Array(wiring.neuronCount);
    this.#places = new Uint32Array(wiring.neuronCount);
  }

  /** Neurons with their marks, in the order in which the trial has come to them, however it is cut. */
  get entries(): Uint32Array {
    return this.#entries.subarray(0, this.#count);
  }

  /** Tells that the kernel simulates, or has simulated, another trial. */
  forget(): void {
    this.#isKnown = false;
  }

  /**
   * Puts the neurons of the kernel to rest, but for these.
   * @param uh u and h of each entry
   */
  replace(kernel: Kernel, entries: Uint32Array, uh: Float64Array): void {
    const neurons = this.#neuronsOf(kernel);
    if (this.#isKnown) {
      for (const entry of this.entries) {
        const neuron = entry & ~SPIKED;
        this.#places[neuron] = 0;
        neurons[UH_LENGTH * neuron] = 0;
        neurons[UH_LENGTH * neuron + 1] = 0;
      }
    } else {
      this.#places.fill(0);
      neurons.fill(0);
    }
    this.#entries.set(entries);
    this.#count = entries.length;
    for (let at = 0; at < entries.length; at++) {
      const neuron = entries[at]! & ~SPIKED;
      this.#places[neuron] = at + 1;
      neurons[UH_LENGTH * neuron] = uh[UH_LENGTH * at]!;
      neurons[UH_LENGTH * neuron + 1] = uh[UH_LENGTH * at + 1]!;
    }
    this.#isKnown = true;
  }

  /** @param uh receives u and h of each entry */
  copyTo(uh: Float64Array, kernel: Kernel): void {
    const neurons = this.#neuronsOf(kernel);
    for (let at = 0; at < this.#count; at++) {
      const neuron = this.#entries[at]! & ~SPIKED;
      uh[UH_LENGTH * at] = neurons[UH_LENGTH * neuron]!;
      uh[UH_LENGTH * at + 1] = neurons[UH_LENGTH * neuron + 1]!;
    }
  }

  /** Adds those that a part of the trial has reached: events of a step come before its spikes. */
  addPart({ stimulated, background }: InputEvents, { steps, neurons }: SpikeRaster): void {
    for (const neuron of stimulated) this.#add(neuron);
    const eventCount = background?.steps.length ?? 0;
    let event = 0;
    for (let spike = 0; spike < neurons.length; spike++) {
      for (; event < eventCount && background!.steps[event]! <= steps[spike]!; event++) {
        this.#add(background!.neurons[event]!);
      }
      this.#addTargets(neurons[spike]!);
    }
    for (; event < eventCount; event++) this.#add(background!.neurons[event]!);
  }

  #add(neuron: number): void {
    if (this.#places[neuron] !== 0) return;
    this.#entries[this.#count++] = neuron;
    this.#places[neuron] = this.#count;
  }

  /** Adds the targets of a neuron at its first spike, although it arrives later. */
  #addTargets(neuron: number): void {
    this.#add(neuron);
    const place = this.#places[neuron]! - 1;
    if (this.#entries[place]! >= SPIKED) return;
    this.#entries[place]! += SPIKED;
    const { rowStart, targets } = this.wiring;
    for (let c = rowStart[neuron]!; c < rowStart[neuron + 1]!; c++) this.#add(targets[c]!);
  }

  #neuronsOf({ memory }: Kernel): Float64Array {
    return new Float64Array(memory.buffer, 0, UH_LENGTH * this.#places.length);
  }
}
