import type { JobHead, JobProgress } from '../../jobs/job.js';
import { statusOf } from './job-status.js';

const HEAD = { id: 'a', experimentId: 'e', model: 'm', conditions: 4, brainMs: 400, createdMs: 0 } as JobHead;

it('estimates the time left by one clock only, that of the store', () => {
  const progress: JobProgress = {
    ...{ status: 'running', conditionsDone: 1, brainMsDone: 100, highestCostMs: 5, resultBytes: 9 },
    // A replica whose clock is an hour behind.
    ...{ startedMs: Date.now() + 3_600_000, updatedMs: Date.now() + 3_602_000 },
  };
  expect(statusOf({ record: HEAD, progress }, '')).toMatchObject({ progress: 25, seconds_left: 6 });
});

it('keeps the progress of a job that is dismissed after its success', () => {
  const progress: JobProgress = {
    ...{ status: 'dismissed', conditionsDone: 4, brainMsDone: 400, highestCostMs: 5, resultBytes: 9 },
    ...{ startedMs: 1, updatedMs: 2, finishedMs: 2 },
  };
  expect(statusOf({ record: HEAD, progress }, '')).toMatchObject({ progress: 100, conditions_done: 4 });
});
