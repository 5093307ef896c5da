/** Sessions over real HTTP, with real workers: their documents replay them, spike for spike. */
import { PHILOX_STREAM, PhiloxSequence } from '../../src/stimulus/philox.js';
import { connectomeFile } from '../support/connectomes.js';
import { startReadyService, type Service } from '../support/service.js';

const PATH = '/api/v2/sessions';
const JSON_TYPE = { 'content-type': 'application/json' };
const SPIKES = { node_set: '@all', type: 'spikes' };
const DOCUMENT = {
  inputs: {
    sugar: { node_set: 'S_sugar', rate_hz: 100 },
    loom: { node_set: 'S_loom', rate_hz: 0 },
    noise: { node_set: '@all', module: 'background', rate_hz: 3, event_mv: 30 },
  },
  seed: 7,
  reports: { spikes: SPIKES },
};

/** Edits of sessions, beside what steps silence. */
const EDITS = [
  {
    constants: { delay_ms: 2.7, refractory_ms: 4 },
    connection_overrides: { half: { source: 'S_sugar', target: '@all', weight: 0.5 } },
    silence: ['S_heat', { node_set: 'S_loom', end_ms: 0.7 }],
  },
  { wiring: { shuffle: 'targets', jitter: 0.2, seed: 3 } },
  {},
];

interface Table {
  readonly t_ms: readonly number[];
  readonly root_id: readonly string[];
}

function rowsOf({ t_ms: times, root_id: ids }: Table): string[] {
  return times.map((tMs, row) => `${tMs} ${ids[row]}`);
}

/** A session as a test goes on with it. */
class Client {
  readonly rows: string[] = [];
  tMs = 0;

  private constructor(
    private readonly service: Service,
    readonly path: string,
  ) {}

  static async open(service: Service, document: object): Promise<Client> {
    return Client.#of(service, await service.post(document, PATH, JSON_TYPE));
  }

  static async #of(service: Service, answer: Awaited<ReturnType<Service['post']>>): Promise<Client> {
    const body = await answer.json();
    expect({ status: answer.status, error: body.error }).toEqual({ status: 201, error: undefined });
    expect(answer.headers.get('location')).toBe(`${PATH}/${body.session}`);
    const client = new Client(service, `${PATH}/${body.session}`);
    client.tMs = body.t_ms;
    return client;
  }

  ask(step: object, query = '') {
    return this.service.post(step, `${this.path}/steps${query}`, JSON_TYPE);
  }

  async step(durationMs: number, changes: object = {}, query = '') {
    const answer = await this.ask({ t_ms: this.tMs, duration_ms: durationMs, ...changes }, query);
    const body = await answer.json();
    expect({ status: answer.status, body }).toMatchObject({
      status: 200,
      body: { t_ms: this.tMs + durationMs },
    });
    this.tMs = body.t_ms;
    expect(body.reports.spikes.truncated).toBeUndefined();
    this.rows.push(...rowsOf(body.reports.spikes));
    return body;
  }

  async branch(changes: object = {}): Promise<Client> {
    return Client.#of(this.service, await this.service.post(changes, `${this.path}/branches`, JSON_TYPE));
  }

  async document() {
    return (await this.service.get(`${this.path}/document`)).json();
  }

  async replay(): Promise<string[]> {
    const answer = await this.service.post(await this.document(), '/api/v2/experiments', JSON_TYPE);
    const body = await answer.json();
    expect({ status: answer.status, error: body.error }).toEqual({ status: 200, error: undefined });
    return rowsOf(body.conditions[0].reports.spikes);
  }

  end() {
    return this.service.delete(this.path);
  }
}

describe('a session', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startReadyService({ WORKERS: '2', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' });
  });
  afterAll(() => service.stop());

  it.each([1, 2, 3])(
    'leaves a document that replays it, however it was cut and changed (%i)',
    async (seed) => {
      const random = new PhiloxSequence(seed, 0, PHILOX_STREAM.shuffle);
      const below = (most: number) => random.nextBelow(most);
      const oneIn = (many: number) => below(many) === 0;
      const client = await Client.open(service, { ...DOCUMENT, ...EDITS[seed % EDITS.length] });
      const sets = [[], ['S_sugar'], ['S_loom', 'S_sugar'], [['S_bitter', 'S_heat']], ['@channel/walk']];
      let other: Client | undefined;
      while (client.tMs < 6500) {
        await client.step(1 + below(oneIn(5) ? 500 : 60), {
          ...(oneIn(2) && {
            rates_hz: { sugar: below(3) * 60.5, ...(oneIn(3) && { loom: below(200) }) },
          }),
          ...(oneIn(4) && { silence: sets[below(sets.length)] }),
        });
        if (other !== undefined && oneIn(3)) await other.step(7);
        if (oneIn(20)) {
          await other?.end();
          other = await client.branch({ silence: ['@all'] });
        }
      }
      expect(client.rows.length).toBeGreaterThan(2000);
      expect(await client.replay()).toEqual(client.rows);
      // From its document another one goes on as this one does.
      const again = await Client.open(service, await client.document());
      expect(again.tMs).toBe(client.tMs);
      expect(await again.document()).toEqual(await client.document());
      for (const changes of [{}, { rates_hz: { loom: 111 } }, { silence: [] }]) {
        expect(await again.step(40, changes)).toEqual(await client.step(40, changes));
      }
      expect(await client.replay()).toEqual(client.rows);
      for (const each of [client, again, other]) await each?.end();
    },
  );

  it('branches: what differs from then on differs, and nothing else', async () => {
    const client = await Client.open(service, DOCUMENT);
    await client.step(200);
    const same = await client.branch();
    const other = await client.branch({ rates_hz: { loom: 150 }, silence: ['S_sugar'] });
    const [first, second, third] = [await client.step(100), await same.step(100), await other.step(100)];
    expect(second).toEqual(first);
    expect(third.spikes).not.toBe(first.spikes);
    expect(await other.replay()).toEqual([
      ...client.rows.filter((row) => Number.parseFloat(row) < 200),
      ...other.rows,
    ]);
    for (const each of [client, same, other]) await each.end();
  });

  it('may have a rewired network, also beside sessions with others: each replays its own', async () => {
    const wirings = [undefined, { shuffle: 'weights', seed: 1 }, { shuffle: 'weights', seed: 2 }];
    const clients: Client[] = [];
    for (const wiring of wirings) clients.push(await Client.open(service, { ...DOCUMENT, wiring }));
    for (let round = 0; round < 3; round++) for (const client of clients) await client.step(100);
    const trials = clients.map(({ rows }) => rows.join());
    expect(new Set(trials).size).toBe(3);
    for (const [at, client] of clients.entries()) {
      expect(await client.replay()).toEqual(client.rows);
      const { model } = await (await service.get(client.path)).json();
      expect(model).toMatch(at === 0 ? /-synthetic-/ : /-rewired-/);
      await client.end();
    }
  });

  it('answers the same step again as before, and refuses one from another time', async () => {
    const client = await Client.open(service, DOCUMENT);
    const step = { t_ms: 0, duration_ms: 20 };
    const texts = await Promise.all([step, step, step].map(async (each) => (await client.ask(each)).text()));
    expect(new Set(texts).size).toBe(1);
    expect(await (await client.ask(step)).text()).toBe(texts[0]);
    for (const tMs of [19, 40]) {
      const refused = await client.ask({ t_ms: tMs, duration_ms: 20 });
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 409,
        body: { code: 'STEP_OUT_OF_ORDER', path: '/t_ms', suggestions: ['20'] },
      });
    }
    const changed = await client.ask({ ...step, rates_hz: { sugar: 1 } });
    expect(changed.status).toBe(409);
    const repeated = await fetch(`${service.url}${client.path}/steps`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: '{"t_ms": 20, "duration_ms": 20, "rates_hz": {"sugar": 1, "sugar": 2}}',
    });
    expect({ status: repeated.status, body: await repeated.json() }).toMatchObject({
      status: 400,
      body: { code: 'INVALID_PARAMETER', path: '/rates_hz/sugar' },
    });
    expect((await client.ask({ t_ms: 20, duration_ms: 20 })).status).toBe(200);
    await client.end();
  });

  it('reads each step as an experiment reads it', async () => {
    const reports = {
      spikes: SPIKES,
      rates: { node_set: '@all', group_by: ['type'] },
      first: { node_set: 'S_sugar', type: 'latency' },
      events: { node_set: 'S_sugar', type: 'inputs' },
      potentials: { node_set: 'C_walk', type: 'membrane', dt_ms: 10 },
    };
    const client = await Client.open(service, { ...DOCUMENT, reports });
    await client.step(50);
    const body = await client.step(40, {}, '?drive=true');
    const window = { start_ms: 50, end_ms: 90 };
    const windowed = Object.entries(reports).map(([name, report]) => [name, { ...report, ...window }]);
    const document = { ...DOCUMENT, duration_ms: 90, trials: 1, reports: Object.fromEntries(windowed) };
    const answer = await (await service.post(document, '/api/v2/experiments', JSON_TYPE)).json();
    expect(body.reports).toEqual(answer.conditions[0].reports);
    expect(body.reports.potentials.t_ms.length).toBeGreaterThan(3);
    expect(Object.keys(body.drive)).toContain('walk');
    await client.end();
  });

  it('refuses what no session may have, with the place', async () => {
    const refusals: [document: object, path: string][] = [
      [{ sweep: [{ set: 'seed', values: [1, 2] }] }, '/sweep'],
      [{ trials: 2 }, '/trials'],
      [{ reports: { a: { node_set: 'S_sugar', start_ms: 10 } } }, '/reports/a/start_ms'],
      [{ reports: { a: { node_set: 'S_sugar', type: 'histogram', bin_ms: 10 } } }, '/reports/a/type'],
      [{ inputs: { a: { node_set: 'S_sugar', delay_ms: 100 } } }, '/inputs/a/delay_ms'],
      [
        { inputs: { a: { node_set: 'S_sugar', rate_hz: { times_ms: [0], values: [1] } } } },
        '/inputs/a/rate_hz',
      ],
      [{ inputs: { a: { node_set: 'nothing' } } }, '/inputs/a/node_set'],
    ];
    for (const [document, path] of refusals) {
      const refused = await service.post(document, PATH, JSON_TYPE);
      expect({ document, status: refused.status, body: await refused.json() }).toMatchObject({
        document,
        status: 400,
        body: { path },
      });
    }
    const client = await Client.open(service, DOCUMENT);
    const steps: [step: object, path: string][] = [
      [{ duration_ms: 20 }, '/t_ms'],
      [{ t_ms: 0, duration_ms: 0 }, '/duration_ms'],
      [{ t_ms: 0, duration_ms: 1001 }, '/duration_ms'],
      [{ t_ms: 0, duration_ms: 20, rates_hz: { noise: 10 } }, '/rates_hz'],
      [{ t_ms: 0, duration_ms: 20, rates_hz: { sugar: 501 } }, '/rates_hz/sugar'],
      [{ t_ms: 0, duration_ms: 20, silence: ['nothing'] }, '/silence/0'],
    ];
    for (const [step, path] of steps) {
      const refused = await client.ask(step);
      expect({ step, status: refused.status, body: await refused.json() }).toMatchObject({
        step,
        status: 400,
        body: { path },
      });
    }
    expect((await client.step(20)).t_ms).toBe(20);
    await client.end();
    const gone = await client.ask({ t_ms: 20, duration_ms: 20 });
    expect({ status: gone.status, body: await gone.json() }).toMatchObject({
      status: 404,
      body: { code: 'SESSION_ENDED', error: expect.stringContaining('send its document') },
    });
  });
});

describe('sessions', () => {
  it('are bounded, end when nobody asks for a step, and are paid from the budget', async () => {
    const service = await startReadyService(
      { EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '3' },
      { limits: { sessionIdleMs: 1500, sessionsPerClient: 2 } },
    );
    try {
      const clients = [await Client.open(service, DOCUMENT), await Client.open(service, DOCUMENT)];
      const third = await service.post(DOCUMENT, PATH, JSON_TYPE);
      expect({ status: third.status, body: await third.json() }).toMatchObject({
        status: 503,
        body: { code: 'QUEUE_FULL' },
      });
      for (const client of clients) await client.step(20);
      await clients[1]!.end();
      expect((await clients[1]!.ask({ t_ms: 20, duration_ms: 1 })).status).toBe(404);
      // A second of each was charged, and what was not used of the second one is there again.
      await clients[0]!.step(1000);
      const refused = await clients[0]!.ask({ t_ms: 1020, duration_ms: 1000 });
      expect(refused.status).toBe(429);
      expect((await clients[0]!.document()).duration_ms).toBe(1020);
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect((await service.get(clients[0]!.path)).status).toBe(404);
    } finally {
      await service.stop();
    }
  });

  it('pay for the activity of what they begin with', async () => {
    const service = await startReadyService({
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '20',
      CONNECTOME_FILE: await connectomeFile('default'),
    });
    try {
      const client = await Client.open(service, {
        inputs: { food: { node_set: '@stimulus/food', rate_hz: 400 } },
        duration_ms: 1000,
      });
      // One second was simulated, and another one is paid in advance; 18 would be left where a second costs one.
      const step = await client.ask({ t_ms: 1000, duration_ms: 1 });
      expect(step.status).toBe(200);
      expect(Number(step.headers.get('ratelimit-remaining'))).toBeLessThan(18);
      await client.end();
    } finally {
      await service.stop();
    }
  });

  it('pay for a network that is prepared for them, and not again while it is there', async () => {
    const service = await startReadyService({
      WORKERS: '1',
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '20',
      CONNECTOME_FILE: await connectomeFile('default'),
    });
    try {
      const wiring = { shuffle: 'weights', seed: 1 };
      const client = await Client.open(service, { inputs: {}, wiring, duration_ms: 1 });
      const remaining: number[] = [];
      for (let tMs = 1; tMs < 4; tMs++) {
        const step = await client.ask({ t_ms: tMs, duration_ms: 1 });
        expect(step.status).toBe(200);
        remaining.push(Number(step.headers.get('ratelimit-remaining') ?? remaining.at(-1)));
      }
      // Five seconds for the network and what a step is paid in advance, of which most comes back.
      expect(remaining[0]).toBeLessThan(15);
      expect(remaining.at(-1)).toBeGreaterThan(5);
      await client.end();
    } finally {
      await service.stop();
    }
  });

  it('stop where their activity exceeds the limit, as their document does', async () => {
    const limits = { synapticEventsPerTrial: 5000, synapticEventsPerBrainSecond: 5000 };
    const service = await startReadyService({}, { limits });
    try {
      const client = await Client.open(service, {
        ...DOCUMENT,
        inputs: { all: { node_set: '@all', rate_hz: 400 } },
      });
      let body: { stopped_at_ms?: number };
      do body = await client.step(30);
      while (body.stopped_at_ms === undefined && client.tMs < 10_000);
      const refused = await client.ask({ t_ms: client.tMs, duration_ms: 10 });
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 422,
        body: { code: 'SESSION_FULL' },
      });
      const replayed = await service.post(await client.document(), '/api/v2/experiments', JSON_TYPE);
      expect((await replayed.json()).conditions[0].stopped_at_ms).toBe(body.stopped_at_ms);
    } finally {
      await service.stop();
    }
  });

  it('bound the potentials of a step, and charge a step that its client does not wait for', async () => {
    const service = await startReadyService(
      { EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '20' },
      {
        limits: { samples: 10_000 },
      },
    );
    try {
      const recorded = await Client.open(service, {
        reports: { v: { node_set: '@all', type: 'membrane', dt_ms: 0.1 } },
      });
      const refused = await recorded.ask({ t_ms: 0, duration_ms: 1000 });
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 422,
        body: { code: 'TOO_EXPENSIVE', path: '/duration_ms' },
      });
      const statuses: number[] = [];
      while (statuses.length < 60 && statuses.at(-1) !== 429) {
        const client = await Client.open(service, { inputs: DOCUMENT.inputs });
        const step = client.ask({ t_ms: 0, duration_ms: 1000 });
        await new Promise((resolve) => setTimeout(resolve, 10));
        await client.end();
        statuses.push((await step).status);
      }
      expect(statuses.at(-1)).toBe(429);
    } finally {
      await service.stop();
    }
  });

  it('stop later where the limit grows with the time, as their document does', async () => {
    const limits = { synapticEventsPerTrial: 2000, synapticEventsPerBrainSecond: 1_000_000 };
    const service = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' }, { limits });
    try {
      const client = await Client.open(service, { ...DOCUMENT, inputs: { sugar: DOCUMENT.inputs.sugar } });
      let events = 0;
      for (let step = 0; step < 10; step++) events += (await client.step(100)).synaptic_events;
      expect(events).toBeGreaterThan(2000);
      expect(await client.replay()).toEqual(client.rows);
    } finally {
      await service.stop();
    }
  });

  it('replay on the brain that ships, on one worker and on three', async () => {
    const documents: unknown[] = [];
    for (const WORKERS of ['1', '3']) {
      const service = await startReadyService({ WORKERS, CONNECTOME_FILE: await connectomeFile('default') });
      try {
        const client = await Client.open(service, {
          inputs: { sugar: { node_set: '@sugar', rate_hz: 0 }, loom: { node_set: 'LC4', rate_hz: 0 } },
          reports: { spikes: { node_set: '@MN9', type: 'spikes' }, all: { node_set: '@all' } },
        });
        for (let step = 0; step < 40; step++) {
          const rates = { sugar: step % 10 < 5 ? 100 : 0, loom: step > 20 ? 80 : 0 };
          await client.step(20, { rates_hz: rates, ...(step === 30 && { silence: ['PVLP122b'] }) });
        }
        documents.push(await client.document(), client.rows);
        expect(await client.replay()).toEqual(client.rows);
      } finally {
        await service.stop();
      }
    }
    expect(documents.slice(2)).toEqual(documents.slice(0, 2));
  });
});
