import { CodedError } from '../../../errors.js';
import type { SpikeRaster } from '../../simulation.js';
import { SPIKE_BITS, UNUSED_ROW, type PipelineShape } from './kernels.js';
import { WINDOW_STEPS } from './number-format.js';

/**
 * The rasters of a batch from what a pipeline reads back, see `spikes` in kernels.ts.
 * @param windows of each window its spikes
 * @param durationsSteps of the trials; what the last window has behind the end of a trial is not part of it
 * @returns the rasters by step, then by neuron, and the number of rows that the fullest window used
 * @throws CodedError GPU_FAILED where there is a 0: gpu.js logs what the device refuses, for want of memory say, and
 *   hands out the zeros of an empty buffer
 */
export function rastersOf(
  windows: readonly Float32Array[],
  { width, rows }: Pick<PipelineShape, 'width' | 'rows'>,
  durationsSteps: readonly number[],
): { rasters: SpikeRaster[]; mostActive: number } {
  const names = rows * width;
  const growing = durationsSteps.map((duration) => new GrowingRaster(duration));
  let mostActive = 0;
  windows.forEach((floats, window) => {
    let used = 0;
    for (; used < rows && floats[names + used] !== UNUSED_ROW; used++) {
      if (floats[names + used] === 0) throw refused();
    }
    mostActive = Math.max(mostActive, used);
    growing.forEach((raster, trial) => {
      raster.addWindow(window * WINDOW_STEPS, floats, { names, used, width, trial });
    });
  });
  return { rasters: growing.map((raster) => raster.toRaster()), mostActive };
}

/** Batches have millions of rows and trials, so nothing is made for a single spike. */
class GrowingRaster {
  #steps = new Uint16Array(2 ** 10);
  #neurons = new Uint32Array(this.#steps.length);
  #length = 0;
  /** Of a window: the spikes by neuron, and the place of the next one of each step. */
  #foundSteps = new Uint8Array(2 ** 8);
  #foundNeurons = new Uint32Array(this.#foundSteps.length);
  readonly #places = new Uint32Array(WINDOW_STEPS + 1);

  constructor(private readonly durationSteps: number) {}

  addWindow(
    first: number,
    floats: Float32Array,
    { names, used, width, trial }: { names: number; used: number; width: number; trial: number },
  ): void {
    const steps = Math.min(WINDOW_STEPS, this.durationSteps - first);
    if (steps <= 0) return;
    const places = this.#places.fill(0);
    let found = 0;
    for (let row = 0, at = trial; row < used; row++, at += width) {
      const status = floats[at]!;
      if (status === 0) throw refused();
      let bits = Math.abs(status) & SPIKE_BITS;
      if (bits === 0) continue;
      if (found + WINDOW_STEPS > this.#foundSteps.length) {
        this.#foundSteps = enlarged(this.#foundSteps, new Uint8Array(2 * this.#foundSteps.length));
        this.#foundNeurons = enlarged(this.#foundNeurons, new Uint32Array(this.#foundSteps.length));
      }
      for (; bits !== 0; bits &= bits - 1) {
        const step = 31 - Math.clz32(bits & -bits);
        if (step >= steps) break;
        this.#foundSteps[found] = step;
        this.#foundNeurons[found++] = floats[names + row]! - 1;
        places[step + 1]!++;
      }
    }
    const end = this.#length + found;
    if (end > this.#steps.length) {
      this.#steps = enlarged(this.#steps, new Uint16Array(2 * end));
      this.#neurons = enlarged(this.#neurons, new Uint32Array(2 * end));
    }
    places[0] = this.#length;
    for (let step = 0; step < WINDOW_STEPS; step++) {
      places[step + 1]! += places[step]!;
      this.#steps.fill(first + step, places[step], places[step + 1]);
    }
    for (let spike = 0; spike < found; spike++) {
      this.#neurons[places[this.#foundSteps[spike]!]!++] = this.#foundNeurons[spike]!;
    }
    this.#length = end;
  }

  toRaster(): SpikeRaster {
    return { steps: this.#steps.slice(0, this.#length), neurons: this.#neurons.slice(0, this.#length) };
  }
}

function enlarged<T extends Uint8Array | Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function refused(): CodedError {
  return new CodedError('GPU_FAILED', 'The GPU refused a batch, perhaps for want of memory.');
}
