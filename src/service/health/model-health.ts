import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { CodedError, ERRORS } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { ExperimentThread } from '../../workers/thread/experiment-thread.js';
import type { ExperimentQueue } from '../../workers/queue/experiment-queue.js';
import type { GpuState } from '../../workers/gpu/gpu-stage.js';
import type { AtlasResult, Backend } from '../../workers/pool/task.js';

/** The loaded model, as request handlers use it. */
export interface LoadedModel {
  readonly id: string;
  readonly connectome: Connectome;
  readonly queue: ExperimentQueue;
  /** The thread that searches, plans and writes answers of version 2. */
  readonly experiments: ExperimentThread;
  readonly atlas: AtlasResult;
  readonly workers: WorkerCounts;
  readonly gpu: GpuState;
}

export interface WorkerCounts {
  readonly configured: number;
  readonly ready: number;
  /** Number of workers and experiment threads started to replace one that ended. */
  readonly restarts: number;
}

export type ModelState =
  | { readonly name: 'loading' }
  | { readonly name: 'ready'; readonly model: LoadedModel }
  | {
      readonly name: 'failed';
      readonly error: CodedError;
      /** Sentence for operators that may be published, or empty. */
      readonly advice: string;
      readonly retryAtMs: number;
    };

/** Retry-After while the model loads; the loading time is not known. */
const LOADING_RETRY_AFTER_S = 2;
const DRAINING_RETRY_AFTER_S = 5;

/** The state of the model. The model host sets it, and all users of the model read it here. */
@Injectable()
export class ModelHealth {
  readonly #ending = new AbortController();
  readonly #idleListeners: (() => void)[] = [];
  /** Aborted with DRAINING at the end of the time in which accepted work may finish. */
  readonly ending = this.#ending.signal;
  /** Emits after a model that was served has failed. */
  readonly lost = new Subject<void>();
  state: ModelState = { name: 'loading' };
  /** True if runs are refused, because the service is about to stop. */
  draining = false;
  #tasks = 0;

  /** Aborts accepted work that is not finished. */
  end(): void {
    this.#ending.abort(draining());
  }

  /**
   * Announces work that a client waits for, or a chunk of a job: a shutdown waits for it, and for nothing else.
   * @returns a function that ends the task; further calls do nothing
   */
  beginTask(): () => void {
    this.#tasks++;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#tasks--;
      if (this.#tasks === 0) for (const listener of this.#idleListeners.splice(0)) listener();
    };
  }

  /** Resolves when no announced task is pending. */
  async tasksDone(): Promise<void> {
    if (this.#tasks > 0) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  /**
   * @returns the model, for requests that only read it
   * @throws CodedError MODEL_LOADING, or MODEL_FAILED with the code of the cause
   */
  model(): LoadedModel {
    switch (this.state.name) {
      case 'ready':
        return this.state.model;
      case 'loading':
        throw new CodedError('MODEL_LOADING', 'The model is still being loaded; try again in a moment.', {
          retryAfterS: LOADING_RETRY_AFTER_S,
        });
      case 'failed':
        throw new CodedError(
          'MODEL_FAILED',
          // Not the message of the cause, which names files on this machine.
          `The model cannot be served at present (${this.state.error.code}). ` +
            [ERRORS[this.state.error.code].meaning, this.state.advice, 'The service keeps trying.']
              .filter(Boolean)
              .join(' '),
          { cause: this.state.error, retryAfterS: secondsUntil(this.state.retryAtMs) },
        );
    }
  }

  /**
   * @returns the model, for requests that simulate
   * @throws CodedError as model(), and DRAINING if the service is about to stop
   */
  modelForRuns(): LoadedModel {
    if (this.draining) throw draining();
    return this.model();
  }
}

/** Caches a value for each model. It is made on first use and lives as long as the model. */
export function perModel<T>(make: (model: LoadedModel) => T): (model: LoadedModel) => T {
  const made = new WeakMap<LoadedModel, T>();
  return (model) => getOrInsert(made, model, make);
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
