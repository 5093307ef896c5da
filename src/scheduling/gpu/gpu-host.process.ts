/**
 * The process that holds the GPU: takes protocols and returns the trials that are certified. It stands apart from the
 * service, because a driver can take its process down.
 */
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { Piscina } from 'piscina';
import type { Connectome } from '../../connectome/connectome.js';
import { readConnectomeFile } from '../../connectome/connectome-file.js';
import { openConnectome } from '../../connectome/format.js';
import { CodedError } from '../../errors.js';
import { FIELDS } from '../../presets/fields.js';
import { trialExperiment, protocolOf } from '../../presets/presets.js';
import { KernelEngine } from '../../simulation/cpu/kernel-engine.js';
import { requestGpuAdapter } from '../../simulation/gpu/adapter.js';
import { simulateInParts } from '../../simulation/gpu/batch-parts.js';
import type { BatchRoom } from '../../simulation/gpu/pipeline-shape.js';
import type { Trial } from '../../simulation/simulation.js';
import { compiledDrawing } from '../../stimulus/compiled-drawing.js';
import type { Protocol } from '../../stimulus/protocol.js';
import { compileDrawingKernel, compileKernel } from '../kernel-file.js';
import { RemoteCalls } from '../remote-calls.js';
import type { Outcome, WorkerData } from '../task.js';
import type { BatchResult, GpuDescription, GpuProcess, HostOpening } from './gpu-host.js';
import type * as GpuThread from './gpu.worker.js';

const WORKER_FILE = new URL('./gpu.worker.js', import.meta.url).href;
/** Seeds that are tried until the GPU certifies a run that can be compared. */
const CHECK_SEEDS = [1, 2, 3, 4];
/** Batches that the GPU's thread has: one that the GPU computes, and one that is submitted meanwhile. */
const BATCHES_SUBMITTED = 2;
/**
 * Threads that prepare and read batches: for a busy batch they take three times as long as the GPU's thread. That one and
 * the main thread want a core each.
 */
const HELPERS = Math.max(1, Math.min(3, availableParallelism() - 2));

let threads: { readonly gpu: Piscina; readonly helpers: Piscina; readonly room: BatchRoom };

const gpu: GpuProcess = {
  adapter: async (allowSoftware) => (await requestGpuAdapter({ allowSoftware })).name,
  open,
  simulate,
};
const calls = new RemoteCalls<object>(
  (message) => process.send!(message),
  () => gpu,
);
process.on('message', calls.receive);
// The service has gone. A worker cannot be stopped while it waits for the GPU, so nothing is tidied up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

/**
 * Opens the adapter and compares a trial on this very connectome with the CPU's, spike by spike.
 * @throws CodedError GPU_UNAVAILABLE when there is no adapter to be used, or it computes something else; GPU_FAILED, and
 *   what is wrong with the connectome file
 */
async function open(opening: HostOpening): Promise<GpuDescription> {
  const { connectomeFile, digest, workerFile = WORKER_FILE, ...wanted } = opening;
  const buffer = await readConnectomeFile(connectomeFile);
  const connectome = openConnectome(buffer);
  if (connectome.digest !== digest) {
    throw new CodedError(
      'CONNECTOME_INVALID',
      `The connectome file has changed: the service holds ${digest}, the file now has ${connectome.digest}.`,
    );
  }
  const poolOf = (count: number, concurrentTasksPerWorker: number) => {
    const pool = new Piscina({
      filename: workerFile,
      minThreads: count,
      maxThreads: count,
      concurrentTasksPerWorker,
      workerData: { connectome: buffer } satisfies WorkerData,
      // The binding looks after the GPU in the event loop of its thread, which must not be blocked meanwhile.
      atomics: 'disabled',
      recordTiming: false,
    });
    pool.on('error', (error: Error) => console.error(error));
    return pool;
  };
  const [gpu, helpers] = [poolOf(1, BATCHES_SUBMITTED), poolOf(HELPERS, 1)];
  const { adapter, room } = await run(gpu, 'open', wanted);
  threads = { gpu, helpers, room };
  await check(connectome, adapter);
  return { adapter, widths: room.widths };
}

/** May be called again before it has resolved: the threads then work on several batches at once. */
function simulate(protocols: readonly Protocol[]): Promise<BatchResult> {
  const { gpu, helpers, room } = threads;
  return simulateInParts<Protocol, Trial | undefined>(protocols, room, {
    prepare: (batch) => run(helpers, 'prepare', { protocols: batch, room }),
    simulate: (tables) => run(gpu, 'simulate', tables, [tables.silenced, tables.inputs]),
    read: (lists, batch) =>
      run(helpers, 'read', { lists, protocols: batch }, [...lists.windows, lists.unflagged]),
  });
}

async function check(connectome: Connectome, adapter: string): Promise<void> {
  const cpu = new KernelEngine(compileKernel(), connectome);
  const draw = compiledDrawing(compileDrawingKernel());
  const shortest = { ...trialExperiment(connectome.metadata), duration_ms: FIELDS.duration_ms.enum[0] };
  for (const seed of CHECK_SEEDS) {
    const protocol = protocolOf(connectome, { ...shortest, seed });
    const [trial] = await simulate([protocol]);
    if (trial === undefined) continue;
    const events = draw(protocol, (i) => connectome.neuronId(i));
    const expected = cpu.simulate(events, protocol);
    if (areEqual(trial, expected)) return;
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `${adapter} computes ${trial.steps.length} spikes where the CPU computes ${expected.steps.length}; it is not used.`,
    );
  }
  throw new CodedError(
    'GPU_UNAVAILABLE',
    `None of ${CHECK_SEEDS.length} runs on ${adapter} was certified; it is not used.`,
  );
}

/** Compares spikes, synaptic events and the step in which the budget ended the trial. */
function areEqual(...trials: readonly [Trial, Trial]): boolean {
  const [one, other] = trials.map(({ steps, neurons, deliveredEvents, stoppedAtStep }) => {
    return [steps, neurons, deliveredEvents, stoppedAtStep];
  });
  return isDeepStrictEqual(one, other);
}

type Task<Name extends keyof typeof GpuThread> = Parameters<(typeof GpuThread)[Name]>[0];
type ResultOf<Name extends keyof typeof GpuThread> =
  Awaited<ReturnType<(typeof GpuThread)[Name]>> extends Outcome<infer Result> ? Result : never;

/**
 * Calls a function of a thread.
 * @param arrays of the task, whose memory is transferred
 * @throws CodedError what the function throws; GPU_FAILED when the thread has ended
 */
async function run<Name extends keyof typeof GpuThread>(
  pool: Piscina,
  name: Name,
  task: Task<Name>,
  arrays: readonly Float32Array<ArrayBuffer>[] = [],
): Promise<ResultOf<Name>> {
  let outcome: Outcome<ResultOf<Name>>;
  try {
    const transferList = arrays.map(({ buffer }) => buffer);
    outcome = (await pool.run(task, { name, transferList })) as typeof outcome;
  } catch (error) {
    throw new CodedError('GPU_FAILED', `A thread of the GPU process ended: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!outcome.ok) throw CodedError.fromFailure(outcome.failure);
  return outcome.result;
}
