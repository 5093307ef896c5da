/**
 * A worker that pretends to hold a GPU: its batches are simulated by the CPU engine. It has the faults of a real
 * one, each for protocols of a seed of its own.
 */
import { workerData } from 'node:worker_threads';
import { viewConnectome } from '../../dist/connectome/sections.js';
import { KernelEngine } from '../../dist/engine/backends/cpu/kernel-engine.js';
import { copyOf } from '../../dist/engine/simulation.js';
import { compiledDrawing } from '../../dist/experiment/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../../dist/pool/kernel-file.js';

const UNCERTIFIED_SEED = 1_001;
const CRASH_SEED = 1_002;
const HANG_SEED = 1_003;
const DEVICE_LOST_SEED = 1_004;

const connectome = viewConnectome(workerData.connectome);
const engine = new KernelEngine(compileKernel(), connectome);
const draw = compiledDrawing(compileDrawingKernel());

export default (task) => {
  if (task.kind === 'probe') {
    return { ok: true, result: { backend: 'gpu', gpu: { adapter: 'a pretended GPU', widths: [1, 4] } } };
  }
  const seeds = new Set(task.protocols.map(seedOf));
  if (seeds.has(CRASH_SEED)) process.kill(process.pid, 'SIGSEGV');
  if (seeds.has(HANG_SEED)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (seeds.has(DEVICE_LOST_SEED)) return failure('The device was lost.');
  const result = task.protocols.map((protocol) =>
    seedOf(protocol) === UNCERTIFIED_SEED ? undefined : simulate(protocol),
  );
  return { ok: true, result };
};

function seedOf({ inputs: [input] }) {
  return input?.train.seed;
}

function simulate(protocol) {
  const events = draw(protocol, (i) => connectome.neuronId(i));
  return copyOf(engine.simulate(events, protocol));
}

function failure(message) {
  return { ok: false, failure: { code: 'GPU_FAILED', message } };
}
