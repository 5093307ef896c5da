import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { Piscina } from 'piscina';
import type { Connectome } from '../../connectome/connectome.js';
import { KernelEngine } from '../../simulation/cpu/kernel-engine.js';
import { simulateInParts } from '../../simulation/gpu/batch-parts.js';
import type { BatchRoom } from '../../simulation/gpu/pipeline-shape.js';
import type { Trial } from '../../simulation/simulation.js';
import { CodedError } from '../../errors.js';
import { compiledDrawing } from '../../stimulus/compiled-drawing.js';
import type { Protocol } from '../../stimulus/protocol.js';
import { compileDrawingKernel, compileKernel } from '../kernel-file.js';
import type { Outcome } from '../task.js';
import type { BatchResult } from './gpu-host.js';
import type { GpuResultOf, GpuTask, GpuThreadData, GpuWanted } from './gpu-task.js';

/** Batches that the GPU's thread has: one that the GPU computes, and one that is submitted meanwhile. */
const BATCHES_SUBMITTED = 2;
/**
 * Threads that prepare and read batches: for a busy batch they take three times as long as the GPU's thread. That one and
 * the main thread want a core each.
 */
const HELPERS = Math.max(1, Math.min(3, availableParallelism() - 2));

interface GpuBatchesOptions {
  /** The bytes of the connectome file. */
  readonly buffer: SharedArrayBuffer;
  readonly connectome: Connectome;
  readonly wanted: GpuWanted;
  /** The file that all threads run. */
  readonly workerFile: string;
  /** Tried in turn until one has a certificate and can be compared. */
  readonly checks: readonly Protocol[];
}

/** The threads of the GPU process: takes protocols and returns the trials that are certified. */
export class GpuBatches {
  private constructor(
    readonly adapter: string,
    readonly room: BatchRoom,
    private readonly gpu: Piscina,
    private readonly helpers: Piscina,
  ) {}

  /**
   * Opens the adapter and compares a trial on this very connectome with the CPU's, spike by spike.
   * @throws CodedError GPU_UNAVAILABLE when there is no adapter to be used, or it computes something else
   */
  static async open(options: GpuBatchesOptions): Promise<GpuBatches> {
    const { buffer, wanted } = options;
    const gpu = threads(options, { connectome: buffer, gpu: wanted }, 1, BATCHES_SUBMITTED);
    const helpers = threads(options, { connectome: buffer }, HELPERS, 1);
    const { adapter, room } = await run(gpu, { kind: 'open' });
    const batches = new GpuBatches(adapter, room, gpu, helpers);
    await batches.#check(options);
    return batches;
  }

  /**
   * May be called again before it has resolved: the threads then work on several batches at once.
   * @throws CodedError GPU_FAILED when the batch was not computed, or a thread has ended
   */
  simulate(protocols: readonly Protocol[]): Promise<BatchResult> {
    const { room, gpu, helpers } = this;
    return simulateInParts<Protocol, Trial | undefined>(protocols, room, {
      prepare: (batch) => run(helpers, { kind: 'prepare', protocols: batch, room }),
      simulate: (tables) => run(gpu, { kind: 'simulate', tables }, [tables.silenced, tables.inputs]),
      read: (lists, batch) =>
        run(helpers, { kind: 'read', lists, protocols: batch }, [...lists.windows, lists.unflagged]),
    });
  }

  async #check({ checks, connectome }: GpuBatchesOptions): Promise<void> {
    const cpu = new KernelEngine(compileKernel(), connectome);
    const draw = compiledDrawing(compileDrawingKernel());
    for (const protocol of checks) {
      const [trial] = await this.simulate([protocol]);
      if (trial === undefined) continue;
      const expected = cpu.simulate(
        draw(protocol, (i) => connectome.neuronId(i)),
        protocol,
      );
      if (areEqual(trial, expected)) return;
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `${this.adapter} computes ${trial.steps.length} spikes where the CPU computes ${expected.steps.length}; it is not used.`,
      );
    }
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `None of ${checks.length} runs on ${this.adapter} was certified; it is not used.`,
    );
  }
}

function threads(
  { workerFile }: GpuBatchesOptions,
  workerData: GpuThreadData,
  count: number,
  concurrentTasksPerWorker: number,
): Piscina {
  const pool = new Piscina({
    filename: workerFile,
    minThreads: count,
    maxThreads: count,
    concurrentTasksPerWorker,
    workerData,
    // The binding looks after the GPU in the event loop of its thread, which must not be blocked meanwhile.
    atomics: 'disabled',
    recordTiming: false,
  });
  pool.on('error', (error: Error) => console.error(error));
  return pool;
}

/** @param arrays of the task, whose memory is transferred */
async function run<Kind extends GpuTask['kind']>(
  pool: Piscina,
  task: GpuTask & { readonly kind: Kind },
  arrays: readonly Float32Array<ArrayBuffer>[] = [],
): Promise<GpuResultOf[Kind]> {
  let outcome: Outcome<GpuResultOf[Kind]>;
  try {
    outcome = (await pool.run(task, { transferList: arrays.map(({ buffer }) => buffer) })) as typeof outcome;
  } catch (error) {
    throw new CodedError('GPU_FAILED', `A thread of the GPU process ended: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!outcome.ok) throw CodedError.fromFailure(outcome.failure);
  return outcome.result;
}

/** Compares spikes, synaptic events and the step in which the budget ended the trial. */
function areEqual(...trials: readonly [Trial, Trial]): boolean {
  const [one, other] = trials.map(({ steps, neurons, deliveredEvents, stoppedAtStep }) => {
    return [steps, neurons, deliveredEvents, stoppedAtStep];
  });
  return isDeepStrictEqual(one, other);
}
