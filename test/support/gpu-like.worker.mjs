/**
 * A worker that pretends to hold a GPU: its batches are simulated by the CPU engine. It has the faults of a real
 * one, each for experiments of a seed of its own.
 */
import { workerData } from 'node:worker_threads';
import { viewConnectome } from '../../dist/connectome/sections.js';
import { KernelEngine } from '../../dist/engine/backends/cpu/kernel-engine.js';
import { ExperimentRunner } from '../../dist/answers/v1/run-body.js';
import { compileKernel } from '../../dist/pool/kernel-file.js';

const UNCERTIFIED_SEED = 1_001;
const CRASH_SEED = 1_002;
const HANG_SEED = 1_003;
const DEVICE_LOST_SEED = 1_004;

const connectome = viewConnectome(workerData.connectome);
const runner = new ExperimentRunner(connectome, new KernelEngine(compileKernel(), connectome));

export default (task) => {
  if (task.kind === 'probe') {
    return { ok: true, result: { backend: 'gpu', gpu: { adapter: 'a pretended GPU', widths: [1, 4] } } };
  }
  const seeds = new Set(task.experiments.map(({ seed }) => seed));
  if (seeds.has(CRASH_SEED)) process.kill(process.pid, 'SIGSEGV');
  if (seeds.has(HANG_SEED)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (seeds.has(DEVICE_LOST_SEED)) return failure('The device was lost.');
  const result = task.experiments.map((experiment) =>
    experiment.seed === UNCERTIFIED_SEED
      ? undefined
      : runner.simulate(experiment, runner.inputEventsOf(experiment)),
  );
  return { ok: true, result };
};

function failure(message) {
  return { ok: false, failure: { code: 'GPU_FAILED', message } };
}
