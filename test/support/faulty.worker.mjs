/**
 * The built worker, only that it fails where a test asks for it: some seeds end it in the middle of a run, some
 * files, while they exist, keep it from starting or from answering.
 */
import { existsSync } from 'node:fs';
import answerTask from '../../dist/pool/experiment.worker.js';
import { begin } from '../../dist/pool/ticket.js';
import { isWarmUpSeed } from '../../dist/run/warm-up.js';

const { FAULT_DELAY_MS, FAULT_HOLD_RUNS, FAULT_REFUSE_START, FAULT_SILENT_PROBES, FAULT_EXIT_RUNS } =
  process.env;
const { FAULT_EXIT_SEED, FAULT_MEMORY_SEED, FAULT_SPIN_SEED, FAULT_THROW_SEED } = process.env;

if (FAULT_REFUSE_START && existsSync(FAULT_REFUSE_START)) {
  throw new Error('this worker was told not to start');
}
const answer = await answerTask;

export default (task) => {
  if (task.kind === 'probe') {
    while (FAULT_SILENT_PROBES && existsSync(FAULT_SILENT_PROBES)) wait(10);
  }
  if (task.kind === 'experiment') return run(task);
  return answer(task);
};

/** The fault is part of the run, so the run begins before it. */
function run({ ticket, ...task }) {
  // Taken back: the worker itself says so.
  if (ticket !== undefined && !begin(ticket)) return answer({ ...task, ticket });
  if (FAULT_EXIT_RUNS && existsSync(FAULT_EXIT_RUNS)) process.exit(9);
  if (!isWarmUpSeed(task.experiment.seed)) {
    if (FAULT_DELAY_MS) wait(Number(FAULT_DELAY_MS));
    while (FAULT_HOLD_RUNS && existsSync(FAULT_HOLD_RUNS)) wait(10);
    const seed = String(task.experiment.seed);
    if (seed === FAULT_EXIT_SEED) process.exit(9);
    if (seed === FAULT_MEMORY_SEED) fillMemory();
    if (seed === FAULT_SPIN_SEED) for (;;);
    // Breaks deep inside, as a defect would.
    if (seed === FAULT_THROW_SEED) task.experiment = undefined;
  }
  return answer(task);
}

function wait(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function fillMemory() {
  const kept = [];
  for (;;) kept.push(new Array(1_000_000).fill(kept.length));
}
