/**
 * Tasks and outcomes, as they cross threads: plain data. A task names the version of the API whose work
 * it is. Failures travel as data too, because structured clone strips an error of its code.
 */
import type { Experiment, View } from '../presets/experiment.js';
import type { RunBody } from '../presets/run-body.js';
import type {
  SessionStep,
  StepReading,
  TrialProgress,
  TrialReading,
  TrialTask,
} from '../experiments/plan/trial.js';
import type { Trial } from '../simulation/simulation.js';
import type { Failure } from '../errors.js';
import type { CancellationFlag } from './cancellation-flag.js';

/** Data for every worker at its start. */
export interface WorkerData {
  /** The bytes of a connectome file that this process has already verified. */
  readonly connectome: SharedArrayBuffer;
}

/** A run of version 1, from the experiment to the bytes of the response. */
export interface V1RunTask {
  readonly kind: 'v1-run';
  readonly experiment: Experiment;
  readonly view: View;
  /** Tells whether the body is wanted compressed as well. */
  readonly gzip: boolean;
  /** Spikes that the GPU has simulated already, certified to be what the worker itself would compute. */
  readonly simulated?: Trial;
  /** Flag of a run that may be withdrawn. */
  readonly flag?: CancellationFlag;
}

/** One trial of an experiment of version 2. */
export interface V2TrialTask {
  readonly kind: 'v2-trial';
  readonly trial: TrialTask;
  /** As of a run. */
  readonly simulated?: Trial;
  /** How far a long trial is: others come between its parts. */
  readonly progress?: TrialProgress;
  /** There where it is a step of a session. */
  readonly step?: SessionStep;
  /** Flag of a trial that may be withdrawn. */
  readonly flag?: CancellationFlag;
}

/** Writes the atlas, which takes a while for a whole brain, off the main thread. */
export interface AtlasTask {
  readonly kind: 'atlas';
}

/** A probe is answered once the worker is warm; each worker has one before the service calls itself ready. */
export type Task = V1RunTask | V2TrialTask | AtlasTask | { readonly kind: 'probe' };

/** Kinds that wait for their turn. */
export type QueuedKind = 'v1-run' | 'v2-trial';

/** Backend that simulates; never shows in a body. */
export type Backend = 'cpu' | 'gpu';

export interface V1RunResult {
  readonly body: RunBody;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
  readonly backend: Backend;
  readonly spikes: number;
  /** `serialiseMs` is that of readout, body and compression. */
  readonly timings: { readonly simulateMs: number; readonly serialiseMs: number };
}

export interface AtlasResult {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly jsonGzip: Uint8Array<ArrayBuffer>;
  readonly binary: Uint8Array<ArrayBuffer>;
  readonly binaryGzip: Uint8Array<ArrayBuffer>;
  /** The part of `binary` with which it can be drawn, compressed. */
  readonly startGzip: Uint8Array<ArrayBuffer>;
}

export interface ResultOf {
  readonly 'v1-run': V1RunResult;
  readonly 'v2-trial': TrialReading | TrialProgress | StepReading;
  readonly probe: undefined;
  readonly atlas: AtlasResult;
}

export type Outcome<Result> =
  { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly failure: Failure };
