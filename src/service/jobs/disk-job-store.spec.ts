import { closeDiskJobs, openDiskJobs } from '../../../test/support/disk-jobs.js';
import type { DiskJobStore, DiskLimits } from './disk-job-store.js';
import type { JobRecord } from './job.js';
import type { ComputedCondition } from './job-store.js';

const LIMITS: DiskLimits = {
  perClient: 10,
  atOnce: 20,
  brainMsPerClient: 1e9,
  resultBytes: 100,
  maxFinished: 3,
  storedForMs: 60_000,
  maxStoredBytes: 250,
  unfinishedBytesPerClient: 300,
};

const record = (id: string, more: Partial<JobRecord> = {}): JobRecord => ({
  id,
  client: 'laboratory',
  model: 'model',
  experimentId: 'e',
  document: { trials: 10 } as JobRecord['document'],
  limits: {} as JobRecord['limits'],
  from: 0,
  conditions: 2,
  brainMs: 2000,
  priceMs: 2000,
  createdMs: 0,
  ...more,
});
const condition = (index: number, bytes: number): ComputedCondition => ({
  index,
  result: Buffer.alloc(bytes, index),
  brainMs: 1000,
  costMs: 5,
});

const open = async () => (await openDiskJobs(LIMITS)).store;
afterEach(closeDiskJobs);

async function finishedJob(
  store: DiskJobStore,
  id: string,
  bytes: number,
  client = 'laboratory',
): Promise<void> {
  await store.create(record(id, { client }));
  await store.keep(id, condition(0, bytes / 2), 2);
  await store.keep(id, condition(1, bytes / 2), 2);
}
const statuses = (store: DiskJobStore, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await store.state(id))?.progress.status));

it('removes the jobs that finished longest ago: beyond their number, and if their bytes are needed', async () => {
  const store = await open();
  await store.create(record('unfinished'));
  for (const id of ['a', 'b', 'c']) await finishedJob(store, id, 40);
  expect(await statuses(store, 'a', 'b', 'c')).toEqual(['successful', 'successful', 'successful']);
  await finishedJob(store, 'd', 80);
  expect(await statuses(store, 'a', 'b', 'c', 'd')).toEqual([
    undefined,
    'successful',
    'successful',
    'successful',
  ]);
  // 160 of 250 bytes are used.
  await store.create(record('e'));
  await store.keep('e', condition(0, 90), 2);
  expect(await statuses(store, 'b', 'c')).toEqual(['successful', 'successful']);
  await store.create(record('f'));
  await store.keep('f', condition(0, 60), 2);
  expect(await statuses(store, 'b', 'c', 'd')).toEqual([undefined, undefined, 'successful']);
  expect(await statuses(store, 'unfinished', 'e', 'f')).toEqual(['accepted', 'accepted', 'accepted']);
});

it('removes no job to make room whose results are gone', async () => {
  const store = await open();
  await finishedJob(store, 'a', 100);
  await finishedJob(store, 'b', 100);
  await store.dismiss('a');
  await store.create(record('c'));
  await store.create(record('d'));
  await store.keep('c', condition(0, 100), 2);
  expect(await store.keep('d', condition(0, 80), 2)).toBe(true);
  expect(await statuses(store, 'a', 'b', 'c', 'd')).toEqual(['dismissed', undefined, 'accepted', 'accepted']);
});

it('makes no room for results that are too large', async () => {
  const store = await open();
  await finishedJob(store, 'a', 100);
  await finishedJob(store, 'b', 100);
  await store.create(record('c'));
  expect(await store.keep('c', condition(0, 120), 2)).toBe(false);
  expect(await statuses(store, 'a', 'b', 'c')).toEqual(['successful', 'successful', 'failed']);
});

it('fails a job whose results are too large, or for which unfinished jobs leave no room', async () => {
  const store = await open();
  await store.create(record('a'));
  expect(await store.keep('a', condition(0, 60), 2)).toBe(true);
  expect(await store.keep('a', condition(1, 60), 2)).toBe(false);
  const failureOf = async (id: string) => (await store.state(id))!.progress.failure;
  expect(await failureOf('a')).toMatchObject({
    code: 'TOO_EXPENSIVE',
    message: expect.stringMatching(/^The results of the job need more than 100 bytes, the maximum\./),
  });
  for (const id of ['b', 'c', 'd']) {
    await store.create(record(id));
    await store.keep(id, condition(0, 80), 2);
  }
  await finishedJob(store, 'e', 20);
  expect(await statuses(store, 'b', 'c', 'd', 'e')).toEqual(['accepted', 'accepted', 'accepted', 'failed']);
  expect(await failureOf('e')).toMatchObject({
    code: 'TOO_EXPENSIVE',
    message: expect.stringMatching(
      /^The results of this and of the other unfinished jobs need more than 250 bytes/,
    ),
  });
  await store.dismiss('b');
  await finishedJob(store, 'f', 20);
  expect(await statuses(store, 'b', 'f')).toEqual(['dismissed', 'successful']);
});

it('forgets a job some time after its end, not before', async () => {
  let nowMs = 0;
  const { store } = await openDiskJobs(LIMITS, { nowMs: () => nowMs });
  await store.create(record('unfinished'));
  await finishedJob(store, 'a', 40);
  nowMs = 40_000;
  await store.create(record('b'));
  await store.dismiss('b');
  nowMs = 59_999;
  expect(await statuses(store, 'a', 'b')).toEqual(['successful', 'dismissed']);
  nowMs = 60_000;
  expect(await statuses(store, 'a', 'b')).toEqual([undefined, 'dismissed']);
  expect([await store.find('a'), await store.results('a', [0])]).toEqual([undefined, [undefined]]);
  nowMs = 100_000;
  expect(await statuses(store, 'b', 'unfinished')).toEqual([undefined, 'accepted']);
});

it('removes finished jobs of the client that has most, in number or in bytes', async () => {
  const store = await open();
  await finishedJob(store, 'first', 20, 'one');
  for (const id of ['a', 'b', 'c', 'd']) await finishedJob(store, id, 20, 'many');
  expect(await statuses(store, 'first', 'a', 'b', 'c', 'd')).toEqual([
    'successful',
    undefined,
    undefined,
    'successful',
    'successful',
  ]);
  await finishedJob(store, 'large', 100, 'one');
  await finishedJob(store, 'larger', 100, 'another');
  expect(await statuses(store, 'first', 'large', 'larger')).toEqual([undefined, 'successful', 'successful']);
});

it('fails a job beyond the share of its client, and no job of others', async () => {
  const { store } = await openDiskJobs({ ...LIMITS, unfinishedBytesPerClient: 120 });
  await finishedJob(store, 'other', 100, 'one');
  for (const id of ['a', 'b', 'c']) {
    await store.create(record(id, { client: 'many' }));
    await store.keep(id, condition(0, 60), 2);
  }
  await store.create(record('unfinished', { client: 'another' }));
  await store.keep('unfinished', condition(0, 20), 2);
  expect(await statuses(store, 'other', 'a', 'b', 'c', 'unfinished')).toEqual([
    'successful',
    'accepted',
    'accepted',
    'failed',
    'accepted',
  ]);
  expect((await store.state('c'))!.progress.failure!.message).toMatch(
    /^The results of this and of the other unfinished jobs of this client need more than 120 bytes,/,
  );
});

it('counts unfinished jobs of a client when it makes room', async () => {
  const store = await open();
  await finishedJob(store, 'other', 80, 'one');
  await finishedJob(store, 'own', 40, 'many');
  for (const id of ['a', 'b']) {
    await store.create(record(id, { client: 'many' }));
    await store.keep(id, condition(0, 80), 2);
  }
  expect(await statuses(store, 'other', 'own')).toEqual(['successful', undefined]);
});
