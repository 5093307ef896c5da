/** Messages between the thread of a page and the worker that holds the brain. */
import type { Failure } from '../../src/engine/errors.js';
import type { TrialResult, TrialTask } from '../../src/experiments/plan/trial.js';
import type { Kernels } from './computer.js';
import type { LocalRequest } from './local-service.js';

/** The first message to the worker that answers requests. */
export interface Opening {
  readonly kind: 'open';
  /** The bytes of a connectome file, also compressed with gzip. */
  readonly file: ArrayBuffer;
  /** Names the file in errors. */
  readonly source: string;
  readonly kernels: Kernels;
  /** Ports to the helpers, which only compute trials. */
  readonly helpers: readonly MessagePort[];
}

/** The first message to a helper: its end of such a port. */
export interface Helping {
  readonly kind: 'help';
  readonly trials: MessagePort;
}

/** The first message through such a port. The bytes are checked. */
export interface OpenedBrain {
  readonly connectome: ArrayBuffer;
  readonly kernels: Kernels;
}

/** To a worker. A request is answered once; its further pieces are sent on demand. */
export type ToWorker =
  | Opening
  | Helping
  | ({ readonly kind: 'ask'; readonly id: number } & LocalRequest)
  | { readonly kind: 'next' | 'stop'; readonly id: number };

/** From a worker. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** The whole body; absent if it comes in pieces. */
      readonly body?: Uint8Array<ArrayBuffer>;
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece?: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'broken'; readonly id: number; readonly failure: Failure };

/** To and from a helper. */
export interface AskedTrial {
  readonly id: number;
  /** Absent if the trial of this number is to stop. */
  readonly task?: TrialTask;
}
export interface AnsweredTrial {
  readonly id: number;
  readonly result?: TrialResult;
  readonly failure?: Failure;
}
