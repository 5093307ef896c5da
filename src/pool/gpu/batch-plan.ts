/** What a calibration measured: times in ms, of whole batches. */
export interface BatchTimes {
  /** Batches that the GPU can compute at once and what each takes, from the smallest to the largest. */
  readonly gpu: readonly { readonly width: number; readonly ms: number }[];
  /** What one CPU worker takes for a simulation. */
  readonly cpuMs: number;
  readonly cpuWorkers: number;
}

/**
 * Decides how many of the runs that wait the GPU should take: as many as it computes sooner than all CPU
 * workers together. A batch that fits no width exactly takes as long as the next larger one.
 */
export class BatchPlan {
  /** Of the sizes that are worth it, ascending. */
  readonly #sizes: readonly number[];

  constructor({ gpu, cpuMs, cpuWorkers }: BatchTimes) {
    const most = gpu.at(-1)?.width ?? 0;
    const sizes = Array.from({ length: most }, (_, i) => i + 1);
    this.#sizes = sizes.filter((size) => {
      const gpuMs = gpu.find(({ width }) => width >= size)!.ms;
      return gpuMs < (size * cpuMs) / cpuWorkers;
    });
  }

  /** A plan that takes all it can: for a service that insists on its GPU. */
  static always(widest: number): BatchPlan {
    return new BatchPlan({ gpu: [{ width: widest, ms: 0 }], cpuMs: 1, cpuWorkers: 1 });
  }

  /** The smallest batch that is worth it; undefined when none is. */
  get fewest(): number | undefined {
    return this.#sizes[0];
  }

  /** @returns 0 when the CPU should compute all that waits */
  batchOf(waiting: number): number {
    return this.#sizes.findLast((size) => size <= waiting) ?? 0;
  }
}
