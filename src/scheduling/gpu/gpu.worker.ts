/**
 * The file of all threads of the GPU process. One of them holds the GPU: what it does bounds a stream of batches, so it does
 * nothing that needs no GPU. The others prepare batches for it and read what comes back.
 */
import { workerData } from 'node:worker_threads';
import { viewConnectome } from '../../connectome/sections.js';
import type { Wiring } from '../../connectome/connectome.js';
import { requestGpuAdapter } from '../../simulation/gpu/adapter.js';
import { outDegreesOf, resultsOf } from '../../simulation/gpu/batch-results.js';
import { batchTables } from '../../simulation/gpu/batch-tables.js';
import type { GpuEngine } from '../../simulation/gpu/gpu-engine.js';
import { failureOf } from '../../errors.js';
import { compiledDrawing } from '../../stimulus/compiled-drawing.js';
import { compileDrawingKernel } from '../kernel-file.js';
import { transfer } from '../transfer.js';
import type { Outcome } from '../task.js';
import type { GpuResultOf, GpuTask, GpuThreadData, GpuWanted } from './gpu-task.js';

const { connectome: buffer, gpu } = workerData as GpuThreadData;
const connectome = viewConnectome(buffer);
const draw = compiledDrawing(compileDrawingKernel());
const outDegree = outDegreesOf(connectome);
let engine: GpuEngine | undefined;

export default async (task: GpuTask): Promise<unknown> => {
  try {
    switch (task.kind) {
      case 'open':
        return { ok: true, result: await open(connectome, gpu!) } satisfies Outcome<GpuResultOf['open']>;
      case 'prepare': {
        const trials = task.protocols.map((options) => ({
          events: draw(options, (i) => connectome.neuronId(i)),
          options,
        }));
        const tables: GpuResultOf['prepare'] = batchTables(trials, task.room);
        return transfer(tables, [tables?.silenced, tables?.inputs]);
      }
      case 'simulate': {
        const lists: GpuResultOf['simulate'] = await engine!.simulate(task.tables);
        return transfer(lists, [...(lists?.windows ?? []), lists?.unflagged]);
      }
      case 'read': {
        const results = resultsOf(task.lists, task.protocols, outDegree);
        const trials: GpuResultOf['read'] = results.map(({ trial, certified }) =>
          certified ? trial : undefined,
        );
        return transfer(
          trials,
          trials.flatMap((trial) => [trial?.steps, trial?.neurons]),
        );
      }
    }
  } catch (error) {
    return { ok: false, failure: failureOf(error) } satisfies Outcome<never>;
  }
};

/** The other threads never load gpu.js. */
async function open(wiring: Wiring, { allowSoftware, widths }: GpuWanted): Promise<GpuResultOf['open']> {
  const { name, largestArrayBytes, largestBufferBytes } = await requestGpuAdapter({ allowSoftware });
  const { GpuEngine } = await import('../../simulation/gpu/gpu-engine.js');
  engine = new GpuEngine(wiring, {
    mode: 'webgpu',
    largestArrayBytes,
    largestBufferBytes,
    ...(widths && { widths }),
  });
  return { adapter: name, room: engine.room };
}
