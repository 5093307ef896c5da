import type { Load } from './activity.js';

/** A simulation takes so long for each step and for each synaptic event of it. */
export interface Cost {
  readonly msPerStep: number;
  readonly msPerEvent: number;
}

/** Results of a calibration. */
export interface BatchTimes {
  /** Cost on one CPU worker; batches are compared with all of them together. */
  readonly cpu: Cost & { readonly workers: number };
  /** Cost of batches up to each width, ascending: for the steps of the longest task, and for the events of all. */
  readonly gpu: readonly (Cost & { readonly width: number })[];
}

/**
 * Decides how many of the tasks that wait the GPU should take: as many as it computes sooner than all CPU workers
 * together. A batch that fits no width exactly takes as long as the next larger one.
 */
export class BatchPlan {
  constructor(readonly times: BatchTimes) {}

  /** A plan that takes all it can: for a service that requires its GPU. */
  static always(widest: number): BatchPlan {
    return new BatchPlan({
      cpu: { msPerStep: 1, msPerEvent: 0, workers: 1 },
      gpu: [{ width: widest, msPerStep: 0, msPerEvent: 0 }],
    });
  }

  get widest(): number {
    return this.times.gpu.at(-1)?.width ?? 0;
  }

  /** The smallest batch of such tasks that is worth it; undefined when none is. */
  fewestOf(load: Load): number | undefined {
    for (let size = 1; size <= this.widest; size++) {
      if (this.#isWorthIt(new Array<Load>(size).fill(load))) return size;
    }
    return undefined;
  }

  /**
   * @param loads of the tasks, in the order in which they are served
   * @returns how many of them, from the first; 0 when the CPU should compute all of them
   */
  batchSizeOf(loads: readonly Load[]): number {
    for (let size = Math.min(loads.length, this.widest); size > 0; size--) {
      if (this.#isWorthIt(loads.slice(0, size))) return size;
    }
    return 0;
  }

  #isWorthIt(loads: readonly Load[]): boolean {
    const { cpu, gpu } = this.times;
    const cost = gpu.find(({ width }) => width >= loads.length)!;
    const cpuMs = loads.reduce((sum, load) => sum + msOf(load, cpu), 0) / cpu.workers;
    return msOf(batchLoad(loads), cost) < cpuMs;
  }
}

/** The load of a batch: the steps of its longest task and the events of all. */
export function batchLoad(loads: readonly Load[]): Load {
  return {
    steps: loads.reduce((most, { steps }) => Math.max(most, steps), 0),
    synapticEvents: loads.reduce((sum, { synapticEvents }) => sum + synapticEvents, 0),
  };
}

function msOf({ steps, synapticEvents }: Load, { msPerStep, msPerEvent }: Cost): number {
  return steps * msPerStep + synapticEvents * msPerEvent;
}

/** The cost that fits measured times best, by least squares; neither part of it is negative. */
export function costOf(measured: readonly { readonly load: Load; readonly ms: number }[]): Cost {
  const sum = (product: (load: Load, ms: number) => number) =>
    measured.reduce((total, { load, ms }) => total + product(load, ms), 0);
  const steps2 = sum(({ steps }) => steps * steps);
  const events2 = sum(({ synapticEvents }) => synapticEvents * synapticEvents);
  const mixed = sum(({ steps, synapticEvents }) => steps * synapticEvents);
  const stepsMs = sum(({ steps }, ms) => steps * ms);
  const eventsMs = sum(({ synapticEvents }, ms) => synapticEvents * ms);
  const determinant = steps2 * events2 - mixed * mixed;
  // Where all loads are alike the two parts cannot be told apart.
  const isSingular = determinant <= 1e-9 * steps2 * events2;
  const msPerStep = isSingular ? -1 : (stepsMs * events2 - eventsMs * mixed) / determinant;
  const msPerEvent = isSingular ? -1 : (eventsMs * steps2 - stepsMs * mixed) / determinant;
  if (msPerStep >= 0 && msPerEvent >= 0) return { msPerStep, msPerEvent };
  if (msPerStep < 0 && !isSingular) return { msPerStep: 0, msPerEvent: eventsMs / events2 };
  return { msPerStep: stepsMs / steps2, msPerEvent: 0 };
}
