/** Jobs while they are computed, over real HTTP: finished conditions, turns, bounds, workers that end. */
import { connect } from 'node:net';
import { Admission } from '../../src/service/limits/admission.js';
import { ModelHealth } from '../../src/service/health/model-health.js';
import { ChunkWorker } from '../../src/service/jobs/chunk-worker.js';
import { NO_BUDGET, PATH } from '../support/experiment-requests.js';
import { EXIT_SEED, FaultyWorkers } from '../support/faulty-workers.js';
import {
  begin,
  begun,
  ENDLESS,
  ENDLESS_ANSWER,
  finished,
  locationOf,
  SHORT,
  statusOf,
} from '../support/job-requests.js';
import { startReadyService, type Answer, type Service } from '../support/service.js';
import { startProcess, until } from '../support/service-process.js';

describe('jobs under way', () => {
  let service: Service;
  afterEach(() => service.stop());
  const computing = () => service.app.get(ChunkWorker).computing;

  it('give finished conditions in order, and end when they are told to', async () => {
    service = await startReadyService({ WORKERS: '2' });
    const location = await begun(service, ENDLESS);
    await until(async () => (await statusOf(service, location)).conditions_done > 20);
    const state = await statusOf(service, location);
    expect(state).toMatchObject({ status: 'running', conditions: 15_000, progress: 0 });
    expect(state.seconds_left).toBeGreaterThan(1);

    const partial = await service.get(`${location}/results`);
    expect(partial.headers.get('job-status')).toBe('running');
    const { conditions, cost, partial: isPartial } = await partial.json();
    expect(isPartial).toBe(true);
    const indices = conditions.map(({ index }: { index: number }) => index);
    expect(indices).toEqual([...indices].sort((a, b) => a - b));
    expect(indices.length).toBeGreaterThan(20);
    expect(cost.brain_seconds).toBeCloseTo(indices.length * 20, 6);
    // Each condition equals that of an experiment of its own.
    const [, , third] = conditions;
    const { sweep, ...alone } = ENDLESS;
    expect(sweep).toHaveLength(1);
    const own = await (await service.post({ ...alone, seed: third.index + 1 }, PATH)).json();
    expect(third).toEqual({
      ...own.conditions[0],
      index: third.index,
      parameters: { seed: third.index + 1 },
    });
    const lines = (await (await service.get(`${location}/results?format=ndjson`)).text())
      .trimEnd()
      .split('\n');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ partial: true });

    const dismissed = await service.delete(location);
    expect([dismissed.status, (await dismissed.json()).status]).toEqual([200, 'dismissed']);
    await until(() => computing() === 0);
    expect(await statusOf(service, location)).toMatchObject({
      status: 'dismissed',
      finished: expect.any(String),
    });
    expect((await service.get(`${location}/results`)).status).toBe(404);
    expect((await (await service.delete(location)).json()).status).toBe('dismissed');
  });

  it('take no place for results after another request of their connection, which leaves', async () => {
    service = await startReadyService({ WORKERS: '2', ...NO_BUDGET });
    const location = await finished(service, SHORT);
    const body = JSON.stringify(ENDLESS_ANSWER);
    const socket = connect(service.port, '127.0.0.1');
    socket.write(
      `POST ${PATH}?format=ndjson HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}GET ${location}/results HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    const admission = service.app.get(Admission);
    await until(async () => admission.underWay === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(admission.underWay).toBe(1);
    socket.destroy();
    await until(async () => admission.underWay === 0);
  });

  it('wait for runs and for experiments that somebody waits for', async () => {
    service = await startReadyService({ WORKERS: '1', ...NO_BUDGET });
    const location = await begun(service, ENDLESS);
    await until(() => computing() > 0);
    for (let seed = 0; seed < 5; seed++) {
      expect((await service.post({ seed })).status).toBe(200);
      expect((await service.post({ ...SHORT, seed }, PATH)).status).toBe(200);
    }
    expect((await statusOf(service, location)).status).toBe('running');
  });

  it('take turns: a short job does not wait for the end of a long one', async () => {
    service = await startReadyService({ WORKERS: '2', JOB_BRAIN_SECONDS_PER_CLIENT: '1000000000' });
    const long = await begun(service, ENDLESS);
    await until(async () => (await statusOf(service, long)).conditions_done > 5);
    await finished(service, { ...SHORT, sweep: [{ each: '*', group_by: ['type'], as: 'silence' }] });
    expect((await statusOf(service, long)).status).toBe('running');
  });

  it('are bounded: how many, how large, and their results', async () => {
    service = await startReadyService(
      {
        WORKERS: '2',
        TRUST_PROXY: 'loopback',
        JOBS_AT_ONCE: '3',
        JOB_BRAIN_SECONDS_PER_CLIENT: '350000',
        JOBS_KEPT_BYTES: '80000',
      },
      { limits: { jobsPerClient: 2 } },
    );
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const answered = async (answer: Answer) => [answer.status, (await answer.json()).error];
    // 15,000 conditions of 100 trials of 0.2 s are 300,000 brain seconds.
    const first = locationOf(await begin(service, ENDLESS, from('203.0.113.1')));
    expect(await answered(await begin(service, ENDLESS, from('203.0.113.1')))).toEqual([
      422,
      'The job costs 300000 brain seconds and the unfinished jobs of this client cost 300000; together at most 350000 ' +
        'are allowed. With 16 trials it would fit.',
    ]);
    expect(await answered(await begin(service, { ...ENDLESS, duration_ms: 300 }))).toEqual([
      422,
      'The experiment has 450000 brain seconds (15000 conditions x 100 trials); at most 350000 are allowed. With 77 ' +
        'trials it would fit.',
    ]);
    expect((await begin(service, { ...ENDLESS, trials: 1 }, from('203.0.113.1'))).status).toBe(202);
    const refused = await begin(service, SHORT, from('203.0.113.1'));
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await answered(refused)).toEqual([
      503,
      'The queue is full: 2 jobs of this client are unfinished; try again later.',
    ]);
    expect((await begin(service, ENDLESS, from('203.0.113.2'))).status).toBe(202);
    expect(await answered(await begin(service, SHORT, from('203.0.113.3')))).toEqual([
      503,
      'The queue is full: 3 jobs are unfinished; try again later.',
    ]);
    await service.delete(first);
    const spikes = { all: { node_set: { super_class: '*' }, type: 'spikes' } };
    const large = await begin(service, { ...ENDLESS, reports: spikes, trials: 50 }, from('203.0.113.1'));
    expect(large.status).toBe(202);
    await until(async () => (await statusOf(service, locationOf(large))).status === 'failed');
    const { error } = await statusOf(service, locationOf(large));
    expect(error).toMatchObject({ code: 'TOO_EXPENSIVE', path: '/reports' });
    expect(error.error).toMatch(/^The results of the job need more than 20000 bytes/);
    const results = await service.get(`${locationOf(large)}/results`);
    expect([results.status, await results.json()]).toEqual([422, error]);
    expect((await begin(service, SHORT, from('203.0.113.3'))).status).toBe(202);
  });

  it('do not keep the service from stopping', async () => {
    service = await startReadyService({ WORKERS: '2' });
    await begun(service, ENDLESS);
    await until(() => computing() > 0);
    await service.stop();
    expect(service.app.get(ModelHealth).draining).toBe(true);
    expect(computing()).toBe(0);
  });
});

it('a job whose trials end their workers fails with the reason, and others go on', async () => {
  const workers = new FaultyWorkers();
  const service = await startReadyService({ WORKERS: '2' }, { workerFile: workers.file });
  try {
    const seeds = (...values: number[]) => ({ ...SHORT, sweep: [{ set: 'seed', values }] });
    const bad = await begun(service, seeds(1, 2, EXIT_SEED, 4));
    await finished(service, seeds(1, 2, 3, 4));
    await until(async () => (await statusOf(service, bad)).status === 'failed');
    const state = await statusOf(service, bad);
    expect(state).toMatchObject({ finished: expect.any(String), error: { code: 'WORKER_LOST' } });
    const results = await service.get(`${bad}/results`);
    expect([results.status, await results.json()]).toEqual([503, state.error]);
  } finally {
    await service.stop();
    workers.remove();
  }
});

it('a service that shares limits but no jobs says so when it starts', async () => {
  const warnings = async (variables: Record<string, string>) => {
    const service = await startProcess(variables);
    await service.untilReadyz(() => true);
    await service.stop();
    return service.log().filter(({ level, from }) => level === 40 && from === 'jobs');
  };
  const away = 'redis://127.0.0.1:1';
  expect(await warnings({ REDIS_URL: away })).toMatchObject([
    { msg: expect.stringMatching(/^REDIS_URL is set and REDIS_JOBS_URL is not: .* Set REDIS_JOBS_URL to/) },
  ]);
  expect(await warnings({})).toEqual([]);
});
