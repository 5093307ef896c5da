import { CodedError } from '../../engine/errors.js';
import { MS_PER_SECOND } from '../../engine/stimulus/protocol.js';
import { CORE_MS_PER_BRAIN_SECOND } from '../../experiments/plan/prices.js';
import { limitFor } from '../../workers/queue/client-shares.js';
import type { JobHead, JobRecord } from './job.js';
import type { JobLimits } from './job-store.js';

/** Jobs take minutes, so asking more often does not help. */
const RETRY_AFTER_S = 60;

/** The unfinished work at the time when a job is to begin. */
export interface Unfinished {
  /** Number of jobs of all clients. */
  readonly jobs: number;
  /** Number of jobs of this client. */
  readonly ownJobs: number;
  /** Remaining price of this client's jobs; see heldMs. */
  readonly ownMs: number;
}

/**
 * Remaining price of a job. Each remaining brain second costs the estimated price, or the measured one if that is
 * higher.
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
export function checkAdmission(
  { priceMs, document: { trials } }: Pick<JobRecord, 'priceMs' | 'document'>,
  { jobs, ownJobs, ownMs }: Unfinished,
  { atOnce, perClient, brainMsPerClient }: JobLimits,
): void {
  if (ownJobs >= perClient) throw full(`${perClient} jobs of this client are unfinished`);
  if (jobs >= limitFor(ownJobs, atOnce)) throw full(`${jobs} jobs are unfinished`);
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

/** The failure of a job whose results are too large. */
export function resultsTooLarge(resultBytes: number): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `The results of the job need more than ${resultBytes} bytes, the maximum. With fewer conditions, groups, trials ` +
      'or spikes they would fit.',
    { path: '/reports' },
  );
}

/** The failure of a job whose results have no room beside those of other unfinished jobs. */
export function noRoomForResults(maxBytes: number, whose: '' | ' of this client' = ''): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `The results of this and of the other unfinished jobs${whose} need more than ${maxBytes} bytes, the maximum of all ` +
      'of them together. Begin it again when others have ended.',
    { path: '/reports' },
  );
}

/** The failure of a job during which too many processes ended. */
export function tooManyDeaths(deaths: number): CodedError {
  const times = `${deaths} times without a new result`;
  return new CodedError('WORKER_LOST', `The service ended ${times} while it computed this job.`);
}

function full(what: string): CodedError {
  return new CodedError('QUEUE_FULL', `The queue is full: ${what}; try again later.`, {
    retryAfterS: RETRY_AFTER_S,
  });
}
