/** Experiments as jobs over real HTTP, with real workers, in the memory of one process. */
import { connect } from 'node:net';
import { Admission } from '../../src/service/limits/admission.js';
import { ModelHealth } from '../../src/service/health/model-health.js';
import { ChunkWorker } from '../../src/jobs/chunk-worker.js';
import { EXIT_SEED, FaultyWorkers } from '../support/faulty-workers.js';
import { startReadyService, type Answer, type Service } from '../support/service.js';
import { startProcess, until } from '../support/service-process.js';

const PATH = '/api/v2/experiments';
const JSON_TYPE = { 'content-type': 'application/json' };
const ASYNC = { ...JSON_TYPE, prefer: 'respond-async' };
const FORMATS = ['json', 'ndjson', 'csv', 'arrow', 'parquet'];
const NO_BUDGET = { EXPERIMENT_BRAIN_SECONDS: '999999', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' };

const INPUTS = { sugar: { node_set: 'S_sugar', rate_hz: 150 } };
const REPORTS = {
  walk: { node_set: '@channel/walk', group_by: ['side'] },
  course: { node_set: { super_class: '*' }, type: 'histogram', group_by: ['type'], bin_ms: 25 },
};
const SHORT = { inputs: INPUTS, duration_ms: 60, trials: 3, reports: REPORTS };

/** Every kind of axis, alone and with others, and every kind of report. */
const DOCUMENTS: Record<string, object> = {
  'one condition': SHORT,
  'a dose curve': { ...SHORT, sweep: [{ set: 'inputs.sugar.rate_hz', from: 0, to: 200, step: 10 }] },
  'trials of different lengths': {
    ...SHORT,
    sweep: [
      { set: 'duration_ms', values: [150, 100, 200] },
      { set: 'seed', values: [1, 2] },
    ],
  },
  'a lesion screen': { ...SHORT, sweep: [{ each: '*', group_by: ['type'], as: 'silence' }] },
  'a screen of inputs': {
    ...SHORT,
    sweep: [{ each: { super_class: '*' }, group_by: ['type'], as: 'inputs.sugar' }],
  },
  'responders, at three rates': {
    ...SHORT,
    sweep: [
      { set: 'inputs.sugar.rate_hz', values: [0, 100, 200] },
      { each: { responders_of: 'baseline', top: 7 }, group_by: ['type'], as: 'silence' },
    ],
  },
  'two lesions at once': {
    ...SHORT,
    trials: 2,
    sweep: [
      { each: ['S_sugar', 'S_loom', 'C_walk'], group_by: ['type', 'side'], as: 'silence' },
      { each: { responders_of: 'baseline', top: 4 }, group_by: ['type'], as: 'inputs.sugar' },
    ],
  },
  'controls of a screen, on another wiring': {
    ...SHORT,
    trials: 2,
    wiring: { minimum_synapses: 8, jitter: 0.2 },
    sweep: [{ each: ['S_sugar', 'S_loom'], group_by: ['type'], as: 'silence' }],
    controls: { shuffle: 'targets', count: 6 },
  },
  'wirings by their seeds': {
    ...SHORT,
    wiring: { shuffle: 'weights' },
    sweep: [{ set: 'wiring.seed', from: 1, to: 12, step: 1 }],
  },
  'tables of spikes and input events': {
    ...SHORT,
    reports: {
      spikes: { node_set: { super_class: '*' }, type: 'spikes' },
      inputs: { node_set: 'S_sugar', type: 'inputs', end_ms: 30 },
      potentials: { node_set: 'C_walk', type: 'membrane', dt_ms: 3.3 },
    },
    sweep: [{ set: 'seed', values: [3, 4, 5, 6] }],
  },
};
/** Hours of simulated time, for tests that end it. */
const ENDLESS = {
  inputs: INPUTS,
  duration_ms: 200,
  trials: 100,
  reports: { walk: { node_set: 'C_walk' } },
  sweep: [{ set: 'seed', from: 1, to: 15_000, step: 1 }],
};

/** ENDLESS with as many conditions as one request may have. */
const ENDLESS_ANSWER = { ...ENDLESS, sweep: [{ set: 'seed', from: 1, to: 2_000, step: 1 }] };

const begin = (service: Service, document: unknown, headers: Record<string, string> = {}) =>
  service.post(document, PATH, { ...ASYNC, ...headers });
const locationOf = (answer: Answer) => answer.headers.get('location')!;
const statusOf = async (service: Service, location: string) => (await service.get(location)).json();

async function begun(service: Service, document: unknown): Promise<string> {
  const answer = await begin(service, document);
  expect(answer.status).toBe(202);
  return locationOf(answer);
}

async function finished(service: Service, document: unknown): Promise<string> {
  const location = await begun(service, document);
  await until(async () => (await statusOf(service, location)).status === 'successful');
  return location;
}

async function bytesOf(answer: Answer): Promise<[number, string | null, Buffer]> {
  return [answer.status, answer.headers.get('content-type'), Buffer.from(await answer.arrayBuffer())];
}

describe('jobs of one process', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService({ WORKERS: '3', ...NO_BUDGET });
  });
  afterAll(() => service.stop());

  it.each(Object.keys(DOCUMENTS))('give the bytes of the immediate answer: %s', async (name) => {
    const document = DOCUMENTS[name];
    const location = await finished(service, document);
    const state = await statusOf(service, location);
    expect(state).toMatchObject({ progress: 100, conditions_done: state.conditions });
    const formats = /one condition|tables/.test(name) ? FORMATS : ['ndjson', 'parquet'];
    for (const query of [
      ...formats.map((format) => `?format=${format}`),
      '?from=1',
      '?from=0&format=csv',
      '?truncate=true',
    ]) {
      if (query === '?from=1' && name === 'one condition') continue;
      const results = await bytesOf(await service.get(`${location}/results${query}`));
      expect(results).toEqual(await bytesOf(await service.post(document, `${PATH}${query}`)));
      expect(results[0]).toBe(200);
    }
  });

  it.each([
    'a dose curve',
    'a lesion screen',
    'responders, at three rates',
    'tables of spikes and input events',
  ])(
    'give the bytes of the immediate answer from a condition on, and compute no others: %s',
    async (name) => {
      const document = DOCUMENTS[name];
      const { conditions: all } = await statusOf(service, await finished(service, document));
      const from = 2;
      const began = await service.post(document, `${PATH}?from=${from}`, ASYNC);
      expect(began.status).toBe(202);
      const location = locationOf(began);
      await until(async () => (await statusOf(service, location)).status === 'successful');
      // The only earlier condition computed is a baseline that decides on the rest.
      const computed = all - from + (/lesion|responders/.test(name) ? 1 : 0);
      expect(await statusOf(service, location)).toMatchObject({
        conditions: computed,
        conditions_done: computed,
      });
      for (const [query, same] of [
        ['', `?from=${from}`],
        ['?from=3&format=ndjson', '?from=3&format=ndjson'],
        ['?format=csv', `?from=${from}&format=csv`],
      ]) {
        const results = await bytesOf(await service.get(`${location}/results${query}`));
        expect(results).toEqual(await bytesOf(await service.post(document, PATH + same)));
        expect(results[0]).toBe(200);
      }
      const refused = await service.get(`${location}/results?from=1`);
      expect([refused.status, (await refused.json()).error]).toEqual([
        400,
        'from must be at least 2, the first condition of the job, got 1.',
      ]);
    },
  );

  it('are begun once for each key of a client', async () => {
    const document = DOCUMENTS['a dose curve'];
    const key = 'd5d1b8e2-0f0e-4f0c';
    const keyed = (value: string, body: unknown = document, query = '') =>
      service.post(body, PATH + query, { ...ASYNC, 'idempotency-key': value });
    const first = await keyed(key);
    expect(first.status).toBe(202);
    const location = locationOf(first);
    const repeated = await keyed(`"${key}"`);
    expect([repeated.status, locationOf(repeated)]).toEqual([202, location]);
    expect((await repeated.json()).jobID).toBe((await first.json()).jobID);
    // Also after its end: the answer says how the job is now.
    await until(async () => (await statusOf(service, location)).status === 'successful');
    expect(await (await keyed(key)).json()).toMatchObject({ status: 'successful', progress: 100 });
    // Written differently, but the same experiment.
    expect(locationOf(await keyed(key, { ...document, seed: undefined }))).toBe(location);
    for (const other of [await keyed(key, SHORT), await keyed(key, document, '?from=2')]) {
      expect(other.status).toBe(422);
      expect(await other.json()).toMatchObject({
        code: 'IDEMPOTENCY_KEY_REUSED',
        error: expect.stringMatching(/^Idempotency-Key must be a new one for each experiment; /),
      });
    }
    expect(locationOf(await keyed(`${key}-2`))).not.toBe(location);
    for (const bad of ['short', 'x'.repeat(129), `${key}, ${key}`, `"${key}`, `"${key}\\"`]) {
      const refused = await keyed(bad);
      expect([bad, refused.status, (await refused.json()).code]).toEqual([bad, 400, 'INVALID_PARAMETER']);
    }
    // Where no job is begun there is nothing to repeat.
    const immediate = await service.post(SHORT, PATH, { ...JSON_TYPE, 'idempotency-key': 'short' });
    expect(immediate.status).toBe(200);
  });

  it('are told apart by a random name, and say what they are', async () => {
    const answer = await begin(service, DOCUMENTS['a dose curve'], { prefer: 'wait=5, respond-async; x=y' });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('preference-applied')).toBe('respond-async');
    const location = locationOf(answer);
    const state = await answer.json();
    expect(state).toMatchObject({
      type: 'process',
      conditions: 21,
      // 21 conditions of 3 trials of 0.06 s.
      brain_seconds: 3.78,
      links: [{ href: location }, { href: `${location}/results` }],
    });
    expect(location).toBe(`${PATH}/${state.jobID}`);
    expect(await begun(service, DOCUMENTS['a dose curve'])).not.toBe(location);
    const { id } = await (await service.post(DOCUMENTS['a dose curve'], `${PATH}?dry_run=true`)).json();
    expect(state.id).toBe(id);
  });

  it.each(['wait=5', 'x="respond-async"', 'return=minimal; respond-async', ''])(
    'are begun for no other preference: %s',
    async (prefer) => {
      const answer = await service.post(SHORT, PATH, { ...JSON_TYPE, prefer });
      expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, null]);
    },
  );

  it('are refused as requests are, before anything is computed', async () => {
    const refused = async (document: unknown, query = '') => {
      const answer = await service.post(document, `${PATH}${query}`, ASYNC);
      const { code, path, error } = await answer.json();
      return [answer.status, code, path, error];
    };
    expect((await refused({ trials: 0 })).slice(0, 3)).toEqual([400, 'INVALID_PARAMETER', '/trials']);
    expect((await refused({ silence: ['Nobody'] })).slice(0, 2)).toEqual([400, 'UNKNOWN_NEURONS']);
    // SHORT has one condition.
    expect((await refused(SHORT, '?from=1')).slice(0, 3)).toEqual([400, 'INVALID_PARAMETER', '']);
    expect((await refused(SHORT, '?format=csv&table=spikes')).slice(0, 1)).toEqual([202]);
    const seeds = { set: 'seed', from: 1, to: 20_001, step: 1 };
    expect((await refused({ ...SHORT, sweep: [seeds] })).slice(0, 3)).toEqual([
      400,
      'INVALID_PARAMETER',
      '/sweep',
    ]);
    const dry = await service.post(SHORT, `${PATH}?dry_run=true`, ASYNC);
    expect([dry.status, dry.headers.get('preference-applied')]).toEqual([200, null]);
    // Its limits are those of a job: a request may have 2000 conditions.
    const large = { ...SHORT, trials: 1, sweep: [{ set: 'seed', from: 1, to: 2500, step: 1 }] };
    expect((await service.post(large, `${PATH}?dry_run=true`)).status).toBe(400);
    const priced = await service.post(large, `${PATH}?dry_run=true`, ASYNC);
    expect((await priced.json()).cost.brain_seconds).toBe(150);
  });

  it('are not found under a name that nobody was told', async () => {
    for (const path of [`${PATH}/none`, `${PATH}/${'x'.repeat(24)}`, `${PATH}/none/results`]) {
      const answer = await service.get(path);
      expect([answer.status, (await answer.json()).code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await service.delete(`${PATH}/none`)).status).toBe(404);
    const location = await finished(service, SHORT);
    for (const [query, status, code] of [
      ['?format=xml', 400, 'INVALID_PARAMETER'],
      ['?from=1', 400, 'INVALID_PARAMETER'],
      ['?format=json&table=rates', 400, 'INVALID_PARAMETER'],
      ['?format=csv&table=spikes', 400, 'INVALID_PARAMETER'],
      ['?dry_run=true', 400, 'INVALID_PARAMETER'],
    ] as const) {
      const answer = await service.get(`${location}/results${query}`);
      expect([query, answer.status, (await answer.json()).code]).toEqual([query, status, code]);
    }
    const refused = await service.get(`${location}/results`, { accept: 'image/png' });
    expect(refused.status).toBe(406);
    expect((await service.get(location)).headers.get('allow')).toBeNull();
    const posted = await service.post({}, location);
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD, OPTIONS']);
  });
});

describe('jobs under way', () => {
  let service: Service;
  afterEach(() => service.stop());
  const computing = () => service.app.get(ChunkWorker).computing;

  it('give what is done so far, in order, and end when they are told to', async () => {
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

  it('take no place for results behind another request of their connection, which leaves', async () => {
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
    await finished(service, DOCUMENTS['a lesion screen']);
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
