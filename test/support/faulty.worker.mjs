/**
 * The built worker with faults for tests. Some seeds end it in the middle of a run. Some files, while they exist,
 * keep it from starting or from answering.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import answerTask from '../../dist/workers/pool/experiment.worker.js';
import { beginTask, endTask } from '../../dist/workers/pool/task.js';

const { FAULT_DELAY_MS, FAULT_HOLD_RUNS, FAULT_REFUSE_START, FAULT_SILENT_PROBES, FAULT_EXIT_RUNS } =
  process.env;
const { FAULT_EXIT_AFTER_TRIAL } = process.env;
const { FAULT_HOLD_TRIALS, FAULT_EXIT_SEED, FAULT_MEMORY_SEED, FAULT_SPIN_SEED, FAULT_THROW_SEED } =
  process.env;

if (FAULT_REFUSE_START && existsSync(FAULT_REFUSE_START)) {
  throw new Error('this worker was told not to start');
}
const answer = await answerTask;

export default (task) => {
  if (task.kind === 'probe') {
    while (FAULT_SILENT_PROBES && existsSync(FAULT_SILENT_PROBES)) wait(10);
  }
  if (task.kind === 'v1-run' || task.kind === 'v2-trial') return compute(task);
  return answer(task);
};

/** The fault is part of the run or trial, so that begins before it and ends after it. */
function compute({ flag, ...task }) {
  if (flag === undefined) return withFaults(task);
  // Withdrawn: the worker itself says so.
  if (!beginTask(flag)) return answer({ ...task, flag });
  try {
    return withFaults(task);
  } finally {
    endTask(flag);
  }
}

function withFaults(task) {
  if (FAULT_EXIT_RUNS && existsSync(FAULT_EXIT_RUNS)) process.exit(9);
  const number = task.kind === 'v1-run' ? task.experiment.seed : seedOfTrial(task.trial);
  if (FAULT_DELAY_MS) wait(Number(FAULT_DELAY_MS));
  while (task.kind === 'v1-run' && FAULT_HOLD_RUNS && existsSync(FAULT_HOLD_RUNS)) {
    // This file is the only sign that a run has begun.
    writeFileSync(`${FAULT_HOLD_RUNS}.begun`, '');
    wait(10);
  }
  if (task.kind === 'v2-trial' && FAULT_HOLD_TRIALS) while (existsSync(FAULT_HOLD_TRIALS)) wait(1);
  const seed = String(number);
  if (seed === FAULT_EXIT_SEED) process.exit(9);
  if (seed === FAULT_MEMORY_SEED) fillMemory();
  if (seed === FAULT_SPIN_SEED) for (;;);
  // Breaks deep inside, as a defect would.
  if (seed === FAULT_THROW_SEED) task.experiment = task.trial = undefined;
  const answered = answer(task);
  if (task.kind === 'v2-trial' && FAULT_EXIT_AFTER_TRIAL && existsSync(FAULT_EXIT_AFTER_TRIAL)) {
    rmSync(FAULT_EXIT_AFTER_TRIAL);
    process.exit(9);
  }
  return answered;
}

function seedOfTrial({ protocol: { inputs } }) {
  return inputs[0]?.train.seed;
}

function wait(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function fillMemory() {
  const kept = [];
  for (;;) kept.push(new Array(1_000_000).fill(kept.length));
}
