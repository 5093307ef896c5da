/**
 * Open experiments while they are computed, over real HTTP: clients that leave or do not read, bounds, the end of the
 * service.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Admission } from '../../src/service/limits/admission.js';
import { ModelHealth } from '../../src/service/health/model-health.js';
import { Metrics } from '../../src/service/metrics/metrics.js';
import { MemoryWindow, type SlidingWindow } from '../../src/service/limits/sliding-window.js';
import { connectomeFile } from '../support/connectomes.js';
import { JSON_TYPE, NO_BUDGET, PATH, run, SUGAR } from '../support/experiment-requests.js';
import { FaultyWorkers } from '../support/faulty-workers.js';
import { startReadyService, type Answer, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';

/** Hours of simulated time, for tests that end it. */
const ENDLESS = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 200 } },
  duration_ms: 5000,
  trials: 100,
  reports: { walk: { node_set: 'C_walk' } },
  sweep: [{ set: 'seed', from: 1, to: 1900, step: 1 }],
};
const LARGE_ANSWERS = { limits: { groupNumbers: 100_000_000 } };

/** Begins an experiment and returns its output so far; the caller ends it. */
function begin(
  service: Service,
  document: unknown,
  query = '?format=ndjson',
  headers: Record<string, string> = {},
) {
  let text = '';
  let isEnded = false;
  let isWhole = false;
  const answered = { message: undefined as IncomingMessage | undefined };
  const sent = httpRequest(`${service.url}${PATH}${query}`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    agent: false,
  });
  sent.on('response', (message) => {
    answered.message = message;
    message.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    message.on('close', () => {
      isEnded = true;
      isWhole = message.complete;
    });
    message.on('error', () => undefined);
  });
  sent.on('error', () => (isEnded = true));
  sent.end(JSON.stringify(document));
  return {
    leave: () => sent.destroy(),
    status: () => answered.message?.statusCode,
    headers: () => answered.message?.headers ?? {},
    text: () => text,
    lines: () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    isEnded: () => isEnded,
    isWhole: () => isWhole,
  };
}

describe('experiments under way', () => {
  let service: Service;
  afterEach(() => service.stop());

  const underWay = () => service.app.get(Admission).underWay;
  const isComputing = () => {
    const { state } = service.app.get(ModelHealth);
    return state.name === 'ready' && state.model.queue.isComputing;
  };
  const codeOf = async (answer: Answer) => [answer.status, (await answer.json()).code];

  it('ends the work of a client that leaves, and gives back the unused part', async () => {
    service = await startReadyService({ WORKERS: '2' });
    const seeds = { set: 'seed', from: 1, to: 119, step: 1 };
    const leaving = begin(service, { ...ENDLESS, trials: 1, sweep: [seeds] });
    await until(() => leaving.lines().length > 3);
    expect(leaving.headers()['ratelimit-remaining']).toBe('5');
    leaving.leave();
    await until(() => underWay() === 0 && !isComputing());
    const small = { duration_ms: 100, trials: 1, reports: {} };
    const { headers } = await run(service, small);
    const begun = await metric(service, 'nes_experiment_brain_seconds_total');
    expect(begun).toBeGreaterThan(10);
    expect(begun).toBeLessThan(595);
    expect(headers.get('ratelimit-remaining')).toBe(String(Math.floor(600 - begun)));
    expect(await metric(service, 'nes_experiments_total', { outcome: 'cancelled' })).toBe(1);
    expect(await metric(service, 'nes_experiments_total', { outcome: 'done' })).toBe(1);
  });

  it('survives a client that leaves while it is charged, and takes nothing from it', async () => {
    const settled: number[] = [];
    let charge!: () => void;
    const asked: string[] = [];
    const charged = new Promise<void>((resolve) => (charge = resolve));
    const brainTime: SlidingWindow = {
      spend: async (client, amount) => {
        asked.push(client);
        await charged;
        return {
          allowed: true,
          remaining: 0,
          resetMs: amount,
          settle: (cameTo) => void settled.push(cameTo),
        };
      },
    };
    service = await startReadyService({}, { windows: { brainTime } });
    const leaving = begin(service, SUGAR);
    await until(() => asked.length === 1);
    leaving.leave();
    await until(async () => (await metric(service, 'nes_experiments_total', { status: '499' })) === 1);
    charge();
    await until(() => underWay() === 0);
    expect(settled).toEqual([0]);
    expect(await metric(service, 'nes_experiment_trials_total')).toBe(0);
    expect((await run(service, SUGAR)).status).toBe(200);
  });

  it('computes no further while nobody reads', async () => {
    service = await startReadyService({ ...NO_BUDGET, WORKERS: '2' }, LARGE_ANSWERS);
    const everyNeuron = { all: { node_set: { super_class: '*' }, group_by: ['neuron'] } };
    const sent = httpRequest(`${service.url}${PATH}?format=ndjson`, {
      method: 'POST',
      headers: JSON_TYPE,
      agent: false,
    });
    sent.on('error', () => undefined);
    const answered = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
    sent.end(JSON.stringify({ ...ENDLESS, duration_ms: 10, reports: everyNeuron }));
    // Without a reader the buffers of the system fill up, and then nothing more is computed.
    await answered;
    let quietSinceMs = performance.now();
    await until(() => {
      if (isComputing()) quietSinceMs = performance.now();
      return performance.now() - quietSinceMs > 500;
    });
    expect(underWay()).toBe(1);
    sent.destroy();
    await until(() => underWay() === 0);
  });

  it('keeps the connection of an answer that has begun while its next part takes long', async () => {
    const workers = new FaultyWorkers();
    const idleLimitMs = 600;
    service = await startReadyService(
      { ...NO_BUDGET, WORKERS: '2', RUN_TIMEOUT_MS: '100' },
      { ...LARGE_ANSWERS, workerFile: workers.file, requestTimeoutMs: idleLimitMs - 100 },
    );
    try {
      const sent = await fetch(`${service.url}${PATH}`, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({
          ...SUGAR,
          duration_ms: 1,
          trials: 1,
          reports: { all: { node_set: '@all', group_by: ['neuron'] } },
          sweep: [{ set: 'seed', from: 1, to: 400, step: 1 }],
        }),
      });
      // The beginning of the answer is out, and too little of it was read for the rest to be out.
      workers.hold('v2-trial');
      const answer = sent.json() as Promise<{ readonly conditions: readonly unknown[] }>;
      await new Promise((next) => setTimeout(next, 3 * idleLimitMs));
      expect(underWay()).toBe(1);
      workers.release();
      expect((await answer).conditions).toHaveLength(400);
    } finally {
      workers.release();
      workers.remove();
    }
  });

  it('bounds how many there are, of one client and of all, and answers runs of version 1 all the while', async () => {
    service = await startReadyService(
      { ...NO_BUDGET, WORKERS: '1', EXPERIMENTS_AT_ONCE: '3', TRUST_PROXY: 'loopback' },
      { limits: { experimentsPerClient: 2 } },
    );
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const open = [
      begin(service, ENDLESS, '?format=ndjson', from('203.0.113.1')),
      begin(service, ENDLESS, '?format=csv', from('203.0.113.1')),
    ];
    await until(() => underWay() === 2);
    const refused = await run(service, SUGAR, '', from('203.0.113.1'));
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await codeOf(refused)).toEqual([503, 'QUEUE_FULL']);
    open.push(begin(service, ENDLESS, '?format=parquet', from('203.0.113.2')));
    await until(() => underWay() === 3);
    expect(await codeOf(await run(service, SUGAR, '', from('203.0.113.3')))).toEqual([503, 'QUEUE_FULL']);
    // A dry run takes no place.
    expect((await run(service, SUGAR, '?dry_run=true', from('203.0.113.3'))).status).toBe(200);
    for (let seed = 0; seed < 20; seed++) expect((await service.post({ seed })).status).toBe(200);
    for (const each of open) each.leave();
    await until(() => underWay() === 0);
    expect((await run(service, SUGAR, '', from('203.0.113.1'))).status).toBe(200);
  });

  it('keeps the promise of Retry-After, and counts nothing that it refuses', async () => {
    let nowMs = 0;
    const brainTime = new MemoryWindow({
      limit: 1_000,
      windowMs: 60_000,
      slotMs: 1_000,
      maxClients: 10,
      nowMs: () => nowMs,
    });
    service = await startReadyService(
      { EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '1' },
      { windows: { brainTime } },
    );
    const reading = async (document: unknown, query = '') => {
      const { status, headers } = await run(service, document, query);
      return [status, headers.get('ratelimit-remaining'), headers.get('retry-after')];
    };
    for (const refused of [{ trials: 0 }, { duration_ms: 5000 }, { silence: ['Nobody'] }]) {
      expect((await reading(refused))[1]).toBeNull();
    }
    expect(await reading(SUGAR, '?dry_run=true')).toEqual([200, null, null]);
    expect(await reading(SUGAR)).toEqual([200, '0', null]);
    nowMs = 500;
    // Another seed, because an equal experiment would get the stored answer.
    const next = { ...SUGAR, seed: 7 };
    const refused = await run(service, next);
    expect(await refused.json()).toEqual({
      error:
        'At most 1 brain seconds a minute are allowed for each client; this experiment needs 0.9 and 0.1 are left; ' +
        'try again in 61 s.',
      code: 'RATE_LIMITED',
      path: '',
    });
    // A tenth of it still fits, and so it does later.
    expect(await reading({ duration_ms: 100, trials: 1 })).toEqual([200, '0', null]);
    nowMs = 60_999;
    expect(await reading(next)).toEqual([429, '0', '1']);
    nowMs = 61_000;
    expect(await reading(next)).toEqual([200, '0', null]);
    // More than a minute allows is not to be tried again.
    expect((await reading({ ...SUGAR, trials: 4 })).slice(0, 1)).toEqual([422]);
    // Runs of version 1 have a limit of their own.
    expect((await service.post({})).status).toBe(200);
  });

  it('ends experiments that cannot finish in time with DRAINING, in every format', async () => {
    service = await startReadyService({ ...NO_BUDGET, SHUTDOWN_MS: '1000' }, LARGE_ANSWERS);
    const everyNeuron = { all: { node_set: { super_class: '*' }, group_by: ['neuron'] } };
    const long = begin(service, { ...ENDLESS, duration_ms: 10, reports: everyNeuron }, '?format=json');
    await until(() => long.text().length > 0);
    const lines = begin(service, ENDLESS);
    const held = begin(service, ENDLESS, '?format=json');
    await until(() => lines.lines().length > 0 && underWay() === 3);
    await service.stop();
    await until(() => [lines, held, long].every((each) => each.isEnded()));
    expect(lines.lines().at(-1)).toEqual({ error: expect.stringMatching(/shutting down/), code: 'DRAINING' });
    expect(lines.isWhole()).toBe(true);
    expect([held.status(), JSON.parse(held.text()).code]).toEqual([503, 'DRAINING']);
    expect(held.headers()['retry-after']).toBe('5');
    // The status had been sent, so the connection can only show that the answer is not whole.
    expect([long.status(), long.isWhole()]).toEqual([200, false]);
  });

  it('lets an experiment finish that can', async () => {
    service = await startReadyService({ ...NO_BUDGET, WORKERS: '1' });
    const trials = begin(service, { ...ENDLESS, duration_ms: 500, trials: 20, sweep: [] });
    await until(() => trials.lines().length > 0);
    await service.stop();
    await until(() => trials.isEnded());
    expect(trials.lines().at(-1)).toMatchObject({ cost: { brain_seconds: 10 } });
  });
});

it('gives equal bytes on the brain that ships with 1 and with 3 workers, and writes one line to the log', async () => {
  const CONNECTOME_FILE = await connectomeFile('default');
  const document = {
    inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } },
    duration_ms: 200,
    trials: 2,
    reports: {
      mn9: { node_set: '@MN9', group_by: ['side'] },
      spikes: { node_set: { super_class: 'descending' }, type: 'spikes' },
    },
    sweep: [{ each: { responders_of: 'baseline', top: 4 }, group_by: ['type'], as: 'silence' }],
  };
  const bodies: string[] = [];
  for (const WORKERS of ['1', '3']) {
    const lines: string[] = [];
    const service = await startReadyService(
      { CONNECTOME_FILE, WORKERS, LOG_LEVEL: 'info' },
      { logTo: { write: (line: string) => void lines.push(line) } },
    );
    const answer = await run(service, document);
    expect(answer.status).toBe(200);
    bodies.push(await answer.text());
    const { id, conditions, cost } = JSON.parse(bodies[0]!);
    await until(() => lines.some((line) => line.includes(PATH)));
    await service.stop();
    const logged = lines.map((line) => JSON.parse(line)).filter(({ path }) => path === PATH);
    expect(logged.map(({ experiment }) => experiment)).toEqual([
      {
        id,
        format: 'json',
        conditions: conditions.length,
        trials: 2 * conditions.length,
        brain_seconds: cost.brain_seconds,
        outcome: 'done',
      },
    ]);
  }
  expect(bodies[1]).toBe(bodies[0]);
  expect(JSON.parse(bodies[0]!).conditions.length).toBe(5);
}, 180_000);

/** The sum of a metric over its labels. */
async function metric(service: Service, name: string, labels: Record<string, string> = {}): Promise<number> {
  const { values } = await service.app.get(Metrics).registry.getSingleMetric(name)!.get();
  return values
    .filter((each) => Object.entries(labels).every(([label, value]) => String(each.labels[label]) === value))
    .reduce((sum, { value }) => sum + value, 0);
}
