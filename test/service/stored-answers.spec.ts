/** An experiment that many ask for is computed and charged once. */
import { readFileSync } from 'node:fs';
import { LESSON, lessonDocuments } from '../../src/experiments/document/lesson.js';
import { connectomeFile } from '../support/connectomes.js';
import { NO_BUDGET, run, SUGAR } from '../support/experiment-requests.js';
import { startReadyService, type Service } from '../support/service.js';

/** Half of the budget and a little more: it can be paid once a minute. */
const BUDGET_S = 2;
const DOCUMENT = { ...SUGAR, sweep: [], duration_ms: 120, trials: 10 };

describe('a stored answer', () => {
  let service: Service;
  let tests = 0;
  /** Each test has a client and a document of its own. */
  let own: typeof DOCUMENT & { readonly seed: number };
  const ask = (document: object, query = '', headers = {}) =>
    run(service, document, query, { 'x-forwarded-for': `203.0.113.${tests}`, ...headers });

  beforeAll(async () => {
    service = await startReadyService({
      WORKERS: '2',
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: String(BUDGET_S),
      TRUST_PROXY: 'loopback',
    });
  });
  afterAll(() => service.stop());
  beforeEach(() => (own = { ...DOCUMENT, seed: ++tests }));

  it.each(['json', 'ndjson', 'csv', 'arrow', 'svg'])(
    'costs nothing and has the same bytes, as %s',
    async (format) => {
      const query = `?format=${format}`;
      const first = await ask(own, query);
      expect(first.status).toBe(200);
      const bytes = Buffer.from(await first.arrayBuffer());
      for (let again = 0; again < 3; again++) {
        const next = await ask(own, query);
        expect(next.status).toBe(200);
        const lines = (text: string) => text.split('\n').filter((line) => !line.includes('"progress"'));
        if (format === 'ndjson') expect(lines(await next.text())).toEqual(lines(bytes.toString()));
        else expect(Buffer.from(await next.arrayBuffer()).equals(bytes)).toBe(true);
      }
      // Another experiment is charged.
      expect((await ask({ ...own, seed: 100 + own.seed }, query)).status).toBe(429);
    },
  );

  it.each(['json', 'ndjson'])('in %s is drawn, and not computed again', async (format) => {
    const reports = { escape: { node_set: 'C_escape' }, raster: { node_set: 'C_escape', type: 'spikes' } };
    const document = { ...own, reports, name: 'Drawn "<again>"' };
    const answer = await ask(document, `?format=${format}`);
    await answer.text();
    const drawn = await ask(document, '', { accept: 'image/svg+xml' });
    expect(drawn.status).toBe(200);
    expect(drawn.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    const svg = await drawn.text();
    expect(svg).toMatch(/^<svg [^]*Drawn &quot;&lt;again&gt;&quot;[^]*<\/svg>\n$/);
    // It is charged if it is computed.
    const other = await startReadyService({ WORKERS: '2' });
    try {
      expect(await (await run(other, document, '?format=svg')).text()).toBe(svg);
    } finally {
      await other.stop();
    }
    expect(await (await ask(document, '?format=svg')).text()).toBe(svg);
  });

  it('is awaited by equal experiments that arrive during the first', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(own)));
    expect(answers.map(({ status }) => status)).toEqual(new Array(8).fill(200));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(texts).size).toBe(1);
  });

  it('is not that of an experiment whose names are in another order, though their ids are equal', async () => {
    const reports = { walk: { node_set: 'C_walk' }, escape: { node_set: 'C_escape' } };
    const sorted = { escape: reports.escape, walk: reports.walk };
    const answers = [];
    for (const each of [reports, sorted]) {
      const answer = await ask({ ...own, duration_ms: 10, reports: each });
      answers.push(await answer.json());
    }
    const [first, second] = answers;
    expect(second.id).toBe(first.id);
    expect(answers.map(({ conditions }) => Object.keys(conditions[0].reports))).toEqual([
      ['walk', 'escape'],
      ['escape', 'walk'],
    ]);
    expect(second.conditions[0].reports.walk).toEqual(first.conditions[0].reports.walk);
  });

  it('is none if the experiment failed', async () => {
    const refused = { ...own, trials: 30 };
    expect((await ask(refused)).status).toBe(422);
    expect((await ask(refused)).status).toBe(422);
  });
});

describe('a class of 60 at one address', () => {
  it('gets the answer to one experiment of some seconds', async () => {
    const service = await startReadyService({ WORKERS: '2', ...NO_BUDGET });
    try {
      const reports = { walk: { node_set: 'C_walk' } };
      const sweep = [{ set: 'seed', from: 1, to: 100, step: 1 }];
      const document = { ...DOCUMENT, reports, trials: 100, sweep };
      const answers = await Promise.all(Array.from({ length: 60 }, () => run(service, document)));
      expect(answers.map(({ status }) => status)).toEqual(new Array(60).fill(200));
      expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    } finally {
      await service.stop();
    }
  });
});

describe('a published experiment', () => {
  /** Costs 1.2 brain seconds. */
  const EXAMPLE = JSON.parse(readFileSync('examples/looming-ramp.json', 'utf8')) as object;
  const OWN = { inputs: {}, reports: {}, duration_ms: 500, trials: 1 };
  /** A figure of the lesson, which costs 1.5 brain seconds. */
  const FIGURE = LESSON.get('tired')!.documentOf(500);

  it('costs nothing the first time, until the account that pays for all clients is spent', async () => {
    const service = await startReadyService({
      CONNECTOME_FILE: await connectomeFile('default'),
      WORKERS: '2',
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: String(BUDGET_S),
    });
    try {
      /** The status, and what the client has left if it was charged. */
      const ask = async (document: object, query = '') => {
        const answer = await run(service, document, query);
        await answer.arrayBuffer();
        return [answer.status, answer.headers.get('ratelimit-remaining')];
      };
      expect(await ask(OWN)).toEqual([200, '1']);
      expect(await ask(EXAMPLE)).toEqual([200, null]);
      for (let pupil = 0; pupil < 3; pupil++) expect(await ask(FIGURE)).toEqual([200, null]);
      // The account pays for a second format. It then has 0.8 left, so the client pays for a third one.
      expect(await ask(EXAMPLE, '?format=ndjson')).toEqual([200, null]);
      expect(await ask(EXAMPLE, '?format=csv')).toEqual([200, '0']);
      expect(await ask({ ...OWN, seed: 2 })).toEqual([429, '0']);
      for (const each of [EXAMPLE, FIGURE]) expect(await ask({ ...each, seed: 2 })).toEqual([429, '0']);
      for (const query of ['', '?format=csv']) expect(await ask(EXAMPLE, query)).toEqual([200, null]);
    } finally {
      await service.stop();
    }
  });

  it('is each position of the sliders of the lesson', () => {
    const page = readFileSync('clients/pages/lesson.html', 'utf8');
    const sliders = [
      ...page.matchAll(/id="(\w+)-slider" type="range" min="(\d+)" max="(\d+)" step="(\d+)"/g),
    ];
    expect(sliders.map(([, figure, ...numbers]) => [figure, numbers.map(Number)])).toEqual(
      [...LESSON].map(([figure, { values }]) => [figure, values]),
    );
    expect(lessonDocuments()).toHaveLength(37);
  });
});
