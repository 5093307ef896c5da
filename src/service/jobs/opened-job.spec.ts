import { closeDiskJobs, openDiskJobs } from '../../../test/support/disk-jobs.js';
import { NO_LIMITS } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { parseDocument } from '../../experiments/document/parse-document.js';
import { encodeConnectome } from '../../engine/connectome/format.js';
import { ExperimentThread } from '../../workers/thread/experiment-thread.js';
import type { JobRecord } from './job.js';
import type { JobStore } from './job-store.js';
import { JobEnded, OpenedJobs } from './opened-job.js';

let experiments: ExperimentThread;
let model: { id: string; experiments: ExperimentThread };
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
  // A store may keep limits as JSON, which has no infinite numbers.
  limits: { ...NO_LIMITS, ...Object.fromEntries(Object.keys(NO_LIMITS).map((name) => [name, 1e9])) },
  from: 0,
  conditions: 1,
  brainMs: 100,
  priceMs: 100,
  createdMs: 0,
};

beforeAll(async () => {
  const bytes = encodeConnectome(smallConnectome());
  const connectome = new SharedArrayBuffer(bytes.length);
  new Uint8Array(connectome).set(bytes);
  experiments = await ExperimentThread.start({ connectome, documents: { ofAll: 8, ofClient: 8 } });
  model = { id: 'model', experiments };
});
afterAll(() => experiments.close());

describe('a job', () => {
  let store: JobStore;
  let jobs: OpenedJobs;

  afterEach(closeDiskJobs);
  beforeEach(async () => {
    ({ store } = await openDiskJobs());
    jobs = new OpenedJobs(store);
  });

  it('is planned once for all chunks', async () => {
    await store.create(record);
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => jobs.open('a', model)));
    expect(others.every((other) => other === first)).toBe(true);
    expect(await jobs.open('a', model)).toBe(first);
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
