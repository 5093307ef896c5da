import { apiPath } from '../http/api-versions.js';
import { ErrorResponse } from '../http/error-response.dto.js';
import { CodedError } from '../errors.js';
import { isFinished, type JobHead, type JobProgress, type JobState, type JobStatus } from '../jobs/job.js';

const MS_PER_SECOND = 1000;
const RESULTS_RELATION = 'http://www.opengis.net/def/rel/ogc/1.0/results';

/** The state of a job as clients see it: that of OGC API - Processes, and members of our own. */
export interface JobStatusInfo {
  readonly jobID: string;
  readonly type: 'process';
  readonly status: JobStatus;
  /** Per cent, 100 once it has succeeded. */
  readonly progress: number;
  readonly created: string;
  readonly started?: string;
  readonly updated: string;
  readonly finished?: string;
  /** Id of the experiment. */
  readonly id: string;
  readonly model: string;
  readonly conditions: number;
  readonly conditions_done: number;
  readonly brain_seconds: number;
  readonly seconds_left?: number;
  readonly error?: ErrorResponse;
  readonly links: readonly { readonly href: string; readonly rel: string; readonly type: string }[];
}

export function statusOf({ record, progress }: JobState, nowMs = Date.now()): JobStatusInfo {
  const { startedMs, updatedMs, finishedMs, status, failure } = progress;
  const secondsLeft = estimate(record, progress, nowMs);
  const href = `${apiPath('2', 'experiments')}/${record.id}`;
  return {
    jobID: record.id,
    type: 'process',
    status,
    progress: percent(record, progress),
    created: iso(record.createdMs),
    ...(startedMs !== undefined && { started: iso(startedMs) }),
    updated: iso(updatedMs),
    ...(finishedMs !== undefined && { finished: iso(finishedMs) }),
    id: record.experimentId,
    model: record.model,
    conditions: record.conditions,
    conditions_done: progress.conditionsDone,
    brain_seconds: record.brainMs / MS_PER_SECOND,
    ...(secondsLeft !== undefined && { seconds_left: secondsLeft }),
    ...(failure !== undefined && { error: new ErrorResponse(CodedError.fromFailure(failure)) }),
    links: [
      { href, rel: 'self', type: 'application/json' },
      ...(status === 'failed' || status === 'dismissed'
        ? []
        : [{ href: `${href}/results`, rel: RESULTS_RELATION, type: 'application/json' }]),
    ],
  };
}

/** By simulated time: conditions may differ in their duration. */
function percent({ brainMs }: JobHead, { status, brainMsDone }: JobProgress): number {
  if (status === 'successful') return 100;
  return Math.min(99, Math.floor((100 * brainMsDone) / brainMs));
}

/** As long for each brain second that is left as for those that are done. */
function estimate({ brainMs }: JobHead, progress: JobProgress, nowMs: number): number | undefined {
  const { startedMs, brainMsDone } = progress;
  if (isFinished(progress) || startedMs === undefined || brainMsDone === 0) return undefined;
  const leftMs = ((nowMs - startedMs) * (brainMs - brainMsDone)) / brainMsDone;
  return Math.max(1, Math.ceil(leftMs / MS_PER_SECOND));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
