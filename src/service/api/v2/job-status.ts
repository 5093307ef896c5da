import { apiPath } from '../../http/api-versions.js';
import { CodedError, errorBody } from '../../../engine/errors.js';
import { MS_PER_SECOND } from '../../../engine/stimulus/protocol.js';
import { ID } from '../../../experiments/document/result.js';
import { isFinished, JOB_STATUSES, type JobHead, type JobProgress, type JobState } from '../../jobs/job.js';
import {
  count,
  integer,
  listOf,
  number,
  object,
  oneOf,
  ref,
  text,
} from '../../../engine/schema/json-schema.js';

const RESULTS_RELATION = 'http://www.opengis.net/def/rel/ogc/1.0/results';

export const LINK = object('A link.', {
  href: text('Path, with the prefix that a trusted proxy strips.'),
  rel: text('Relation to the job.'),
  type: text('Media type.'),
});

export const JOB_STATUS = object('The state of a job, as in OGC API - Processes, with members of our own.', {
  jobID: text('Name of the job.', { pattern: '^[\\w-]{24}$' }),
  type: oneOf('Type of the job.', ['process']),
  status: oneOf('accepted: it waits for a worker. dismissed: it was ended.', JOB_STATUSES),
  progress: integer('Per cent of the simulated time that is done; 100 once it has succeeded.', {
    minimum: 0,
    maximum: 100,
  }),
  created: time('When it was accepted.'),
  'started?': time('When it was begun.'),
  updated: time('When this state last changed.'),
  'finished?': time('When it succeeded, failed or was dismissed.'),
  id: ID,
  model: text('Names the model, as `id` of GET /api/v1/model.'),
  conditions: count('Conditions that are computed: all of the experiment, unless `from` was given.', 1),
  conditions_done: count('Of these, the ones that are done.'),
  brain_seconds: number('Conditions x trials x duration, at most.', { minimum: 0 }),
  'seconds_left?': count('Estimate of the time left, from the pace so far.', 1),
  'error?': ref('ErrorResponse', 'The failure of the job.'),
  links: listOf('Paths of its state and its results.', ref('Link')),
});

function time(description: string) {
  return text(description, { format: 'date-time' });
}

/** @param prefix of the paths of its links, as publicPrefix returns it */
export function statusOf({ record, progress }: JobState, prefix: string) {
  const { startedMs, updatedMs, finishedMs, status, failure } = progress;
  const secondsLeft = estimate(record, progress);
  const href = `${prefix}${apiPath('2', 'experiments')}/${record.id}`;
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
    ...(failure !== undefined && { error: errorBody(CodedError.fromFailure(failure)) }),
    links: [
      { href, rel: 'self', type: 'application/json' },
      ...(status === 'failed' || status === 'dismissed'
        ? []
        : [{ href: `${href}/results`, rel: RESULTS_RELATION, type: 'application/json' }]),
    ],
  };
}

/** Uses simulated time, because conditions may differ in duration. */
function percent({ brainMs, conditions }: JobHead, { conditionsDone, brainMsDone }: JobProgress): number {
  if (conditionsDone === conditions) return 100;
  return Math.min(99, Math.floor((100 * brainMsDone) / brainMs));
}

/** Assumes that the remaining brain seconds take as long as the finished ones did. Both times are of one clock. */
function estimate({ brainMs }: JobHead, progress: JobProgress): number | undefined {
  const { startedMs, updatedMs, brainMsDone } = progress;
  if (isFinished(progress) || startedMs === undefined || brainMsDone === 0) return undefined;
  const leftMs = ((updatedMs - startedMs) * (brainMs - brainMsDone)) / brainMsDone;
  return Math.max(1, Math.ceil(leftMs / MS_PER_SECOND));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
