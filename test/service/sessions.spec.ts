/** Sessions over real HTTP, with real workers: their documents replay them, spike for spike. */
import { PHILOX_STREAM, PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import { startReadyService, type Service } from '../support/service.js';
import { DOCUMENT, JSON_TYPE, PATH, SPIKES, SteppedSession } from '../support/stepped-session.js';

/** Edits of sessions, beside the silences of steps. */
const EDITS = [
  {
    constants: { delay_ms: 2.7, refractory_ms: 4 },
    connection_overrides: { half: { source: 'S_sugar', target: '@all', weight: 0.5 } },
    silence: ['S_heat', { node_set: 'S_loom', end_ms: 0.7 }],
  },
  { wiring: { shuffle: 'targets', jitter: 0.2, seed: 3 } },
  {},
];

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
      const client = await SteppedSession.open(service, { ...DOCUMENT, ...EDITS[seed % EDITS.length] });
      const sets = [[], ['S_sugar'], ['S_loom', 'S_sugar'], [['S_bitter', 'S_heat']], ['@channel/walk']];
      let other: SteppedSession | undefined;
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
      const again = await SteppedSession.open(service, await client.document());
      expect(again.tMs).toBe(client.tMs);
      expect(await again.document()).toEqual(await client.document());
      for (const changes of [{}, { rates_hz: { loom: 111 } }, { silence: [] }]) {
        expect(await again.step(40, changes)).toEqual(await client.step(40, changes));
      }
      expect(await client.replay()).toEqual(client.rows);
      for (const each of [client, again, other]) await each?.end();
    },
  );

  it('goes on from a document of long lists, which do not change', async () => {
    const times = Array.from({ length: 100 }, (_, at) => at);
    const { inputs, ...rest } = DOCUMENT;
    const sugar = {
      module: 'poisson',
      node_set: 'S_sugar',
      rate_hz: { times_ms: times, values: times.map((at) => 50 + (at % 7)) },
    };
    const given = { module: 'spikes', node_set: 'S_heat', times_ms: times };
    const client = await SteppedSession.open(service, {
      ...rest,
      inputs: { ...inputs, sugar, given },
      duration_ms: 100,
    });
    expect((await client.document()).inputs).toMatchObject({ sugar, given });
    const branch = await client.branch({ rates_hz: { sugar: 60 } });
    await client.step(50, { silence: ['S_loom'] });
    await client.step(50, { rates_hz: { sugar: 80 } });
    await branch.step(50);
    expect((await client.document()).inputs.sugar.rate_hz).toEqual({
      times_ms: [...times, 150],
      values: [...sugar.rate_hz.values, 80],
    });
    expect((await branch.document()).inputs.sugar.rate_hz.values).toEqual([...sugar.rate_hz.values, 60]);
    for (const each of [client, branch]) {
      const rows = (await each.replay()).filter((row) => Number.parseFloat(row) >= 100);
      expect(rows).toEqual(each.rows);
      await each.end();
    }
  });

  it('knows a long silence that a step repeats', async () => {
    const silence = [{ type: Array.from({ length: 100 }, (_, at) => `Unknown${at}`) }, 'S_sugar'];
    const client = await SteppedSession.open(service, { ...DOCUMENT, on_missing: 'skip', silence });
    await client.step(50);
    await client.step(50, { silence });
    expect((await client.document()).silence).toEqual(silence);
    await client.step(50, { silence: ['S_loom'] });
    await client.step(50, { silence });
    await client.step(50, { silence });
    expect((await client.document()).silence.at(-1)).toEqual({ node_set: silence, start_ms: 150 });
    expect(await client.replay()).toEqual(client.rows);
    await client.end();
  });

  it.each(Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__'))(
    'may have inputs and reports named like members of every object: %s',
    async (name) => {
      const { inputs, reports, ...rest } = DOCUMENT;
      const client = await SteppedSession.open(service, {
        ...rest,
        inputs: { [name]: inputs.sugar, loom: inputs.loom },
        reports: { ...reports, [name]: { node_set: '*' } },
      });
      const steps = [await client.step(100, { rates_hz: { loom: 1 } })];
      steps.push(await client.step(100, { rates_hz: { [name]: 50 } }));
      for (const { reports: read, spikes } of steps) {
        expect(spikes).toBeGreaterThan(0);
        expect(read[name][0].rate_hz.mean).toBeGreaterThan(0);
      }
      expect(await client.replay()).toEqual(client.rows);
      await client.end();
    },
  );

  it('branches: only later changes make a difference', async () => {
    const client = await SteppedSession.open(service, DOCUMENT);
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
    const clients: SteppedSession[] = [];
    for (const wiring of wirings) clients.push(await SteppedSession.open(service, { ...DOCUMENT, wiring }));
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
    const client = await SteppedSession.open(service, DOCUMENT);
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
    const client = await SteppedSession.open(service, { ...DOCUMENT, reports });
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

  it('refuses members that no session may have, with their paths', async () => {
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
    // The document of such a session is a trial of 1 ms, which nobody named.
    const late: [document: object, name: string][] = [
      [
        { inputs: { a: { node_set: 'S_sugar', module: 'spikes', times_ms: [0.5, 20] } } },
        'inputs.a.times_ms',
      ],
      [{ inputs: { a: { node_set: 'S_sugar', module: 'spikes', times_ms: [2000] } } }, 'inputs.a.times_ms'],
      [{ inputs: { a: { node_set: 'S_sugar', delay_ms: 100 } } }, 'inputs.a.delay_ms'],
      [{ inputs: { a: { node_set: 'S_sugar', duration_ms: 20 } } }, 'inputs.a.duration_ms'],
      [{ silence: [{ node_set: 'S_sugar', start_ms: 20 }] }, 'silence[0].start_ms'],
      [{ silence: [{ node_set: 'S_sugar', end_ms: 20 }] }, 'silence[0].end_ms'],
    ];
    for (const [document, name] of late) {
      const refused = await service.post(document, PATH, JSON_TYPE);
      const { error } = (await refused.json()) as { error: string };
      expect(error).toMatch(/steps make later changes/);
      expect(error.split(' ')[0]).toBe(name);
      expect(error).not.toContain('trial');
    }
    const client = await SteppedSession.open(service, DOCUMENT);
    const steps: [step: object, path: string][] = [
      [{ duration_ms: 20 }, '/t_ms'],
      [{ t_ms: 0, duration_ms: 0 }, '/duration_ms'],
      [{ t_ms: 0, duration_ms: 1001 }, '/duration_ms'],
      [{ t_ms: 0, duration_ms: 20, rates_hz: { noise: 10 } }, '/rates_hz'],
      [{ t_ms: 0, duration_ms: 20, rates_hz: { sugar: 501 } }, '/rates_hz/sugar'],
      // The error does not repeat a long name.
      [{ t_ms: 0, duration_ms: 20, rates_hz: { ['x'.repeat(5000)]: 'fast' } }, '/rates_hz'],
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
