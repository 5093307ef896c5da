import { closeDiskJobs, openDiskJobs } from '../../../test/support/disk-jobs.js';
import { CodedError } from '../../engine/errors.js';
import type { ThreadWork } from '../../workers/thread/thread-work.js';
import { MemoryChunkQueue } from './memory-chunk-queue.js';
import { ChunkWorker } from './chunk-worker.js';
import type { Chunk, JobRecord } from './job.js';
import type { JobHost, JobModel } from './job-host.js';

const RECORD = {
  ...{ id: 'a', client: 'laboratory', model: 'model', experimentId: 'e', from: 0, conditions: 3 },
  ...{ brainMs: 300, priceMs: 300, createdMs: 0, document: { trials: 1 }, limits: {} },
} as JobRecord;
const chunkOf = (from: number): Chunk => ({
  ...{ job: 'a', model: 'model', phase: 0, from, to: from + 1, before: 0 },
});

/** A process whose thread of experiments computes a condition in no time, or fails. */
async function openWorker(failure?: CodedError) {
  const chunk = async function* (_: unknown, [index]: readonly number[]) {
    if (failure !== undefined) throw failure;
    yield { index: index!, bytes: new Uint8Array(1), brainMs: 100 };
  };
  const done = () => undefined;
  const work = { call: async () => [[0, 1, 2]], chunk, setMaxInFlight: done, stop: done, end: done };
  const model: JobModel = {
    id: 'model',
    queue: { trialsInFlight: 4, trialsAtOnce: 1, hasRoomForBackground: true } as JobModel['queue'],
    experiments: { openChunk: () => work as unknown as ThreadWork },
  };
  const host = {
    state: { name: 'ready', model },
    draining: false as boolean,
    ending: new AbortController().signal,
    modelForRuns: () => model,
    beginTask: () => done,
  } satisfies JobHost;
  const { store } = await openDiskJobs();
  const worker = new ChunkWorker(host, store, new MemoryChunkQueue());
  const outcomes: string[] = [];
  worker.reports.subscribe(({ outcome }) => outcomes.push(outcome));
  return { host, store, worker, outcomes };
}

afterEach(closeDiskJobs);

it('reports a chunk as done, or as ended if its job ended before it began', async () => {
  const { store, worker, outcomes } = await openWorker();
  await store.create(RECORD);
  await worker.compute(chunkOf(0));
  expect((await store.state('a'))!.progress.conditionsDone).toBe(1);
  // In another process.
  await store.dismiss('a');
  await worker.compute(chunkOf(1));
  expect(outcomes).toEqual(['done', 'ended']);
  expect(worker.computing).toBe(0);
});

it('reports a chunk as failed once its job is given up, and as retried if that is left to others', async () => {
  const failure = new CodedError('TOO_EXPENSIVE', 'It is too large.', { path: '/reports' });
  const { host, store, worker, outcomes } = await openWorker(failure);
  await store.create(RECORD);
  const refused = new Error('READONLY You cannot write against a replica.');
  const fail = jest.spyOn(store, 'fail').mockRejectedValueOnce(refused);
  host.draining = true;
  await expect(worker.compute(chunkOf(0))).rejects.toThrow('READONLY');
  host.draining = false;
  await worker.compute(chunkOf(0));
  expect(outcomes).toEqual(['retried', 'failed']);
  expect(fail).toHaveBeenCalledTimes(2);
  expect((await store.state('a'))!.progress).toMatchObject({
    status: 'failed',
    failure: { code: 'TOO_EXPENSIVE' },
  });
});
