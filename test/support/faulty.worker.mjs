/**
 * The built worker, only that it fails where a test asks for it: some seeds end it in the middle of a run, some
 * files, while they exist, keep it from starting or from answering.
 */
import { existsSync } from 'node:fs';
import answerTask from '../../dist/pool/experiment.worker.js';

const { FAULT_DELAY_MS, FAULT_REFUSE_START, FAULT_SILENT_PROBES } = process.env;
const EXIT_SEED = 4_000_000_001;
const MEMORY_SEED = 4_000_000_002;
const SPIN_SEED = 4_000_000_003;

if (FAULT_REFUSE_START && existsSync(FAULT_REFUSE_START)) {
  throw new Error('this worker was told not to start');
}
const answer = await answerTask;

export default (task) => {
  if (task.kind === 'probe' && FAULT_SILENT_PROBES && existsSync(FAULT_SILENT_PROBES)) spin();
  if (task.kind === 'experiment') {
    if (FAULT_DELAY_MS) wait(Number(FAULT_DELAY_MS));
    if (task.experiment.seed === EXIT_SEED) process.exit(9);
    if (task.experiment.seed === MEMORY_SEED) fillMemory();
    if (task.experiment.seed === SPIN_SEED) spin();
  }
  return answer(task);
};

function wait(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function spin() {
  for (;;) wait(10);
}

function fillMemory() {
  const kept = [];
  for (;;) kept.push(new Array(100_000).fill(kept.length));
}
