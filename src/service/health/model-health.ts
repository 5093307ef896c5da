import { Injectable } from '@nestjs/common';
import type { Connectome } from '../../connectome/connectome.js';
import { CodedError, ERRORS } from '../../errors.js';
import { getOrInsert } from '../../get-or-insert.js';
import type { ExperimentThread } from '../../scheduling/experiment-thread/experiment-thread.js';
import type { ExperimentQueue } from '../../scheduling/experiment-queue.js';
import type { GpuState } from '../../scheduling/gpu/gpu-stage.js';
import type { AtlasResult, Backend } from '../../scheduling/task.js';

/** The loaded model, as request handlers use it. */
export interface LoadedModel {
  readonly id: string;
  readonly connectome: Connectome;
  readonly queue: ExperimentQueue;
  /** Searches, plans, and writes answers of version 2. */
  readonly experiments: ExperimentThread;
  readonly atlas: AtlasResult;
  readonly workers: WorkerCounts;
  readonly gpu: GpuState;
}

export interface WorkerCounts {
  readonly configured: number;
  readonly ready: number;
  /** Workers, and threads of experiments, that were started to replace one that ended. */
  readonly restarts: number;
}

export type ModelState =
  | { readonly name: 'loading' }
  /** Runs are accepted, but the first ones would be slow. */
  | { readonly name: 'warming'; readonly model: LoadedModel }
  | { readonly name: 'ready'; readonly model: LoadedModel }
  | { readonly name: 'failed'; readonly error: CodedError; readonly retryAtMs: number };

/** Retry-After while the model loads; how long that takes is not known. */
const LOADING_RETRY_AFTER_S = 2;
const DRAINING_RETRY_AFTER_S = 5;

/** The state of the model. The model host sets it; all users of the model read it here. */
@Injectable()
export class ModelHealth {
  readonly #ending = new AbortController();
  readonly #idleListeners: (() => void)[] = [];
  /** Aborted with DRAINING when the time to finish what was accepted is over. */
  readonly ending = this.#ending.signal;
  state: ModelState = { name: 'loading' };
  /** Tells whether runs are refused, because the service is about to stop. */
  draining = false;
  #longTasks = 0;

  /** Ends what was accepted and is not finished. */
  end(): void {
    this.#ending.abort(draining());
  }

  /**
   * Announces a task that gives the workers more than one thing to do, such as an experiment of many trials.
   * @returns what ends the task
   */
  beginLongTask(): () => void {
    this.#longTasks++;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#longTasks--;
      if (this.#longTasks === 0) for (const listener of this.#idleListeners.splice(0)) listener();
    };
  }

  /** Resolves when no such task is under way. */
  async longTasksDone(): Promise<void> {
    if (this.#longTasks > 0) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  /**
   * @returns the model, for requests that only read it
   * @throws CodedError MODEL_LOADING, or MODEL_FAILED with the code of the cause
   */
  model(): LoadedModel {
    switch (this.state.name) {
      case 'warming':
      case 'ready':
        return this.state.model;
      case 'loading':
        throw loading('The model is still being loaded');
      case 'failed':
        throw new CodedError(
          'MODEL_FAILED',
          // Not the message of the cause, which names files on this machine.
          `The model cannot be served at present (${this.state.error.code}). ` +
            `${ERRORS[this.state.error.code].meaning} The service keeps trying.`,
          { cause: this.state.error, retryAfterS: secondsUntil(this.state.retryAtMs) },
        );
    }
  }

  /**
   * @returns the model, for running an experiment
   * @throws CodedError as model(), and DRAINING if the service is about to stop
   */
  modelForRuns(): LoadedModel {
    if (this.draining) throw draining();
    return this.model();
  }

  /**
   * @returns the model, once it is warm
   * @throws CodedError as modelForRuns(), and MODEL_LOADING while the service warms up
   */
  modelWhenReady(): LoadedModel {
    const model = this.modelForRuns();
    if (this.state.name === 'ready') return model;
    throw loading('The model is loaded and warming up');
  }
}

/** Something that is made of a model when it is first asked for, and kept as long as the model. */
export function perModel<T>(make: (model: LoadedModel) => T): (model: LoadedModel) => T {
  const made = new WeakMap<LoadedModel, T>();
  return (model) => getOrInsert(made, model, make);
}

function loading(how: string): CodedError {
  return new CodedError('MODEL_LOADING', `${how}; try again in a moment.`, {
    retryAfterS: LOADING_RETRY_AFTER_S,
  });
}

function draining(): CodedError {
  return new CodedError('DRAINING', 'The service is shutting down; try again in a moment.', {
    retryAfterS: DRAINING_RETRY_AFTER_S,
  });
}

/** The backend that simulates batches of runs. */
export function backendOf(gpu: GpuState): Backend {
  return gpu.name === 'ready' ? 'gpu' : 'cpu';
}

function secondsUntil(momentMs: number): number {
  return Math.max(1, Math.ceil((momentMs - performance.now()) / 1000) + 1);
}
