/** Experiments as jobs over real HTTP, with real workers, in the memory of one process. */
import { Metrics } from '../../src/service/metrics/metrics.js';
import { JSON_TYPE, NO_BUDGET, PATH } from '../support/experiment-requests.js';
import {
  ASYNC,
  begin,
  begun,
  ENDLESS,
  finished,
  locationOf,
  SHORT,
  statusOf,
} from '../support/job-requests.js';
import { startReadyService, type Answer, type Service } from '../support/service.js';
import { until, valueOf } from '../support/service-process.js';

const FORMATS = ['json', 'ndjson', 'csv', 'arrow', 'parquet', 'svg'];
/** Every kind of axis, by itself and with others, and every kind of report. */
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

  it('have a random name, and name their experiment', async () => {
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
    for (const ofResults of ['format=csv', 'table=spikes', 'names=shiu', 'truncate=true']) {
      const [name, value] = ofResults.split('=');
      const message = `${name} must not be given for a job, only for its results, got ${value}.`;
      expect(await refused(SHORT, `?${ofResults}`)).toEqual([400, 'INVALID_PARAMETER', '', message]);
    }
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

describe('a job that is refused after it was planned', () => {
  it('costs five brain seconds, which planning reserves', async () => {
    const service = await startReadyService({ JOBS_AT_ONCE: '1', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '14' });
    try {
      const first = await begin(service, ENDLESS);
      expect([first.status, first.headers.get('ratelimit-remaining')]).toEqual([202, '14']);
      const left: number[] = [];
      for (const seed of [1, 2]) {
        const refused = await begin(service, { ...SHORT, seed });
        expect({ status: refused.status, body: await refused.json() }).toMatchObject({
          status: 503,
          body: { code: 'QUEUE_FULL' },
        });
        left.push(Number(refused.headers.get('ratelimit-remaining')));
      }
      expect(left).toEqual([9, 4]);
      const spent = await begin(service, SHORT);
      expect({ status: spent.status, body: await spent.json() }).toMatchObject({
        status: 429,
        body: { error: expect.stringContaining('; planning a job reserves 5 and 4 are left; try again in ') },
      });
      await service.delete(locationOf(first));
    } finally {
      await service.stop();
    }
  });

  it('costs nothing because of its key or its price', async () => {
    const service = await startReadyService();
    try {
      const key = 'of-the-first-job';
      const first = await begin(service, ENDLESS, { 'idempotency-key': key });
      for (const [other, code] of [
        ['short', 'INVALID_PARAMETER'],
        [key, 'IDEMPOTENCY_KEY_REUSED'],
        ['of-the-second-job', 'TOO_EXPENSIVE'],
      ]) {
        const refused = await begin(service, SHORT, { 'idempotency-key': other! });
        expect((await refused.json()).code).toBe(code);
      }
      const again = await begin(service, ENDLESS, { 'idempotency-key': key });
      const left = [first, again].map(({ headers }) => headers.get('ratelimit-remaining'));
      expect(left).toEqual(['600', '600']);
      await service.delete(locationOf(first));
    } finally {
      await service.stop();
    }
  });

  it('costs nothing if the store of jobs cannot be reached, and is not counted as none', async () => {
    const service = await startReadyService({ REDIS_JOBS_URL: 'redis://127.0.0.1:1' });
    try {
      const left = [];
      for (const seed of [1, 2]) {
        const refused = await begin(service, { ...SHORT, seed });
        expect([refused.status, (await refused.json()).code]).toEqual([503, 'JOBS_UNAVAILABLE']);
        left.push(refused.headers.get('ratelimit-remaining'));
      }
      expect(left[1]).toBe(left[0]);
      const metrics = await service.app.get(Metrics).registry.metrics();
      for (const name of ['nes_jobs_unfinished', 'nes_job_chunks_waiting']) {
        expect(metrics).toContain(`# TYPE ${name} gauge`);
        expect(valueOf(metrics, name)).toBeUndefined();
      }
    } finally {
      await service.stop();
    }
  });
});
