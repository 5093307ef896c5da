/** Watchers of a session, over real HTTP: the steps as its client gets them, bounded, and without a price. */
import { connect } from 'node:net';
import { CodedError } from '../../src/engine/errors.js';
import { ModelHealth } from '../../src/service/health/model-health.js';
import type { ServedModel } from '../../src/service/model-host/served-model.js';
import { Sessions } from '../../src/service/sessions/sessions.js';
import { until } from '../support/service-process.js';
import { startReadyService, untilState, type Service } from '../support/service.js';
import { DOCUMENT, SteppedSession } from '../support/stepped-session.js';

interface Event {
  readonly name: string;
  readonly data: Record<string, unknown>;
}

/** A watcher that reads its events as they come. */
class Watcher {
  readonly events: Event[] = [];
  status = 0;
  headers = new Headers();
  isOver = false;
  readonly #gone = new AbortController();

  static async open(service: Service, path: string): Promise<Watcher> {
    const watcher = new Watcher();
    const response = await fetch(`${service.url}${path}/events`, { signal: watcher.#gone.signal });
    watcher.status = response.status;
    watcher.headers = response.headers;
    if (response.status === 200) void watcher.#read(response).catch(() => undefined);
    else watcher.events.push({ name: 'error', data: (await response.json()) as Event['data'] });
    return watcher;
  }

  leave(): void {
    this.#gone.abort();
  }

  steps(): Event['data'][] {
    return this.events.filter(({ name }) => name === 'step').map(({ data }) => data);
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body!) {
      text += decoder.decode(piece, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!;
        this.events.push({ name: name!, data: JSON.parse(data!) as Event['data'] });
      }
    }
    this.isOver = true;
  }
}

describe('the events of a session', () => {
  let service: Service;
  let client: SteppedSession;
  beforeAll(async () => {
    const limits = { watchersPerClient: 6, sessionsPerClient: 3 };
    service = await startReadyService({ WORKERS: '2' }, { limits });
  });
  beforeEach(async () => {
    client = await SteppedSession.open(service, DOCUMENT);
  });
  afterEach(() => service.delete(client.path).catch(() => undefined));
  afterAll(() => service.stop());
  const watch = () => Watcher.open(service, client.path);

  it('are the state and then each step, the same for five watchers, also for one that comes later', async () => {
    const watchers = await Promise.all([1, 2, 3, 4, 5].map(watch));
    expect(watchers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(watchers[0]!.headers.get('content-type')).toBe('text/event-stream');
    expect(watchers[0]!.headers.get('cache-control')).toBe('no-store');
    expect(watchers[0]!.headers.get('x-accel-buffering')).toBe('no');
    const answers = [
      await client.step(20, { rates_hz: { loom: 50 } }),
      await client.step(30, {}, '?drive=true'),
    ];
    const late = await watch();
    answers.push(await client.step(10));
    await until(() => [...watchers, late].every((each) => each.steps().at(-1)?.['t_ms'] === 60));
    expect(answers[1].drive).toBeDefined();
    for (const { events } of watchers) {
      expect(events[0]).toMatchObject({
        name: 'session',
        data: { t_ms: 0, rates_hz: { loom: 0 }, idle_s: 60 },
      });
      expect(events.slice(1)).toEqual(answers.map((data) => ({ name: 'step', data })));
    }
    expect(late.events[0]).toMatchObject({ name: 'session', data: { t_ms: 50, rates_hz: { loom: 50 } } });
    expect(late.steps()).toEqual([answers[2]]);
  });

  it('have a step once that its client asks for again, and none that is refused', async () => {
    const watcher = await watch();
    const step = { t_ms: 0, duration_ms: 20 };
    for (let times = 0; times < 3; times++) expect((await client.ask(step)).status).toBe(200);
    expect((await client.ask({ t_ms: 5, duration_ms: 20 })).status).toBe(409);
    expect((await client.ask({ t_ms: 20, duration_ms: 7 })).status).toBe(200);
    await until(() => watcher.steps().length === 2);
    expect(watcher.steps().map(({ t_ms: tMs }) => tMs)).toEqual([20, 27]);
  });

  it('cost the client that steps as much as without watchers, and the watchers nothing', async () => {
    const paidFor = async (session: SteppedSession, watchers: number) => {
      const pay = jest.spyOn(service.app.get(Sessions).find(session.path.split('/').at(-1)!), 'pay');
      const watching = await Promise.all(
        Array.from({ length: watchers }, () => Watcher.open(service, session.path)),
      );
      for (let step = 0; step < 3; step++) await session.step(50);
      await until(() => watching.every((each) => each.steps().length === 3));
      return pay.mock.calls.map(([brainMs]) => brainMs);
    };
    const other = await SteppedSession.open(service, DOCUMENT);
    const alone = await paidFor(other, 0);
    await other.end();
    expect(alone).toHaveLength(3);
    expect(Math.min(...alone)).toBeGreaterThanOrEqual(50);
    expect(await paidFor(client, 5)).toEqual(alone);
  });

  it('end with the session, with the reason, and are 404 afterwards', async () => {
    const watcher = await watch();
    await client.end();
    await until(() => watcher.isOver);
    expect(watcher.events.at(-1)).toEqual({
      name: 'end',
      data: { code: 'SESSION_ENDED', error: expect.stringMatching(/^There is no such session/) },
    });
    const [later, unknown] = [await watch(), await Watcher.open(service, '/api/v2/sessions/nobody')];
    for (const { status, events } of [later, unknown]) {
      expect([status, events[0]!.data['code']]).toEqual([404, 'SESSION_ENDED']);
    }
  });

  it('end with the model, as the session does', async () => {
    const watcher = await watch();
    const model = service.app.get(ModelHealth).model() as ServedModel;
    model.watch['onDead'](new CodedError('WORKER_LOST', 'as if all workers were lost'));
    await until(() => watcher.isOver);
    expect(watcher.events.at(-1)).toMatchObject({ name: 'end', data: { code: 'SESSION_ENDED' } });
    const { count, memory } = service.app.get(Sessions);
    expect([count, memory.bytes]).toEqual([0, 0]);
    await untilState(service, 'ready');
  });

  it('have a bounded number of watchers, whose places are free when they leave', async () => {
    const watchers = await Promise.all([1, 2, 3, 4, 5, 6].map(watch));
    const refused = await watch();
    expect([refused.status, refused.events[0]!.data]).toEqual([
      503,
      {
        code: 'QUEUE_FULL',
        error: 'The queue is full: 6 requests of this client watch sessions; try again shortly.',
      },
    ]);
    watchers[0]!.leave();
    await until(async () => (await watch()).status === 200);
    // HEAD has no events, and leaves at once.
    watchers[1]!.leave();
    await until(
      async () => (await fetch(`${service.url}${client.path}/events`, { method: 'HEAD' })).status === 200,
    );
    await until(async () => (await watch()).status === 200);
  });

  it('close for a watcher that reads nothing, and go on for others', async () => {
    const reader = await watch();
    const socket = connect(service.port, '127.0.0.1');
    socket.pause();
    socket.write(`GET ${client.path}/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    const served = service.app.get(Sessions).find(client.path.split('/').at(-1)!);
    const events = jest.spyOn(served, 'showStep');
    const large = Buffer.from(JSON.stringify({ t_ms: 0, text: 'x'.repeat(500_000) }));
    let closed = false;
    socket.once('close', () => (closed = true)).on('error', () => undefined);
    // The buffers of the system take some megabytes before the service has to keep any.
    for (let step = 0; step < 60; step++) {
      served.showStep(large);
      await until(() => reader.steps().length === step + 1);
    }
    expect(events).toHaveBeenCalledTimes(60);
    expect(reader.isOver).toBe(false);
    socket.resume();
    await until(() => closed);
  });

  it('do not keep the service from stopping, nor the session open', async () => {
    const watcher = await watch();
    await service.stop();
    await until(() => watcher.isOver);
    expect(watcher.events.at(-1)).toMatchObject({ name: 'end', data: { code: 'DRAINING' } });
  });
});
