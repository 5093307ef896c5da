/**
 * Tasks and their answers, as plain data that threads can exchange. The name of a task tells the version of the API.
 * Failures travel as data too, because structured clone would drop the code of an error.
 */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Experiment, View } from '../../experiments/presets/experiment.js';
import type { RunBody } from '../../experiments/presets/run-body.js';
import type {
  SessionStep,
  StepResult,
  TrialProgress,
  TrialResult,
  TrialTask,
} from '../../experiments/plan/trial.js';
import type { Trial } from '../../engine/simulation/simulation.js';
import type { Failure } from '../../engine/errors.js';

/** Passed to every worker at its start. */
export interface WorkerData {
  /** The bytes of a connectome file that this process has already verified. */
  readonly connectome: SharedArrayBuffer;
}

/** A run of version 1; the worker turns the experiment into the bytes of the response. */
export interface V1RunTask {
  readonly kind: 'v1-run';
  readonly experiment: Experiment;
  readonly view: View;
  /** True if the response is also needed in compressed form. */
  readonly gzip: boolean;
  /** Spikes that the GPU simulated, certified to equal those of the CPU. */
  readonly simulated?: Trial;
  /** Present if the run may be withdrawn. */
  readonly flag?: CancellationFlag;
}

/** One trial of an experiment of version 2. */
export interface V2TrialTask {
  readonly kind: 'v2-trial';
  readonly trial: TrialTask;
  /** As in V1RunTask. */
  readonly simulated?: Trial;
  /** State of an unfinished long trial; other tasks run between its segments. */
  readonly progress?: TrialProgress;
  /** Present if the task is a step of a session. */
  readonly step?: SessionStep;
  /** Present if the trial may be withdrawn. */
  readonly flag?: CancellationFlag;
}

/** Writes the atlas off the main thread, because a whole brain's takes long. */
export interface AtlasTask {
  readonly kind: 'atlas';
}

/** A worker answers a probe after it has warmed up. The service is ready after every worker has answered one. */
export type Task = V1RunTask | V2TrialTask | AtlasTask | { readonly kind: 'probe' };

/** Kinds of tasks that go through the queue. */
export type QueuedKind = 'v1-run' | 'v2-trial';

/** The backend that simulated. Bodies never contain it, because results do not depend on it. */
export type Backend = 'cpu' | 'gpu';

export interface V1RunResult {
  readonly body: RunBody;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
  readonly backend: Backend;
  readonly spikes: number;
  /** `serialiseMs` covers readout, body and compression. */
  readonly timings: { readonly simulateMs: number; readonly serialiseMs: number };
}

/** The atlas in its forms. */
export type AtlasResult = Readonly<Record<'json' | 'binary' | 'ids', Uint8Array<ArrayBuffer>>>;

export interface ResultOf {
  readonly 'v1-run': V1RunResult;
  readonly 'v2-trial': TrialResult | TrialProgress | StepResult;
  readonly probe: undefined;
  readonly atlas: AtlasResult;
}

export type Outcome<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly failure: Failure };

/** Smaller arrays are copied, which is faster than transferring them. */
const LEAST_BYTES = 4096;

/**
 * Wraps a result for Piscina, so that large arrays are transferred and not copied.
 * @param arrays arrays of the result; no other array may use their memory
 */
export function transfer<Result>(
  result: Result,
  arrays: readonly (ArrayBufferView | undefined)[],
): Outcome<Result> {
  const outcome: Outcome<Result> = { ok: true, result };
  const given = arrays.filter((array) => array !== undefined).map(({ buffer }) => buffer);
  const buffers = new Set(given.filter(({ byteLength }) => byteLength >= LEAST_BYTES));
  // Piscina reads these two members in the worker; its types allow only single transferables.
  return move({
    [transferableSymbol]: [...buffers],
    [valueSymbol]: outcome,
  } as never) as unknown as Outcome<Result>;
}

/**
 * State of a task that a worker has received, in memory that both threads share. The queue may withdraw a task until
 * its worker begins it. The first thread to change the flag wins, so no task is both begun and withdrawn. If a worker
 * dies, its flags tell which task it was computing.
 */
export type CancellationFlag = Int32Array<SharedArrayBuffer>;

const HANDED = 0;
const BEGUN = 1;
const ENDED = 2;
const WITHDRAWN = 3;

/** Flags share buffers, because allocating a buffer takes longer than sending a message. No flag is used twice. */
const FLAGS_IN_BUFFER = 1024;
let buffer = new SharedArrayBuffer(0);
let usedBytes = 0;

/** Each handing-over needs a new flag: a worker that is being stopped may still read the old one. */
export function newCancellationFlag(): CancellationFlag {
  const { BYTES_PER_ELEMENT: bytes } = Int32Array;
  if (usedBytes === buffer.byteLength) {
    buffer = new SharedArrayBuffer(FLAGS_IN_BUFFER * bytes);
    usedBytes = 0;
  }
  const flag = new Int32Array(buffer, usedBytes, 1);
  usedBytes += bytes;
  return flag;
}

/**
 * Called by the worker.
 * @returns false if the task was withdrawn
 */
export function beginTask(flag: CancellationFlag): boolean {
  return Atomics.compareExchange(flag, 0, HANDED, BEGUN) === HANDED;
}

/** Called by the worker before it sends its answer. */
export function endTask(flag: CancellationFlag): void {
  Atomics.store(flag, 0, ENDED);
}

/** @returns true if the task was withdrawn before a worker began it */
export function withdrawTask(flag: CancellationFlag): boolean {
  return Atomics.compareExchange(flag, 0, HANDED, WITHDRAWN) === HANDED;
}

/** @returns true if a worker is computing the task, or died during it */
export function isUnderWay(flag: CancellationFlag): boolean {
  return Atomics.load(flag, 0) === BEGUN;
}
