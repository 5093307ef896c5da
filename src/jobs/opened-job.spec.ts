import { NO_LIMITS } from '../../test/support/open-experiments.js';
import { smallConnectome } from '../../test/support/small-connectome.js';
import { parseDocument } from '../answers/v2/parse-document.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import type { JobRecord } from './job.js';
import { MemoryJobStore } from './memory-job-store.js';
import { JobEnded, OpenedJobs } from './opened-job.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const model = { id: 'model', connectome };
const document = parseDocument(
  {
    inputs: { s: { node_set: 'S_sugar', rate_hz: 100 } },
    reports: { all: { node_set: '@all', type: 'rate' } },
  },
  { conditions: 1, ids: 1 },
  [],
);
const record: JobRecord = {
  id: 'a',
  client: 'laboratory',
  model: 'model',
  experimentId: 'e',
  document,
  limits: NO_LIMITS,
  from: 0,
  conditions: 1,
  brainMs: 100,
  createdMs: 0,
};

describe('a job', () => {
  let store: MemoryJobStore;
  let jobs: OpenedJobs;

  beforeEach(() => {
    const limitsOfJobs = { perClient: 9, atOnce: 9, brainMsPerClient: 1e9, resultBytes: 1e6 };
    store = new MemoryJobStore({ ...limitsOfJobs, kept: 9, keptMs: 60_000, keptBytes: 1e6 });
    jobs = new OpenedJobs(store);
  });

  it('is planned once for all chunks that begin together, and anew after it was ended', async () => {
    await store.create(record);
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => jobs.open('a', model)));
    expect(others.every((other) => other === first)).toBe(true);
    first!.stop.abort();
    const [again, another] = await Promise.all([jobs.open('a', model), jobs.open('a', model)]);
    expect(again).not.toBe(first);
    expect(another).toBe(again);
  });

  it('that cannot be opened is looked for again', async () => {
    const together = await Promise.allSettled([jobs.open('a', model), jobs.open('a', model)]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(jobs.open('a', model)).rejects.toThrow(JobEnded);
    await store.create(record);
    expect((await jobs.open('a', model)).record).toEqual(record);
    await expect(jobs.open('a', { ...model, id: 'another' })).rejects.toThrow(
      'The job was begun with the model model, which is no longer served.',
    );
  });
});
