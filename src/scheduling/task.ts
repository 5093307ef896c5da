/**
 * What crosses the thread: tasks in, outcomes out, all of it plain data. A task names the version of the API whose work
 * it is. Failures travel as data too, because structured clone strips an error of its code.
 */
import type { Experiment, View } from '../answers/v1/experiment.js';
import type { TrialReading, TrialTask } from '../answers/v2/trial.js';
import type { Trial } from '../engine/simulation.js';
import type { Failure } from '../errors.js';
import type { Ticket } from './ticket.js';

/** What every worker is given once, at its start. */
export interface WorkerData {
  /** The bytes of a connectome file that this process has already verified. */
  readonly connectome: SharedArrayBuffer;
}

/** A run of version 1, from the experiment to the bytes of the response. */
export interface V1RunTask {
  readonly kind: 'v1-run';
  readonly experiment: Experiment;
  readonly view: View;
  /** Whether the body is wanted compressed as well. */
  readonly gzip: boolean;
  /** What the GPU has simulated already, certified to be what the worker itself would compute. */
  readonly simulated?: Trial;
  /** Of a run that may be withdrawn. */
  readonly ticket?: Ticket;
}

/** One trial of an experiment of version 2. */
export interface V2TrialTask {
  readonly kind: 'v2-trial';
  readonly trial: TrialTask;
  /** As of a run. */
  readonly simulated?: Trial;
  /** Of a trial that may be withdrawn. */
  readonly ticket?: Ticket;
}

/** Answers once the worker is warm; sent to each worker before the service calls itself ready. */
export interface ProbeTask {
  readonly kind: 'probe';
}

/** Writes the atlas, which takes a while for a whole brain, off the main thread. */
export interface AtlasTask {
  readonly kind: 'atlas';
}

export type Task = V1RunTask | V2TrialTask | ProbeTask | AtlasTask;

/** What simulates; never shows in a body. */
export type Backend = 'cpu' | 'gpu';

export interface V1RunResult {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
  readonly backend: Backend;
  readonly spikes: number;
  readonly timings: TaskTimings;
}

export interface TaskTimings {
  readonly simulateMs: number;
  /** Readout, body and compression. */
  readonly serialiseMs: number;
}

export interface AtlasResult {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly jsonGzip: Uint8Array<ArrayBuffer>;
  readonly binary: Uint8Array<ArrayBuffer>;
  readonly binaryGzip: Uint8Array<ArrayBuffer>;
}

export interface ResultOf {
  readonly 'v1-run': V1RunResult;
  readonly 'v2-trial': TrialReading;
  readonly probe: undefined;
  readonly atlas: AtlasResult;
}

export type Outcome<Result> =
  { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly failure: Failure };
