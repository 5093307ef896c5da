/** Pages of tables over real HTTP: those of a service with small limits against the answer of one with large ones. */
import { startReadyService, type Answer, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';
import { READERS } from '../support/table-rows.js';

const PATH = '/api/v2/experiments';
const HEADERS = { 'content-type': 'application/json' };
const ASYNC = { ...HEADERS, prefer: 'respond-async' };
const DOCUMENT = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 100 } },
  duration_ms: 100,
  trials: 3,
  reports: {
    rates: { node_set: 'S_sugar' },
    spikes: { node_set: '*', type: 'spikes' },
    events: { node_set: 'S_sugar', type: 'inputs' },
    potentials: { node_set: 'C_walk', type: 'membrane', dt_ms: 10 },
  },
  sweep: [{ set: 'seed', values: [1, 2, 3, 4] }],
};
/** A trial has some 120 spikes and as many input events, a condition three times as many. */
const LIMITS = { limits: { tableRows: 1000, jsonRows: 900 } };

let small: Service;
let large: Service;
beforeAll(async () => {
  small = await startReadyService({ WORKERS: '2' }, LIMITS);
  large = await startReadyService({ WORKERS: '2' });
});
afterAll(async () => {
  await small.stop();
  await large.stop();
});

const bytesOf = async (answer: Answer) => Buffer.from(await answer.arrayBuffer());

/** The bodies of an answer and of those that its links name. */
async function linked(ask: (query: string) => Promise<Answer>, query: string): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  for (let next: string | undefined = query; next !== undefined;) {
    const answer = await ask(next);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('spikes-truncated')).toBeNull();
    bodies.push(await bytesOf(answer));
    const link = answer.headers.get('link');
    next = link === null ? undefined : /^<(\?.*)>; rel="next"$/.exec(link)![1]!;
  }
  return bodies;
}

const posted =
  (service: Service) =>
  (query: string): Promise<Answer> =>
    service.post(DOCUMENT, PATH + query, HEADERS);

async function finishedJob(service: Service, document: object, query = ''): Promise<string> {
  const answer = await service.post(document, PATH + query, ASYNC);
  expect(answer.status).toBe(202);
  const location = answer.headers.get('location')!;
  await until(async () => /successful|failed/.test((await (await service.get(location)).json()).status));
  return location;
}

describe.each(['csv', 'arrow', 'parquet'] as const)('a table of spikes as %s', (format) => {
  it.each(['spikes', 'inputs'])('has pages, which together have all of its rows: %s', async (table) => {
    const query = `?format=${format}&table=${table}`;
    const all = await READERS.csv(await bytesOf(await posted(large)(`?format=csv&table=${table}`)));
    const pages = await linked(posted(small), query);
    expect(pages.length).toBeGreaterThan(table === 'spikes' ? 1 : 0);
    const rows = await Promise.all(pages.map((page) => READERS[format](page)));
    expect(rows.flat()).toEqual(all);
    const location = await finishedJob(small, DOCUMENT);
    expect(await linked((next) => small.get(`${location}/results${next}`), query)).toEqual(pages);
  });
});

it('a link names all that still applies', async () => {
  const { headers } = await small.post(DOCUMENT, `${PATH}?from=1&table=spikes&truncate=false`, {
    ...HEADERS,
    accept: 'text/csv',
  });
  expect(headers.get('link')).toMatch(/^<\?format=csv&truncate=false&table=spikes&page=\d\.\d>; rel="next"$/);
  expect(headers.get('access-control-expose-headers')).toMatch(/\bLink\b.*\bSpikes-Truncated\b/);
});

it.each(['json', 'ndjson'])('%s names the page that goes on in its totals', async (format) => {
  const whole = await (await posted(large)('?format=json')).json();
  const rows: [number, number, number, string][] = [];
  const location = await finishedJob(small, DOCUMENT);
  let pages = 0;
  for (let query: string | undefined = '', next; query !== undefined; pages++) {
    const path: string = `?format=${format}${query}`;
    const bytes = await bytesOf(await posted(small)(path));
    const ofJob = await bytesOf(await small.get(`${location}/results${path}`));
    const lines = bytes.toString().trim().split('\n');
    const body =
      format === 'json'
        ? JSON.parse(bytes.toString())
        : {
            conditions: lines.map((line) => JSON.parse(line)).filter((line) => 'index' in line),
            ...JSON.parse(lines.at(-1)!),
          };
    expect(ofJob.equals(bytes)).toBe(true);
    for (const { index, reports } of body.conditions) {
      const { trial, t_ms: times, root_id: ids } = reports.spikes;
      trial.forEach((each: number, row: number) => rows.push([index, each, times[row], ids[row]]));
      // A report without rows covers the whole condition on each of its pages.
      expect(reports.rates).toEqual(whole.conditions[index].reports.rates);
    }
    next = body.next_page;
    query = next === undefined ? undefined : `&page=${next}`;
  }
  expect(pages).toBeGreaterThan(2);
  const all = whole.conditions.flatMap(({ index, reports }: (typeof whole.conditions)[number]) =>
    reports.spikes.trial.map((trial: number, row: number) => [
      index,
      trial,
      reports.spikes.t_ms[row],
      reports.spikes.root_id[row],
    ]),
  );
  expect(rows).toEqual(all);
});

it('nothing is cut unless the request allows it, and then it is said', async () => {
  const location = await finishedJob(small, DOCUMENT);
  for (const ask of [posted(small), (query: string) => small.get(`${location}/results${query}`)]) {
    const table = await ask('?format=csv&table=spikes&truncate=true');
    expect([table.headers.get('spikes-truncated'), table.headers.get('link')]).toEqual(['true', null]);
    // Three tables of four conditions share the limit.
    expect(await READERS.csv(await bytesOf(table))).toHaveLength(4 * Math.floor(1000 / 12));
    const { conditions, warnings, next_page: next } = await (await ask('?truncate=true')).json();
    expect(next).toBeUndefined();
    expect(conditions[3].reports.spikes).toMatchObject({ truncated: true });
    expect(warnings.map(({ code }: { code: string }) => code)).toContain('SPIKES_TRUNCATED');
  }
});

it('refuses parameters that exclude one another, and pages that no answer names', async () => {
  const location = await finishedJob(small, DOCUMENT, '?from=2');
  const errorOf = async (answer: Answer) => [answer.status, (await answer.json()).error];
  for (const [query, error] of [
    ['?page=1.0&from=1', 'page must not be given together with from, got 1.0.'],
    ['?page=1.0&truncate=true', 'page must not be given together with truncate=true, got 1.0.'],
    ['?page=1', 'page must be a page that another answer names, such as 17.4, got "1".'],
    ['?page=4.0', 'page must be one that another answer to this experiment names, 3.2 at most, got 4.0.'],
    ['?page=3.3', 'page must be one that another answer to this experiment names, 3.2 at most, got 3.3.'],
    ['?page=1.0&format=csv', 'page must not be given for the table rates, which has no pages.'],
    ['?truncate=yes', 'truncate must be one of true, false, got "yes".'],
  ]) {
    expect(await errorOf(await posted(small)(query!))).toEqual([400, error]);
    expect(await errorOf(await small.get(`${location}/results${query}`))).toEqual([400, error]);
  }
  expect(await errorOf(await small.get(`${location}/results?page=1.2`))).toEqual([
    400,
    'page must be at least 2, the first condition of the job, got 1.2.',
  ]);
  expect(await errorOf(await small.post(DOCUMENT, `${PATH}?page=1.2`, ASYNC))).toEqual([
    400,
    'page must not be given for a job: its results have pages. A job begins at from.',
  ]);
});

describe('a trial or a condition that is too large', () => {
  const LONG = { ...DOCUMENT, duration_ms: 2000 };

  it('is refused with its rows and the limit', async () => {
    for (const [query, limit, where] of [
      ['?format=csv&table=spikes', 1000, 'a table'],
      ['', 900, 'JSON and NDJSON'],
    ]) {
      const answer = await small.post(LONG, `${PATH}${query}`, HEADERS);
      expect([answer.status, await answer.json()]).toMatchObject([
        422,
        {
          code: 'TOO_EXPENSIVE',
          path: '/reports',
          error: expect.stringMatching(
            new RegExp(
              `^Trial 0 of condition 0 has \\d{4} rows of events; at most ${limit} are allowed in ${where}\\.`,
            ),
          ),
        },
      ]);
    }
  });

  it('fails a job', async () => {
    const location = await finishedJob(small, { ...LONG, trials: 1 });
    const { status, error } = await (await small.get(location)).json();
    expect([status, error.code]).toEqual(['failed', 'TOO_EXPENSIVE']);
    expect(error.error).toMatch(/^Condition \d has \d{4} rows .* a job keeps at most 1000 of a condition\./);
    expect((await small.get(`${location}/results`)).status).toBe(422);
  });

  it.each(['identity', 'gzip'])('breaks an answer off that has begun: %s', async (encoding) => {
    // 80 conditions without a spike, whose rates are more than the service holds back.
    const document = {
      ...LONG,
      duration_ms: 500,
      trials: 2,
      reports: {
        rates: { node_set: '*', group_by: ['neuron'] },
        spikes: { node_set: '*', type: 'spikes' },
      },
      sweep: [
        { set: 'inputs.sugar.rate_hz', values: [0, 400] },
        { set: 'seed', from: 1, to: 80, step: 1 },
      ],
    };
    const answer = await fetch(`${small.url}${PATH}?format=json`, {
      method: 'POST',
      headers: { ...HEADERS, 'accept-encoding': encoding },
      body: JSON.stringify(document),
    });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null]);
    const read = answer.text().then((text) => text.length);
    await expect(read).rejects.toThrow();
  });
});
