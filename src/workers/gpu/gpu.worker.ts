/**
 * The module of all threads in the GPU process. One thread holds the GPU and limits the throughput, so it does no
 * other work. The other threads prepare its batches and read their results. Each exported function is a Piscina task.
 */
import { workerData } from 'node:worker_threads';
import { viewConnectome } from '../../engine/connectome/sections.js';
import { requestGpuAdapter } from '../../engine/simulation/gpu/adapter.js';
import { outDegreesOf, resultsOf, type BatchLists } from '../../engine/simulation/gpu/batch-results.js';
import { batchTables, type BatchTables } from '../../engine/simulation/gpu/batch-tables.js';
import type { GpuEngine } from '../../engine/simulation/gpu/gpu-engine.js';
import type { BatchRoom } from '../../engine/simulation/gpu/pipeline-shape.js';
import { failureOf } from '../../engine/errors.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import type { Protocol } from '../../engine/stimulus/protocol.js';
import { compileDrawingKernel } from '../pool/kernel-file.js';
import { transfer, type Outcome, type WorkerData } from '../pool/task.js';
import type { GpuWanted } from './gpu-host.js';

const connectome = viewConnectome((workerData as WorkerData).connectome);
const draw = compiledDrawing(compileDrawingKernel());
/** The same function for all trials: the drawing remembers the ids that it gave. */
const neuronId = (i: number) => connectome.neuronId(i);
const outDegree = outDegreesOf(connectome);
let engine: GpuEngine | undefined;

/**
 * Opens the adapter. `widths` are the possible numbers of trials in a batch; `room` is the batches that the adapter
 * has memory for. Only the thread that holds the GPU runs this, as its first task; the others never load the
 * engine of the GPU.
 */
export const open = answering(async ({ allowSoftware, widths }: GpuWanted) => {
  const { name, largestArrayBytes, largestBufferBytes } = await requestGpuAdapter({ allowSoftware });
  const { GpuEngine } = await import('../../engine/simulation/gpu/gpu-engine.js');
  engine = new GpuEngine(connectome, {
    mode: 'webgpu',
    largestArrayBytes,
    largestBufferBytes,
    ...(widths && { widths }),
  });
  return { adapter: name, room: engine.room };
});

/** @returns the tables of a batch; undefined if the adapter has too little memory for it */
export const prepare = answering(
  ({ protocols, room }: { readonly protocols: readonly Protocol[]; readonly room: BatchRoom }) => {
    const trials = protocols.map((protocol) => ({
      events: draw(protocol, neuronId),
      options: protocol,
    }));
    return batchTables(trials, room);
  },
  (tables) => [tables?.silenced, tables?.inputs],
);

/**
 * Runs only in the thread that holds the GPU.
 * @returns the numbers that are read back: spikes, and neurons without a flag of doubt; undefined if the adapter has too little memory for it
 */
export const simulate = answering(
  (tables: BatchTables) => engine!.simulate(tables),
  (lists) => [...(lists?.windows ?? []), lists?.unflagged],
);

/**
 * @param lists the numbers that `simulate` read back
 * @returns the trials of a batch; undefined for each one for which the CPU might compute other spikes
 */
export const read = answering(
  ({ lists, protocols }: { readonly lists: BatchLists; readonly protocols: readonly Protocol[] }) =>
    resultsOf(lists, protocols, outDegree).map(({ trial, certified }) => (certified ? trial : undefined)),
  (trials) => trials.flatMap((trial) => [trial?.steps, trial?.neurons]),
);

/** @param arraysOf returns arrays of a result whose memory is to be transferred */
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
