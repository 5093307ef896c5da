/**
 * The program of the GPU process: it receives protocols and returns their trials. It returns a trial only if the GPU
 * certified it as equal to the CPU's. A crash of the driver ends this process and not the service.
 */
import './ignored-signals.js';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { Piscina } from 'piscina';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { readConnectomeFile } from '../pool/connectome-file.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';
import { FIELDS } from '../../experiments/presets/fields.js';
import { trialExperiment, protocolOf } from '../../experiments/presets/experiment.js';
import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { requestGpuAdapter } from '../../engine/simulation/gpu/adapter.js';
import { simulateInParts } from '../../engine/simulation/gpu/batch-parts.js';
import type { BatchRoom } from '../../engine/simulation/gpu/pipeline-shape.js';
import type { Trial } from '../../engine/simulation/simulation.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import type { Protocol } from '../../engine/stimulus/protocol.js';
import { compileDrawingKernel, compileKernel } from '../pool/kernel-file.js';
import { RemoteCalls } from '../pool/remote-calls.js';
import type { Outcome, WorkerData } from '../pool/task.js';
import type { BatchResult, GpuDescription, GpuProcess, HostOpening } from './gpu-host.js';
import type * as GpuThread from './gpu.worker.js';

const WORKER_FILE = new URL('./gpu.worker.js', import.meta.url).href;
/** The GPU cannot certify every run, so the check against the CPU tries these seeds in turn. */
const CHECK_SEEDS = [1, 2, 3, 4];
/** One batch is being computed; the next one is submitted meanwhile. */
const BATCHES_SUBMITTED = 2;
/**
 * Threads that prepare batches and read their results. A busy batch costs them three times as much as it costs the
 * GPU's thread. The GPU's thread and the main thread need a core each.
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
// The service has ended. A thread that waits for the GPU cannot be stopped, so the process kills itself.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

/**
 * Opens the adapter, then compares one trial on this connectome with the CPU's, spike by spike.
 * @throws CodedError GPU_UNAVAILABLE if there is no usable adapter or its spikes differ; GPU_FAILED if a thread
 *   ended; CONNECTOME_MISSING or CONNECTOME_INVALID for the file
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
      // The WebGPU binding polls the GPU in this thread's event loop. Atomics.wait would block that loop.
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

/** Several calls may be pending: the threads then work on several batches at once. */
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
    if (isDeepStrictEqual(trial, expected)) return;
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

type Task<Name extends keyof typeof GpuThread> = Parameters<(typeof GpuThread)[Name]>[0];
type ResultOf<Name extends keyof typeof GpuThread> =
  Awaited<ReturnType<(typeof GpuThread)[Name]>> extends Outcome<infer Result> ? Result : never;

/**
 * Calls a function of gpu.worker.ts in a thread of the pool.
 * @param arrays arrays of the task; their memory is transferred
 * @throws CodedError the failure of the function; GPU_FAILED if the thread ended
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
