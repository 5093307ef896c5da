/** Light of the neurons of a live brain. Each spike lights its neuron at its time and fades. */
import { LIGHT_STRIDE, RUN_BYTE } from '../brain/glow.js';

/** Half-life in ms of the page, long enough to be visible in real time. */
const HALF_LIFE_MS = 110;
const SPIKE_BRIGHTNESS = 150;
const BRIGHTEST = 255;
const FAINTEST = 1;

interface Moment {
  readonly atMs: number;
  readonly neuron: number;
}

export class LiveLight {
  /** Neurons that have spiked so far. */
  readonly spiking = new Set<number>();
  readonly #levels: Float32Array;
  readonly #lit = new Set<number>();
  #coming: Moment[] = [];

  constructor(neuronCount: number) {
    this.#levels = new Float32Array(neuronCount);
  }

  /**
   * Takes the spikes of a step.
   * @param atMs display time of each spike, ascending, in ms of the page
   * @returns true if a neuron spiked for the first time
   */
  add(neurons: readonly number[], atMs: readonly number[]): boolean {
    const before = this.spiking.size;
    neurons.forEach((neuron, at) => {
      this.spiking.add(neuron);
      this.#coming.push({ atMs: atMs[at]!, neuron });
    });
    return this.spiking.size > before;
  }

  /**
   * Writes the light at a moment.
   * @param elapsedMs since the last call
   * @returns true if any neuron was or is lit
   */
  write(light: Uint8Array, nowMs: number, elapsedMs: number): boolean {
    const share = 2 ** (-elapsedMs / HALF_LIFE_MS);
    const wasLit = this.#lit.size > 0;
    for (const neuron of this.#lit) {
      const level = this.#levels[neuron]! * share;
      this.#levels[neuron] = level < FAINTEST ? 0 : level;
      if (level < FAINTEST) this.#lit.delete(neuron);
      light[LIGHT_STRIDE * neuron + RUN_BYTE] = level;
    }
    let come = 0;
    for (; come < this.#coming.length && this.#coming[come]!.atMs <= nowMs; come++) {
      const { neuron } = this.#coming[come]!;
      this.#levels[neuron] = Math.min(BRIGHTEST, this.#levels[neuron]! + SPIKE_BRIGHTNESS);
      light[LIGHT_STRIDE * neuron + RUN_BYTE] = this.#levels[neuron]!;
      this.#lit.add(neuron);
    }
    this.#coming = this.#coming.slice(come);
    return wasLit || this.#lit.size > 0;
  }
}
