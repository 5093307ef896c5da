/** Jobs of one process, which are on its disk: the process ends at any moment, and the disk fails. */
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jobsFolder } from '../support/disk-jobs.js';
import { describeWith } from '../support/requirements.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { extent, observed } from './extent.js';

const PATH = '/api/v2/experiments';
const JSON_TYPE = { 'content-type': 'application/json' };
const KILLS = extent({ short: 6, full: 20 });
/** Time of this test, because each process has to start. */
const KILLING_MS = 900_000;
/** Baselines, conditions that these decide, and some that change nothing. */
const SCREEN = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  duration_ms: 50,
  trials: 4,
  reports: {
    walk: { node_set: '@channel/walk', group_by: ['side'] },
    all: { node_set: { super_class: '*' } },
  },
  sweep: [
    { set: 'seed', from: 1, to: extent({ short: 12, full: 40 }), step: 1 },
    { each: { responders_of: 'baseline', top: 5 }, group_by: ['type'], as: 'silence' },
  ],
};

interface State {
  readonly status: string;
  readonly conditions: number;
  readonly conditions_done: number;
}

let jobs: string;
let services: ServiceProcess[] = [];
beforeEach(() => (jobs = jobsFolder()));
afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()));
  services = [];
});

/** @param delayMs duration of each trial, so that a job lasts */
async function start(delayMs: number, variables: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startProcess(
    { JOBS_PATH: jobs, WORKERS: '2', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0', ...variables },
    { FAULT_DELAY_MS: String(delayMs) },
  );
  services.push(service);
  await service.untilReady();
  return service;
}

const post = ({ url }: ServiceProcess, headers: Record<string, string> = {}) =>
  fetch(`${url}${PATH}`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(SCREEN),
  });
const asJob = (service: ServiceProcess) => post(service, { prefer: 'respond-async' });
const ask = ({ url }: ServiceProcess, location: string) => fetch(`${url}${location}`);
const stateOf = async (service: ServiceProcess, location: string) =>
  (await (await ask(service, location)).json()) as State;

/** Begins a job in a process that is killed before it answers any other request. */
async function beginAndDie(): Promise<string> {
  const service = await start(20);
  const answer = await asJob(service);
  expect(answer.status).toBe(202);
  service.child.kill('SIGKILL');
  await service.exited();
  return answer.headers.get('location')!;
}

async function expectEqualBytes(service: ServiceProcess, location: string): Promise<void> {
  await until(async () => !['accepted', 'running'].includes((await stateOf(service, location)).status));
  const last = await stateOf(service, location);
  expect(last).toMatchObject({ status: 'successful', progress: 100, conditions_done: last.conditions });
  const results = await ask(service, `${location}/results`);
  expect(await results.text()).toBe(await (await post(service)).text());
}

it(
  `a process is killed ${KILLS} times in one job: no condition that was done is lost, and the bytes are equal`,
  async () => {
    const location = await beginAndDie();
    const done: number[] = [];
    for (let kill = 1; kill < KILLS; kill++) {
      // Trials so slow that the job is unfinished at the last kill.
      const service = await start(extent({ short: 200, full: 400 }));
      const before = (await stateOf(service, location)).conditions_done;
      expect(before).toBeGreaterThanOrEqual(done.at(-1) ?? 0);
      // Every third process is killed at once, the others in the middle of conditions.
      const more = kill % 3 === 0 ? 0 : 1;
      await until(async () => (await stateOf(service, location)).conditions_done >= before + more);
      done.push((await stateOf(service, location)).conditions_done);
      service.child.kill('SIGKILL');
      await service.exited();
    }
    const last = await start(0);
    const { conditions, conditions_done: doneBefore, status } = await stateOf(last, location);
    expect(doneBefore).toBeGreaterThanOrEqual(done.at(-1)!);
    expect([status, doneBefore < conditions]).toEqual(['running', true]);
    await expectEqualBytes(last, location);
    observed(`${KILLS} kills in a job of ${conditions} conditions`, `done before each: ${done.join(' ')}`);
  },
  KILLING_MS,
);

it('a service is stopped and started: its jobs go on, and finished ones are there', async () => {
  const first = await start(5);
  const finished = (await asJob(first)).headers.get('location')!;
  await expectEqualBytes(first, finished);
  const bytes = await (await ask(first, `${finished}/results`)).text();
  const slow = (await asJob(first)).headers.get('location')!;
  await until(async () => (await stateOf(first, slow)).conditions_done > 0);
  expect(await first.stop()).toBe(0);
  const second = await start(0);
  expect(await (await ask(second, `${finished}/results`)).text()).toBe(bytes);
  await expectEqualBytes(second, slow);
});

/** Runs and experiments are answered, jobs refused, and everybody is told why. */
async function expectOnlyJobsRefused(service: ServiceProcess, why: string): Promise<void> {
  expect((await fetch(`${service.url}/api/v1/run`, { method: 'POST' })).status).toBe(200);
  expect((await post(service)).status).toBe(200);
  for (const refused of [await asJob(service), await ask(service, `${PATH}/${'x'.repeat(24)}`)]) {
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '5',
      { code: 'JOBS_UNAVAILABLE', error: `Jobs are refused: ${why}.` },
    ]);
  }
  const reason = expect.stringContaining(`Jobs are refused: ${why}. `);
  expect(await service.readyz()).toMatchObject({
    status: 200,
    body: { status: 'degraded', degraded: [{ part: 'jobs', reason }] },
  });
  expect(service.log()).toContainEqual(expect.objectContaining({ level: 40, msg: reason }));
}

it('a second process on one store says so, and has the jobs of the first when that one ends', async () => {
  const first = await start(20);
  const location = (await asJob(first)).headers.get('location')!;
  const second = await start(0);
  await expectOnlyJobsRefused(second, 'another process uses the store of jobs');
  // A quick machine may have computed all of it.
  expect((await stateOf(first, location)).status).toMatch(/accepted|running|successful/);
  first.child.kill('SIGKILL');
  await until(async () => (await ask(second, location)).status === 200);
  await expectEqualBytes(second, location);
  expect((await second.readyz()).body).toMatchObject({ status: 'ready' });
});

it('a folder of another program is not touched', async () => {
  writeFileSync(join(jobs, 'CURRENT'), 'nothing');
  await expectOnlyJobsRefused(await start(0), 'the store of jobs is damaged');
});

describeWith(['mount'], 'a disk', () => {
  const mount = (...args: string[]) => execFileSync('mount', [...args, jobs]);
  beforeEach(() => {
    mount('-t', 'tmpfs', '-o', 'size=20m', 'tmpfs');
    chmodSync(jobs, 0o777);
  });
  afterEach(() => execFileSync('umount', ['--lazy', jobs]));

  it('that is read-only refuses jobs', async () => {
    mount('-o', 'remount,ro');
    await expectOnlyJobsRefused(await start(0), 'the store of jobs cannot be written');
  });

  it('that fills up in a job lets it wait, and it goes on when there is room', async () => {
    const service = await start(20);
    const location = (await asJob(service)).headers.get('location')!;
    await until(async () => (await stateOf(service, location)).conditions_done > 0);
    const filler = join(jobs, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(21_000_000))).toThrow('ENOSPC');
    const degraded = async () => (await service.readyz()).body['status'] === 'degraded';
    await until(degraded);
    expect((await fetch(`${service.url}/api/v1/run`, { method: 'POST' })).status).toBe(200);
    const refused = await asJob(service);
    expect([refused.status, (await refused.json()) as object]).toEqual([
      503,
      { code: 'JOBS_UNAVAILABLE', error: 'Jobs are refused: the disk of the store of jobs is full.' },
    ]);
    // Jobs can be read, and this one neither ends nor fails.
    expect((await stateOf(service, location)).status).toBe('running');
    expect((await ask(service, `${location}/results`)).status).toBe(200);
    rmSync(filler);
    await until(async () => !(await degraded()));
    await expectEqualBytes(service, location);
  });
});
