import { CodedError } from '../errors.js';
import { CORE_MS_PER_BRAIN_SECOND } from '../experiments/plan/prices.js';
import { placesFor } from '../scheduling/client-shares.js';
import type { JobHead, JobRecord } from './job.js';
import type { JobLimits } from './job-store.js';

/** Jobs take minutes; asking more often does not help. */
const RETRY_AFTER_S = 60;
const MS_PER_SECOND = 1000;

/** Unfinished work when a job is to begin. */
export interface Unfinished {
  /** Jobs of all clients. */
  readonly jobs: number;
  /** Jobs of the client. */
  readonly ownJobs: number;
  /** Time left of them, by heldMs. */
  readonly ownMs: number;
}

/**
 * Price of what is left of a job: of each brain second as much as the whole was expected to cost, or what those took
 * that were computed, where that is more.
 */
export function heldMs(
  { brainMs, priceMs }: Pick<JobHead, 'brainMs' | 'priceMs'>,
  brainMsDone: number,
  timed: { readonly brainMs: number; readonly costMs: number },
): number {
  const taken = (timed.costMs * MS_PER_SECOND) / (CORE_MS_PER_BRAIN_SECOND * Math.max(1, timed.brainMs));
  return Math.ceil((brainMs - brainMsDone) * Math.max(priceMs / Math.max(1, brainMs), taken));
}

/** @throws CodedError QUEUE_FULL, TOO_EXPENSIVE */
export function checkBounds(
  { priceMs, document: { trials } }: Pick<JobRecord, 'priceMs' | 'document'>,
  { jobs, ownJobs, ownMs }: Unfinished,
  { atOnce, perClient, brainMsPerClient }: JobLimits,
): void {
  if (ownJobs >= perClient) throw full(`${perClient} jobs of this client are unfinished`);
  if (jobs >= placesFor(ownJobs, atOnce)) throw full(`${jobs} jobs are unfinished`);
  const freeMs = brainMsPerClient - ownMs;
  if (priceMs <= freeMs) return;
  const fitting = Math.floor((trials * freeMs) / priceMs);
  throw new CodedError(
    'TOO_EXPENSIVE',
    `The job costs ${priceMs / MS_PER_SECOND} brain seconds and the unfinished jobs of this client cost ` +
      `${ownMs / MS_PER_SECOND}; together at most ${brainMsPerClient / MS_PER_SECOND} are allowed. ` +
      (fitting >= 1
        ? `With ${fitting} ${fitting === 1 ? 'trial' : 'trials'} it would fit.`
        : ownMs > 0
          ? 'It fits when another job of this client has ended.'
          : 'Fewer conditions, stimulated neurons or groups of reports would fit.'),
    { path: fitting >= 1 ? '/trials' : '' },
  );
}

/** Failure of a job. */
export function resultsTooLarge(resultBytes: number): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `The results of the job need more than ${resultBytes} bytes, the maximum. With fewer conditions, groups, trials ` +
      'or spikes they would fit.',
    { path: '/reports' },
  );
}

/** Failure of a job whose results find no room beside those of others, which are not finished either. */
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
