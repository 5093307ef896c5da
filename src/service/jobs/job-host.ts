import type { ExperimentThread } from '../../workers/thread/experiment-thread.js';
import type { ExperimentQueue } from '../../workers/queue/experiment-queue.js';

/** The members of a loaded model that jobs use. */
export interface JobModel {
  readonly id: string;
  readonly queue: Pick<
    ExperimentQueue,
    'runTrial' | 'trialsAtOnce' | 'trialsInFlight' | 'hasRoomForBackground'
  >;
  readonly experiments: Pick<ExperimentThread, 'openChunk'>;
}

/** The process that computes jobs. */
export interface JobHost {
  readonly state:
    { readonly name: 'ready'; readonly model: JobModel } | { readonly name: 'loading' | 'failed' };
  /** True after the process has stopped accepting work. */
  readonly draining: boolean;
  /** Aborted at the end of the time in which started work may finish. */
  readonly ending: AbortSignal;
  /** @throws CodedError if no model is loaded */
  modelForRuns(): JobModel;
  /**
   * Announces a chunk, so that shutdown waits for it.
   * @returns a function that ends it
   */
  beginTask(): () => void;
}
