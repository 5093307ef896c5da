/**
 * The file of all threads of the GPU process. One of them holds the GPU: what it does bounds a stream of batches, so it does
 * nothing that needs no GPU. The others prepare batches for it and read what comes back. Each function is a task of Piscina.
 */
import { workerData } from 'node:worker_threads';
import { viewConnectome } from '../../connectome/sections.js';
import { requestGpuAdapter } from '../../simulation/gpu/adapter.js';
import { outDegreesOf, resultsOf, type BatchLists } from '../../simulation/gpu/batch-results.js';
import { batchTables, type BatchTables } from '../../simulation/gpu/batch-tables.js';
import type { GpuEngine } from '../../simulation/gpu/gpu-engine.js';
import type { BatchRoom } from '../../simulation/gpu/pipeline-shape.js';
import { failureOf } from '../../errors.js';
import { compiledDrawing } from '../../stimulus/compiled-drawing.js';
import type { Protocol } from '../../stimulus/protocol.js';
import { compileDrawingKernel } from '../kernel-file.js';
import { transfer } from '../transfer.js';
import type { Outcome, WorkerData } from '../task.js';
import type { GpuWanted } from './gpu-host.js';

const connectome = viewConnectome((workerData as WorkerData).connectome);
const draw = compiledDrawing(compileDrawingKernel());
const outDegree = outDegreesOf(connectome);
let engine: GpuEngine | undefined;

/** Opens the adapter: the first task of the one thread that holds it. The others never load gpu.js. */
export const open = answering(async ({ allowSoftware, widths }: GpuWanted) => {
  const { name, largestArrayBytes, largestBufferBytes } = await requestGpuAdapter({ allowSoftware });
  const { GpuEngine } = await import('../../simulation/gpu/gpu-engine.js');
  engine = new GpuEngine(connectome, {
    mode: 'webgpu',
    largestArrayBytes,
    largestBufferBytes,
    ...(widths && { widths }),
  });
  return { adapter: name, room: engine.room };
});

/** Gives the tables of a batch, or undefined when the adapter has no room for it. */
export const prepare = answering(
  ({ protocols, room }: { readonly protocols: readonly Protocol[]; readonly room: BatchRoom }) => {
    const trials = protocols.map((options) => ({
      events: draw(options, (i) => connectome.neuronId(i)),
      options,
    }));
    return batchTables(trials, room);
  },
  (tables) => [tables?.silenced, tables?.inputs],
);

/** The task of the thread of the GPU; undefined when the adapter has no room for the batch. */
export const simulate = answering(
  (tables: BatchTables) => engine!.simulate(tables),
  (lists) => [...(lists?.windows ?? []), lists?.unflagged],
);

/** Gives the trials of a batch; undefined for one without a certificate. */
export const read = answering(
  ({ lists, protocols }: { readonly lists: BatchLists; readonly protocols: readonly Protocol[] }) =>
    resultsOf(lists, protocols, outDegree).map(({ trial, certified }) => (certified ? trial : undefined)),
  (trials) => trials.flatMap((trial) => [trial?.steps, trial?.neurons]),
);

/** @param arraysOf a result, whose memory is transferred */
function answering<Task, Result>(
  compute: (task: Task) => Result | Promise<Result>,
  arraysOf: (result: Result) => readonly (ArrayBufferView | undefined)[] = () => [],
) {
  return async (task: Task): Promise<Outcome<Result>> => {
    try {
      const result = await compute(task);
      return transfer(result, arraysOf(result));
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  };
}
