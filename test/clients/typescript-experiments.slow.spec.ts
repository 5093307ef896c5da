import type { RequestListener } from 'node:http';
import {
  connect,
  type ExperimentDocument,
  type ExperimentLine,
  InterruptedError,
  type JobState,
  NeuralExperimentClient,
  ServiceError,
} from '../../clients/typescript/src/client.js';
import { FORMATS } from '../../src/experiments/formats/formats.js';
import { Admission } from '../../src/service/limits/admission.js';
import { answeredBy } from '../support/answered-by.js';
import { startReadyService, type Service } from '../support/service.js';

const PATH = '/api/v2/experiments';
const DOCUMENT: ExperimentDocument = {
  inputs: { sugar: { node_set: 'S_sugar' } },
  duration_ms: 50,
  trials: 2,
  reports: { cells: { node_set: 'C_*', group_by: ['type'] }, raster: { node_set: 'C_*', type: 'spikes' } },
  sweep: [{ set: 'inputs.sugar.rate_hz', values: [0, 50, 100, 150] }],
};

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

async function linesOf(lines: AsyncIterable<ExperimentLine>): Promise<ExperimentLine[]> {
  const all = [];
  for await (const line of lines) all.push(line);
  return all;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('open experiments with the typed client', () => {
  let service: Service;
  let client: NeuralExperimentClient;
  beforeAll(async () => {
    service = await startReadyService();
    client = new NeuralExperimentClient(service.url);
  });
  afterAll(() => service.stop());

  it('gives the lines as they come, and the whole answer', async () => {
    const whole = await (await service.post(DOCUMENT, PATH)).json();
    const lines = (await linesOf(client.runExperiment(DOCUMENT))).filter((line) => !('progress' in line));
    const { conditions, unchanged, cost, warnings, cite, ...head } = whole;
    expect(lines).toEqual([head, ...conditions, { unchanged, cost, warnings, cite }]);
    expect(conditions.length).toBe(4);
    const answer = await client.runExperiment(DOCUMENT).answer();
    expect(JSON.stringify(answer)).toBe(JSON.stringify(whole));
    expect(await client.runExperiment(answer.experiment).answer()).toEqual(answer);
  });

  it('goes on at a condition', async () => {
    const { conditions } = await client.runExperiment(DOCUMENT).answer();
    const rest = await client.runExperiment(DOCUMENT, { from: 2 }).answer();
    expect(rest.conditions).toEqual(conditions.slice(2));
  });

  it('names the price of an experiment, and finds neurons and node sets', async () => {
    const { cost, resolved } = await client.dryRun(DOCUMENT);
    expect(cost.brain_seconds).toBe(0.4);
    expect(resolved['inputs.sugar']).toMatchObject({ neurons: 12 });
    const found = await client.neurons({ type: 'S_*', side: 'left', limit: 3 });
    expect(found).toEqual(await (await service.get('/api/v2/neurons?type=S_*&side=left&limit=3')).json());
    expect(found.neurons.length).toBe(3);
    expect((await client.nodeSets()).node_sets.map(({ name }) => name)).toContain('@stimulus/sugar');
  });

  it('lists connections between selectors of any form', async () => {
    const selector = { type: 'C_*', downstream_of: ['S_sugar'], hops: 2 } as const;
    const path = '/api/v2/connections?target=C_stop&group_by=neuron';
    const text = encodeURIComponent(JSON.stringify(selector));
    const expected = await (await service.get(`${path}&source=${text}&from=1&limit=2`)).json();
    const query = { source: selector, target: 'C_stop', group_by: 'neuron', from: 1, limit: 2 } as const;
    expect(await client.connections(query)).toEqual(expected);
    // A comma in a string belongs to the name.
    expect(await failureOf(client.connections({ source: 'S_sugar,S_loom' }))).toMatchObject({
      code: 'UNKNOWN_NEURONS',
      path: '/source/0',
    });
  });

  it('gives tables as the service writes them', async () => {
    for (const [format, query] of [
      ['csv', 'format=csv&table=spikes'],
      ['arrow', 'format=arrow&table=spikes'],
    ] as const) {
      const table = await client.experimentTable(DOCUMENT, { format, table: 'spikes' });
      const expected = await service.post(DOCUMENT, `${PATH}?${query}`);
      expect(Buffer.from(await table.arrayBuffer())).toEqual(Buffer.from(await expected.arrayBuffer()));
    }
  });

  it('gives the figure, of an experiment and of a job', async () => {
    const svg = await (await service.post(DOCUMENT, `${PATH}?format=svg`)).text();
    expect(svg).toMatch(/^<svg [^]*<\/svg>\n$/);
    expect(await client.experimentFigure(DOCUMENT)).toBe(svg);
    const job = await client.submitExperiment(DOCUMENT);
    await job.wait();
    expect(await job.figure()).toBe(svg);
  });

  it('follows the pages of an answer and of a table', async () => {
    const document = {
      ...DOCUMENT,
      trials: 4,
      sweep: [{ set: 'inputs.sugar.rate_hz', values: [0, 120, 130, 140, 150, 160, 170, 180, 190, 200] }],
      reports: {
        rates: { node_set: 'S_sugar' },
        all: { node_set: '*', type: 'spikes' },
        given: { node_set: '*', type: 'inputs' },
        potentials: { node_set: 'C_walk', type: 'membrane', dt_ms: 10 },
      },
    } as const;
    const paging = await startReadyService({}, { limits: { jsonRows: 900, tableRows: 1500 } });
    try {
      const small = new NeuralExperimentClient(paging.url);
      const { next_page: next } = await (await paging.post(document, PATH)).json();
      expect(next).toMatch(/^\d\.[123]$/);
      const whole = await client.runExperiment(document).answer();
      expect(await small.runExperiment(document).answer()).toEqual(whole);
      expect(await connect(paging.url).experiment(document)).toEqual(whole);
      const rest = await small.runExperiment(document, { from: 1 }).answer();
      expect(rest.conditions).toEqual(whole.conditions.slice(1));
      const job = await small.submitExperiment(document);
      await job.wait(undefined, { everyMs: 20 });
      expect(await job.results().answer()).toEqual(whole);

      const order = { format: 'csv', table: 'spikes' } as const;
      const all = await (await client.experimentTable(document, order)).text();
      for (const pages of [small.experimentTablePages(document, order), job.tablePages(order)]) {
        const texts: string[] = [];
        for await (const page of pages) texts.push(await page.text());
        expect(texts.length).toBeGreaterThan(1);
        const header = all.slice(0, all.indexOf('\n') + 1);
        expect(header + texts.map((text) => text.slice(header.length)).join('')).toBe(all);
      }
      for (const asked of [small.experimentTable(document, order), job.table(order)]) {
        expect(await failureOf(asked)).toMatchObject({ name: 'MorePagesError' });
      }
      const cut = await small.experimentTable(document, { ...order, truncate: true });
      expect(cut.headers.get('Spikes-Truncated')).toBe('true');
    } finally {
      await paging.stop();
    }
  });

  it('throws the error of the service for a mistake, with its path and suggestions', async () => {
    const wrong = { ...DOCUMENT, silence: ['S_suger'] };
    const { error } = await (await service.post(wrong, PATH)).json();
    const expected = {
      name: 'ServiceError',
      status: 400,
      code: 'UNKNOWN_NEURONS',
      message: error as string,
      path: '/silence/0',
      suggestions: expect.arrayContaining(['S_sugar']),
    };
    expect(await failureOf(client.runExperiment(wrong).answer())).toMatchObject(expected);
    expect(await failureOf(client.dryRun(wrong))).toMatchObject(expected);
    expect(await failureOf(client.experimentTable(wrong, { format: 'csv' }))).toMatchObject(expected);
  });

  it('ends the experiment when nobody asks for more lines, or when it is aborted', async () => {
    const busy = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '1000000' });
    try {
      const endless = {
        duration_ms: 1000,
        trials: 1,
        sweep: [{ set: 'seed', from: 1, to: 500, step: 1 }],
      } as const;
      const underWay = () => busy.app.get(Admission).underWay;
      const eager = new NeuralExperimentClient(busy.url);
      for await (const line of eager.runExperiment(endless)) {
        if (!('index' in line)) continue;
        expect(underWay()).toBe(1);
        break;
      }
      await until(() => underWay() === 0);
      const stop = new AbortController();
      const lines = [];
      const aborted = (async () => {
        for await (const line of eager.runExperiment(endless, { signal: stop.signal })) {
          if (lines.push(line) === 3) stop.abort(new Error('enough'));
        }
      })();
      await expect(aborted).rejects.toThrow('enough');
      expect(lines.length).toBeLessThan(400);
      await until(() => underWay() === 0);
    } finally {
      await busy.stop();
    }
  });

  it('waits for brain seconds if it may, as Retry-After says', async () => {
    const limited = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '1' });
    try {
      const impatient = new NeuralExperimentClient(limited.url);
      const second = { duration_ms: 1000, trials: 1 };
      await impatient.runExperiment(second).answer();
      const failure = await failureOf(
        impatient.runExperiment({ ...second, seed: 2 }, { waitAtMostS: 1 }).answer(),
      );
      expect(failure).toMatchObject({ status: 429, code: 'RATE_LIMITED', isTemporary: true });
      expect((failure as ServiceError).retryAfterS).toBeGreaterThan(1);
    } finally {
      await limited.stop();
    }
  });
});

describe('jobs with the typed client', () => {
  /** Hours of simulated time, for tests that end it. */
  const ENDLESS = {
    ...DOCUMENT,
    duration_ms: 1000,
    trials: 10,
    sweep: [{ set: 'seed', from: 1, to: 2000, step: 1 }],
  } as const;
  let service: Service;
  let client: NeuralExperimentClient;
  beforeAll(async () => {
    service = await startReadyService({ EXPERIMENT_BRAIN_SECONDS: '1', WORKERS: '2' });
    client = new NeuralExperimentClient(service.url);
  });
  afterAll(() => service.stop());

  it('gives the lines and the tables of the immediate answer', async () => {
    const job = await client.submitExperiment(DOCUMENT);
    const states: JobState[] = [];
    const last = await job.wait((state) => states.push(state), { everyMs: 20 });
    expect(last).toBe(states.at(-1));
    expect(last).toMatchObject({ jobID: job.id, status: 'successful', progress: 100, conditions_done: 4 });
    expect(await client.job(job.id).state()).toEqual(last);
    const whole = await client.runExperiment(DOCUMENT).answer();
    expect(JSON.stringify(await job.results().answer())).toBe(JSON.stringify(whole));
    expect((await job.results({ from: 2 }).answer()).conditions).toEqual(whole.conditions.slice(2));
    const choice = { format: 'parquet', table: 'spikes' } as const;
    const [own, immediate] = await Promise.all([job.table(choice), client.experimentTable(DOCUMENT, choice)]);
    expect(Buffer.from(await own.arrayBuffer())).toEqual(Buffer.from(await immediate.arrayBuffer()));
  });

  it('computes an experiment that is too expensive for one request, gives finished conditions, and ends', async () => {
    expect(await failureOf(client.runExperiment(ENDLESS).answer())).toMatchObject({ code: 'TOO_EXPENSIVE' });
    const job = await client.submitExperiment(ENDLESS);
    const enough = new AbortController();
    const seen: JobState[] = [];
    const waiting = job.wait(
      (state) => {
        seen.push(state);
        if (state.conditions_done > 3) enough.abort(new Error('enough'));
      },
      { everyMs: 20, signal: enough.signal },
    );
    await expect(waiting).rejects.toThrow('enough');
    expect(seen.at(-1)!.seconds_left).toBeGreaterThan(1);
    const { conditions, partial } = await job.results().answer();
    expect(partial).toBe(true);
    expect(conditions.length).toBeGreaterThan(3);
    // A client that waits is told that the job was ended by another.
    const ended = failureOf(job.wait(undefined, { everyMs: 20 }));
    expect((await job.end()).status).toBe('dismissed');
    expect(await ended).toMatchObject({ name: 'ServiceError', code: 'NOT_FOUND' });
    expect(await failureOf(job.results().answer())).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('throws the error of the service for a mistake, and for an unknown job', async () => {
    const wrong = { ...DOCUMENT, silence: ['S_suger'] };
    const refused = await failureOf(client.submitExperiment(wrong));
    expect(refused).toMatchObject({ status: 400, code: 'UNKNOWN_NEURONS', path: '/silence/0' });
    const nobody = client.job('nobody/knows');
    for (const asked of [nobody.state(), nobody.wait(), nobody.end(), nobody.table({ format: 'csv' })]) {
      expect(await failureOf(asked)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  });
});

describe('the typed client and broken answers', () => {
  const HEAD = '{"id":"a","experiment":{"name":"ü"}}\n';
  const LINES = [HEAD, '{"index":0}\n', '{"progress":{"trials":9}}\n', '{"index":3}\n', '{"cost":{}}\n'];

  /** Answers as `answeredBy` does, with the media type that the service sends. */
  function answeredInForm<T>(answer: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
    return answeredBy((request, response) => {
      const format = new URL(request.url!, 'http://here').searchParams.get('format') ?? 'json';
      response.setHeader('Content-Type', FORMATS[format as keyof typeof FORMATS].mediaType);
      return answer(request, response);
    }, use);
  }

  it('reads lines however they are cut into pieces', async () => {
    const bytes = Buffer.from(LINES.join(''));
    const answer = await answeredInForm(
      (_, response) => {
        void (async () => {
          for (const byte of bytes) {
            response.write(Buffer.of(byte));
            await new Promise((resolve) => setImmediate(resolve));
          }
          response.end();
        })();
      },
      (url) => linesOf(new NeuralExperimentClient(url).runExperiment({})),
    );
    expect(answer).toEqual(LINES.map((line) => JSON.parse(line)));
  });

  it.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 4],
  ])('names the condition to continue from after %i lines', async (lines, from) => {
    for (const isReset of [true, false]) {
      const failure = await answeredInForm(
        (_, response) => {
          response.write(LINES.slice(0, lines).join('') + '{"ind', () =>
            isReset ? response.socket!.resetAndDestroy() : response.end(),
          );
        },
        (url) => failureOf(new NeuralExperimentClient(url).runExperiment({}).answer()),
      );
      expect(failure).toBeInstanceOf(InterruptedError);
      expect(failure).toMatchObject({ from, message: expect.stringContaining(`from: ${from} `) });
    }
  });

  const TOTALS = { unchanged: [], warnings: [], cost: {} };
  const firstPage = `${HEAD}{"index":0}\n${JSON.stringify({ ...TOTALS, partial: true, next_page: '1.0' })}\n`;

  it('remembers that the first page of a job was partial', async () => {
    const answer = await answeredInForm(
      ({ url }, response) =>
        response.end(url!.includes('page=') ? `${HEAD}${JSON.stringify(TOTALS)}\n` : firstPage),
      (url) => new NeuralExperimentClient(url).job('job').results().answer(),
    );
    expect(answer.partial).toBe(true);
  });

  it('names the condition to continue from if a further page is refused for now', async () => {
    const answer: RequestListener = ({ url }, response) => {
      if (!url!.includes('page=')) response.end(firstPage);
      else response.writeHead(429, { 'retry-after': '9' }).end('{"error":"Later.","code":"RATE_LIMITED"}');
    };
    await answeredInForm(answer, async (url) => {
      expect(await failureOf(new NeuralExperimentClient(url).runExperiment({}).answer())).toMatchObject({
        name: 'InterruptedError',
        message: expect.stringContaining('refused'),
        from: 1,
        cause: { status: 429, code: 'RATE_LIMITED', retryAfterS: 9 },
      });
      // A brain's experiment has no part to continue.
      expect(await failureOf(connect(url).experiment({}))).toMatchObject({ code: 'RATE_LIMITED' });
    });
  });

  it('throws the failure of a job, also if the service was away for a while', async () => {
    const states = [
      undefined,
      '{"status":"running"}',
      undefined,
      '{"status":"failed","error":{"error":"It is too large.","code":"TOO_EXPENSIVE","path":"/reports"}}',
    ];
    let asked = 0;
    const answer: RequestListener = (_, response) => {
      const state = states[asked++];
      if (state === undefined) response.socket!.resetAndDestroy();
      else response.end(state);
    };
    const wait = (url: string, waitAtMostS: number) =>
      failureOf(new NeuralExperimentClient(url).job('job').wait(undefined, { everyMs: 10, waitAtMostS }));
    expect(await answeredInForm(answer, (url) => wait(url, 60))).toMatchObject({
      name: 'ServiceError',
      status: undefined,
      code: 'TOO_EXPENSIVE',
      message: 'It is too large.',
      path: '/reports',
    });
    expect(asked).toBe(4);
    asked = 0;
    expect(await answeredInForm(answer, (url) => wait(url, 0))).toMatchObject({ name: 'TypeError' });
    expect(asked).toBe(1);
  });

  it('waits for an answer no longer than it may, whatever it waits for', async () => {
    let asked = 0;
    // The second that passes before the connection breaks is missing afterwards.
    const answer: RequestListener = (_, response) => {
      if (++asked === 2) response.socket!.resetAndDestroy();
      else response.writeHead(503, { 'retry-after': '1' }).end('{"error":"Later.","code":"MODEL_LOADING"}');
    };
    const failure = await answeredInForm(answer, (url) =>
      failureOf(
        new NeuralExperimentClient(url).job('job').wait(undefined, { everyMs: 10, waitAtMostS: 1.9 }),
      ),
    );
    expect(failure).toBeInstanceOf(Error);
    expect(asked).toBeLessThan(4);
  });

  it('begins a job again under the same key if no answer came', async () => {
    const keys: unknown[] = [];
    const answer: RequestListener = ({ headers }, response) => {
      keys.push(headers['idempotency-key']);
      if (keys.length === 1) response.socket!.resetAndDestroy();
      else if (keys.length === 2) response.writeHead(503, { 'retry-after': '0' }).end('{"error":"Later."}');
      else response.writeHead(202).end('{"jobID":"a job"}');
    };
    const submit = (url: string, waitAtMostS: number) =>
      new NeuralExperimentClient(url).submitExperiment({}, { waitAtMostS });
    const [first, second] = await answeredInForm(answer, async (url) => [
      await submit(url, 60),
      await submit(url, 60),
    ]);
    expect([first!.id, second!.id]).toEqual(['a job', 'a job']);
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[0]).toMatch(/^"[\da-f]{32}"$/);
    expect(keys[3]).not.toBe(keys[0]);
    keys.length = 0;
    expect(await answeredInForm(answer, (url) => failureOf(submit(url, 0)))).toMatchObject({
      name: 'TypeError',
    });
  });

  it('says so if a service computes no jobs', async () => {
    const failure = await answeredInForm(
      (_, response) => response.end('{"id":"a","conditions":[]}'),
      (url) => failureOf(new NeuralExperimentClient(url).submitExperiment({})),
    );
    expect(failure).toMatchObject({ name: 'ServiceError', message: expect.stringContaining('no jobs') });
  });

  it('throws the failure that an answer ends with', async () => {
    const line = '{"error":"It stops.","code":"DRAINING","path":""}\n';
    const failure = await answeredInForm(
      (_, response) => response.end(LINES[0]! + LINES[1]! + line),
      (url) => failureOf(new NeuralExperimentClient(url).runExperiment({}).answer()),
    );
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ status: undefined, code: 'DRAINING', message: 'It stops.', path: '' });
  });

  it('gives up when no line comes in time, but not while nobody asks', async () => {
    await answeredInForm(
      (_, response) => {
        response.write(LINES.slice(0, 2).join(''));
      },
      async (url) => {
        const lines: unknown[] = [];
        const asked = (async () => {
          for await (const line of new NeuralExperimentClient(url, { timeoutMs: 100 }).runExperiment({})) {
            lines.push(line);
            await new Promise((resolve) => setTimeout(resolve, 150));
          }
        })();
        const failure = await failureOf(asked);
        expect(failure).toMatchObject({ name: 'InterruptedError', from: 1 });
        expect((failure as Error).cause).toMatchObject({ name: 'TimeoutError' });
        expect(lines.length).toBe(2);
      },
    );
    await answeredInForm(
      () => {},
      async (url) => {
        const silent = new NeuralExperimentClient(url, { timeoutMs: 50 });
        for (const asked of [silent.runExperiment({}).answer(), silent.job('job').table({ format: 'csv' })]) {
          expect(await failureOf(asked)).toMatchObject({ name: 'TimeoutError' });
        }
      },
    );
  });

  it('waits until a table or a figure begins, but not in the middle of a figure', async () => {
    await answeredInForm(
      ({ url }, response) => {
        setTimeout(() => (url!.includes('from=1') ? response.write('<svg') : response.end('<svg/>')), 200);
      },
      async (url) => {
        const late = new NeuralExperimentClient(url, { timeoutMs: 100 });
        expect(await (await late.experimentTable({}, { format: 'csv' })).text()).toBe('<svg/>');
        expect(await late.experimentFigure({})).toBe('<svg/>');
        expect(await failureOf(late.experimentFigure({}, { from: 1 }))).toMatchObject({
          name: 'TimeoutError',
        });
      },
    );
  });

  it.each([
    [200, 'text/html', '<html>'],
    [200, undefined, '<html>\n'],
    [200, 'application/json', '[]'],
    [200, 'application/json', '{"error":"x"}'],
    [204, undefined, undefined],
  ])('refuses an answer that is not of the service: %s %s %s', async (status, type, text) => {
    const answer: RequestListener = (_, response) =>
      response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(text);
    await answeredBy(answer, async (url) => {
      const other = new NeuralExperimentClient(url);
      for (const asked of [
        other.runExperiment({}).answer(),
        other.job('job').results({ waitAtMostS: 60 }).answer(),
        other.experimentTable({}, { format: 'csv' }),
        other.job('job').table({ format: 'parquet' }),
        other.experimentFigure({}),
        other.watchSession('session').next(),
        other.job('job').end(),
        connect(url).session({}),
      ]) {
        const failure = await failureOf(asked);
        expect(failure).toBeInstanceOf(ServiceError);
        expect(failure).toMatchObject({ status, code: undefined });
      }
    });
  });

  it('refuses answers without the required members in a session of a brain', async () => {
    let text = '{"session":"a","t_ms":0}';
    await answeredBy(
      (_, response) => response.end(text),
      async (url) => {
        const session = await connect(url).session({});
        text = '{"ok":true}';
        for (const asked of [
          connect(url).session({}),
          session.step({ t_ms: 0, duration_ms: 20 }),
          session.document(),
          session.branch(),
        ]) {
          expect(await failureOf(asked)).toMatchObject({ name: 'ServiceError', code: undefined });
        }
      },
    );
  });
});
