import type { ExperimentThread } from '../scheduling/experiment-thread/experiment-thread.js';
import type { ExperimentQueue } from '../scheduling/experiment-queue.js';

/** The model that a process serves, as far as jobs need it. */
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
    | { readonly name: 'ready'; readonly model: JobModel }
    | { readonly name: 'loading' | 'warming' | 'failed' };
  /** True from the moment on when it takes no more work. */
  readonly draining: boolean;
  /** Aborted when the time to finish what was begun is over. */
  readonly ending: AbortSignal;
  /** @throws CodedError where it computes nothing at present */
  modelForRuns(): JobModel;
  /** Announces a chunk. Returns the function that ends it. */
  beginLongTask(): () => void;
}
