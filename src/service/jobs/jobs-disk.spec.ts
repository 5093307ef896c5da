/** The store of jobs on disk: contents that outlast its process, and faults that keep it from opening or writing. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { closeDiskJobs, jobsFolder, openDiskJobs } from '../../../test/support/disk-jobs.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { MAX_DEATHS_OF_CHUNK } from '../../workers/pool/retries.js';
import type { JobRecord } from './job.js';
import type { ComputedCondition } from './job-store.js';

const NOW_MS = Date.now();
const record = (id: string, model = 'model'): JobRecord => ({
  id,
  client: 'laboratory',
  model,
  experimentId: 'e',
  document: { trials: 10, name: 'µ' } as JobRecord['document'],
  limits: { groupNumbers: 7 } as JobRecord['limits'],
  from: 0,
  conditions: 3,
  brainMs: 3000,
  priceMs: 3000,
  createdMs: NOW_MS,
});
const condition = (index: number, bytes = 100): ComputedCondition => ({
  index,
  result: Buffer.alloc(bytes, 1 + index),
  brainMs: 1000,
  costMs: 5,
});
const refused = (why: string) =>
  expect.objectContaining({ code: 'JOBS_UNAVAILABLE', retryAfterS: 5, message: `Jobs are refused: ${why}.` });

let path: string;
beforeEach(() => (path = jobsFolder()));
afterEach(closeDiskJobs);
const open = () => openDiskJobs({}, { path });
/** Changes the files as another program would. */
async function changed(change: (level: ClassicLevel) => Promise<void>): Promise<void> {
  const level = new ClassicLevel(path);
  await change(level);
  await level.close();
}

describe('a store that is opened again', () => {
  it('has every job with its document, its results and its key', async () => {
    const { store } = await open();
    await store.create(record('done'), 'key');
    await store.create(record('begun'));
    await store.begin('begun');
    await store.create(record('failed'));
    for (const index of [0, 1, 2]) await store.keep('done', condition(index), 3);
    for (const id of ['begun', 'failed']) await store.keep(id, condition(1), 3);
    await store.fail('failed', { code: 'TOO_EXPENSIVE', message: 'It is too large.', path: '/reports' });
    const of = async (jobs: typeof store, id: string) => [
      await jobs.find(id),
      (await jobs.state(id))!.progress,
      await jobs.results(id, [0, 1, 2]),
    ];
    const before = [await of(store, 'done'), await of(store, 'begun'), await of(store, 'failed')];
    await closeDiskJobs();

    const { store: again } = await open();
    expect([await of(again, 'done'), await of(again, 'begun'), await of(again, 'failed')]).toEqual(before);
    expect((await again.find('done'))!.record).toEqual(record('done'));
    expect(await again.create(record('repeated'), 'key')).toBe('done');
    expect(await again.adopt('model')).toEqual({ ids: ['begun'], others: 0 });
    for (const index of [0, 1, 2]) expect(await again.keep('begun', condition(index), 3)).toBe(true);
    expect((await again.state('begun'))!.progress).toMatchObject({ status: 'successful', conditionsDone: 3 });
  });

  it('hands out unfinished jobs once, and those of another model only to it', async () => {
    const { store } = await open();
    await store.create(record('a'));
    await store.create(record('b', 'another'));
    expect(await store.adopt('model')).toEqual({ ids: [], others: 1 });
    await closeDiskJobs();
    const { store: again } = await open();
    expect(await again.adopt('model')).toEqual({ ids: ['a'], others: 1 });
    expect(await again.adopt('model')).toEqual({ ids: [], others: 1 });
    // In one process, if another model is loaded.
    expect(await again.adopt('another')).toEqual({ ids: ['b'], others: 1 });
    expect(await again.adopt('model')).toEqual({ ids: ['a'], others: 1 });
    // No process ends, so this is no reason to give the job up.
    await again.begin('a');
    expect((await again.state('a'))!.progress.status).toBe('running');
    for (let change = 0; change <= MAX_DEATHS_OF_CHUNK; change++) {
      await again.adopt('another');
      expect((await again.adopt('model')).ids).toEqual(['a']);
      await again.begin('a');
    }
  });

  it('ends unfinished jobs of another version, and frees their places', async () => {
    const limits = { perClient: 2 };
    const { store } = await openDiskJobs(limits, { path });
    await store.create(record('finished'));
    for (const index of [0, 1, 2]) await store.keep('finished', condition(index), 3);
    for (const id of ['running', 'waiting']) await store.create(record(id));
    await store.begin('running');
    await store.keep('running', condition(0), 3);
    await closeDiskJobs();
    await changed(async (level) => {
      for (const id of ['finished', 'running', 'waiting']) {
        const job = JSON.parse((await level.get(`job/${id}`))!) as object;
        await level.put(`job/${id}`, JSON.stringify({ ...job, version: '0.1' }));
      }
    });

    const { store: again } = await openDiskJobs(limits, { path });
    const progress = async (id: string) => (await again.state(id))!.progress;
    const failure = {
      code: 'NOT_FOUND',
      message: 'The results were kept by another version of the service: submit the experiment again.',
    };
    for (const id of ['running', 'waiting']) {
      expect(await progress(id)).toMatchObject({ status: 'failed', failure });
    }
    expect(await again.results('running', [0])).toEqual([undefined]);
    expect(await progress('finished')).toMatchObject({ status: 'successful' });
    expect(await again.adopt('model')).toEqual({ ids: [], others: 0 });
    for (const id of ['next', 'last']) expect(await again.create(record(id))).toBe(id);
  });

  it('lets a job wait for its model until it expires, and one that is computed for ever', async () => {
    let nowMs = 0;
    const start = async () => {
      await closeDiskJobs();
      const { store } = await openDiskJobs({}, { path, nowMs: () => nowMs });
      await store.adopt('model');
      return store;
    };
    const first = await start();
    for (const model of ['model', 'another']) await first.create({ ...record(model, model), createdMs: 0 });
    for (nowMs = 20_000; nowMs < 60_000; nowMs += 20_000) expect(await (await start()).unfinished()).toBe(2);
    const last = await start();
    expect([await last.unfinished(), await last.state('another')]).toEqual([1, undefined]);
    nowMs = 1e6;
    expect(await last.unfinished()).toBe(1);
    expect(await (await start()).unfinished()).toBe(1);
  });

  it('gives up a job during which too many processes ended without a result', async () => {
    const { store } = await open();
    await store.create(record('a'));
    await store.create(record('waiting'));
    await store.begin('a');
    const reopened = async () => {
      await closeDiskJobs();
      return (await open()).store;
    };
    for (let death = 1; death < MAX_DEATHS_OF_CHUNK; death++) await (await reopened()).adopt('model');
    const last = await reopened();
    await last.adopt('model');
    await last.keep('a', condition(0), 3);
    for (let death = 1; death <= MAX_DEATHS_OF_CHUNK; death++) {
      expect((await (await reopened()).adopt('model')).ids).toContain('a');
    }
    const after = await reopened();
    expect((await after.adopt('model')).ids).toEqual(['waiting']);
    expect((await after.state('a'))!.progress).toMatchObject({
      status: 'failed',
      failure: {
        code: 'WORKER_LOST',
        message: 'The service ended 21 times without a new result while it computed this job.',
      },
    });
  });

  it('keeps no results that a process did not come to remove', async () => {
    const { store } = await open();
    await store.create(record('a'));
    await store.keep('a', condition(0), 3);
    await closeDiskJobs();
    await changed((level) =>
      level.batch([0, 1].map((at) => ({ type: 'put', key: `result/gone/${at}`, value: 'x' }))),
    );
    await open();
    await closeDiskJobs();
    await changed(async (level) => {
      expect(await level.keys().all()).toEqual(['job/a', 'result/a/0', 'version', 'work/a']);
    });
  });
});

describe('a store that cannot be opened', () => {
  it('of another process refuses jobs, and opens when that one ends', async () => {
    const { store: first } = await open();
    await first.create(record('a'));
    const { store, events } = await open();
    const why = 'another process uses the store of jobs';
    await expect(store.create(record('b'))).rejects.toEqual(refused(why));
    await expect(store.state('a')).rejects.toEqual(refused(why));
    expect(events).toEqual([`Jobs are refused: ${why}. Give each service a JOBS_PATH of its own.`]);
    expect((await first.state('a'))!.progress.status).toBe('accepted');
    await first.close();
    await until(() => events.includes('open'));
    expect((await store.state('a'))!.progress.status).toBe('accepted');
  });

  it.each([
    ['of another version', 'it has version 2, not 1', (level: ClassicLevel) => level.put('version', '2')],
    ['of another program', 'it has version none, not 1', (level: ClassicLevel) => level.put('a', 'b')],
  ])('%s refuses jobs and is left as it is', async (_, found, put) => {
    await changed(put);
    const { store, events } = await open();
    const why = `the store of jobs was written by another version of the service: ${found}`;
    await expect(store.create(record('a'))).rejects.toEqual(refused(why));
    expect(new Set(events)).toEqual(new Set([`Jobs are refused: ${why}. Set JOBS_PATH to another folder.`]));
    await closeDiskJobs();
    await changed(async (level) => expect(await level.keys().all()).toHaveLength(1));
  });

  it.each([
    ['in a folder that is missing', () => join(path, 'missing', 'jobs')],
    ['in place of a file', () => (writeFileSync(join(path, 'file'), ''), join(path, 'file'))],
    ['below a file', () => (writeFileSync(join(path, 'file'), ''), join(path, 'file', 'jobs'))],
    ['in /proc', () => '/proc/jobs'],
  ])('%s refuses jobs', async (_, pathOf) => {
    const { store } = await openDiskJobs({}, { path: pathOf() });
    await expect(store.unfinished()).rejects.toEqual(refused('the store of jobs cannot be written'));
  });

  it('that is damaged refuses jobs', async () => {
    await (await open()).store.create(record('a'));
    await closeDiskJobs();
    writeFileSync(join(path, 'CURRENT'), 'nothing');
    const { store } = await open();
    await expect(store.unfinished()).rejects.toEqual(refused('the store of jobs is damaged'));
  });
});

describeWith(['mount'], 'a disk', () => {
  const mount = (...args: string[]) => execFileSync('mount', [...args, path]);
  beforeEach(() => mount('-t', 'tmpfs', '-o', 'size=20m', 'tmpfs'));
  afterEach(async () => {
    await closeDiskJobs();
    execFileSync('umount', [path]);
  });

  it('that is full lets jobs be read, and takes them again when there is room', async () => {
    mkdirSync(join(path, 'jobs'));
    const { store, events } = await openDiskJobs({}, { path: join(path, 'jobs') });
    await store.create(record('a'));
    await store.keep('a', condition(0, 10_000), 3);
    const filler = join(path, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(21_000_000))).toThrow('ENOSPC');
    const why = 'the disk of the store of jobs is full';
    let kept = 0;
    const keep = async () => {
      for (let at = 1; at < 100; at++) await store.keep('a', condition(at, 5_000), 1000).then(() => kept++);
    };
    await expect(keep()).rejects.toEqual(refused(why));
    await expect(store.create(record('b'))).rejects.toEqual(refused(why));
    expect(new Set(events)).toEqual(new Set(['open', `Jobs are refused: ${why}. Make room on it.`]));
    expect((await store.results('a', [0]))[0]).toEqual(condition(0, 10_000).result);
    // Not opened again before there is room.
    await new Promise((next) => setTimeout(next, 300));
    expect((await store.state('a'))!.progress.conditionsDone).toBe(1 + kept);

    rmSync(filler);
    await until(() => events.at(-1) === 'open');
    expect((await store.state('a'))!.progress.conditionsDone).toBe(1 + kept);
    for (let at = 1; at < 100; at++) expect(await store.keep('a', condition(at, 5_000), 1000)).toBe(true);
    await closeDiskJobs();
    const { store: again } = await openDiskJobs({}, { path: join(path, 'jobs') });
    expect((await again.state('a'))!.progress).toMatchObject({ conditionsDone: 100, resultBytes: 505_000 });
    const results = await again.results(
      'a',
      Array.from({ length: 100 }, (_, at) => at),
    );
    expect(results.every((bytes, at) => bytes!.equals(condition(at, at === 0 ? 10_000 : 5_000).result))).toBe(
      true,
    );
  });

  it('that is read-only refuses jobs', async () => {
    await (await open()).store.create(record('a'));
    await closeDiskJobs();
    mount('-o', 'remount,ro');
    const { store, events } = await open();
    await expect(store.state('a')).rejects.toEqual(refused('the store of jobs cannot be written'));
    mount('-o', 'remount,rw');
    await until(() => events.at(-1) === 'open');
    expect((await store.state('a'))!.progress.status).toBe('accepted');
  });
});
