import { EXAMPLES } from './openapi-examples.js';

const { answer } = EXAMPLES;
const JOB = 'Xh4_t2VbqkM0cR-9sWfEy1uZ';
const HREF = `/api/v2/experiments/${JOB}`;
const SELF = { href: HREF, rel: 'self', type: 'application/json' };
const RESULTS = {
  href: `${HREF}/results`,
  rel: 'http://www.opengis.net/def/rel/ogc/1.0/results',
  type: 'application/json',
};
/** Of the first example of a request. */
const EXPERIMENT = { id: answer.id, model: answer.model, conditions: answer.conditions.length };

/** States of a job. */
export const JOB_EXAMPLES = {
  job: JOB,
  accepted: {
    jobID: JOB,
    type: 'process',
    status: 'accepted',
    progress: 0,
    created: '2026-11-20T09:00:00.000Z',
    updated: '2026-11-20T09:00:00.000Z',
    ...EXPERIMENT,
    conditions_done: 0,
    brain_seconds: answer.cost.brain_seconds,
    links: [SELF, RESULTS],
  },
  running: {
    jobID: JOB,
    type: 'process',
    status: 'running',
    progress: 50,
    created: '2026-11-20T09:00:00.000Z',
    started: '2026-11-20T09:00:02.120Z',
    updated: '2026-11-20T09:00:02.480Z',
    ...EXPERIMENT,
    conditions_done: 1,
    brain_seconds: answer.cost.brain_seconds,
    seconds_left: 1,
    links: [SELF, RESULTS],
  },
  dismissed: {
    jobID: JOB,
    type: 'process',
    status: 'dismissed',
    progress: 50,
    created: '2026-11-20T09:00:00.000Z',
    started: '2026-11-20T09:00:02.120Z',
    updated: '2026-11-20T09:00:02.600Z',
    finished: '2026-11-20T09:00:02.600Z',
    ...EXPERIMENT,
    conditions_done: 1,
    brain_seconds: answer.cost.brain_seconds,
    links: [SELF],
  },
} as const;
