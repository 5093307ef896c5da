import { CodedError } from '../errors.js';
import type { JobRecord } from './job.js';
import type { JobLimits } from './job-store.js';

/** Jobs take minutes; asking more often does not help. */
const RETRY_AFTER_S = 60;
const MS_PER_SECOND = 1000;

/** What is unfinished when a job is to begin. */
export interface Unfinished {
  /** Of all clients. */
  readonly jobs: number;
  /** Of the client. */
  readonly ownJobs: number;
  readonly ownBrainMs: number;
}

/** @throws CodedError QUEUE_FULL, TOO_EXPENSIVE */
export function checkBounds(
  { brainMs, document: { trials } }: Pick<JobRecord, 'brainMs' | 'document'>,
  { jobs, ownJobs, ownBrainMs }: Unfinished,
  { atOnce, perClient, brainMsPerClient }: JobLimits,
): void {
  if (jobs >= atOnce) throw full(`${atOnce} jobs are unfinished`);
  if (ownJobs >= perClient) throw full(`${perClient} jobs of this client are unfinished`);
  const freeMs = brainMsPerClient - ownBrainMs;
  if (brainMs <= freeMs) return;
  const fitting = Math.floor((trials * freeMs) / brainMs);
  throw new CodedError(
    'TOO_EXPENSIVE',
    `The job has ${brainMs / MS_PER_SECOND} brain seconds and the unfinished jobs of this client have ` +
      `${ownBrainMs / MS_PER_SECOND}; together at most ${brainMsPerClient / MS_PER_SECOND} are allowed. ` +
      (fitting >= 1
        ? `With ${fitting} ${fitting === 1 ? 'trial' : 'trials'} it would fit.`
        : 'It fits when another job of this client has ended.'),
    { path: fitting >= 1 ? '/trials' : '' },
  );
}

/** What a job fails with. */
export function resultsTooLarge(resultBytes: number): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `The results of the job need more than ${resultBytes} bytes, the maximum. With fewer conditions, groups, trials ` +
      'or spikes they would fit.',
    { path: '/reports' },
  );
}

/** What a job fails with whose results find no room beside those of others, which are not finished either. */
export function noRoomForResults(keptBytes: number): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `The results of this and of the other unfinished jobs need more than ${keptBytes} bytes, the maximum of all jobs ` +
      'together. Begin it again when others have ended.',
    { path: '/reports' },
  );
}

function full(what: string): CodedError {
  return new CodedError('QUEUE_FULL', `The queue is full: ${what}; try again later.`, {
    retryAfterS: RETRY_AFTER_S,
  });
}
