/** Bounds, ends and prices of sessions over real HTTP, and their replay on the brain that ships. */
import type { Server } from 'node:http';
import { BrainBudget } from '../../src/service/limits/brain-budget.js';
import { connectomeFile } from '../support/connectomes.js';
import { FaultyWorkers } from '../support/faulty-workers.js';
import { startReadyService } from '../support/service.js';
import { DOCUMENT, JSON_TYPE, PATH, SteppedSession } from '../support/stepped-session.js';

describe('sessions', () => {
  it('are bounded, end when nobody asks for a step, and are paid from the budget', async () => {
    const service = await startReadyService(
      { EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '3' },
      { limits: { sessionIdleMs: 1500, sessionsPerClient: 2 } },
    );
    try {
      const clients = [
        await SteppedSession.open(service, DOCUMENT),
        await SteppedSession.open(service, DOCUMENT),
      ];
      const third = await service.post(DOCUMENT, PATH, JSON_TYPE);
      expect({ status: third.status, body: await third.json() }).toMatchObject({
        status: 503,
        body: { code: 'QUEUE_FULL' },
      });
      for (const client of clients) await client.step(20);
      await clients[1]!.end();
      expect((await clients[1]!.ask({ t_ms: 20, duration_ms: 1 })).status).toBe(404);
      // A second of each was charged, and the unused part of the second one is available again.
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

  it('have an allowance beside that of experiments', async () => {
    const service = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '8' });
    try {
      const client = await SteppedSession.open(service, DOCUMENT);
      // Two seeds, because an equal experiment would get the stored answer.
      const run = (seed: number) =>
        service.post({ inputs: {}, duration_ms: 5000, trials: 1, seed }, '/api/v2/experiments', JSON_TYPE);
      expect([(await run(1)).status, (await run(2)).status]).toEqual([200, 429]);
      await client.step(500);
      await client.end();
    } finally {
      await service.stop();
    }
  });

  it('pay for the activity of the document that they begin with', async () => {
    const service = await startReadyService({
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '20',
      CONNECTOME_FILE: await connectomeFile('default'),
    });
    try {
      const client = await SteppedSession.open(service, {
        inputs: { food: { node_set: '@stimulus/food', rate_hz: 400 } },
        duration_ms: 1000,
      });
      // One second was simulated, and another one is paid in advance; 18 would be left if a second cost one.
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
      const client = await SteppedSession.open(service, { inputs: {}, wiring, duration_ms: 1 });
      const remaining: number[] = [];
      for (let tMs = 1; tMs < 4; tMs++) {
        const step = await client.ask({ t_ms: tMs, duration_ms: 1 });
        expect(step.status).toBe(200);
        remaining.push(Number(step.headers.get('ratelimit-remaining') ?? remaining.at(-1)));
      }
      // Five seconds for the network and the advance payment of a step, most of which comes back.
      expect(remaining[0]).toBeLessThan(15);
      expect(remaining.at(-1)).toBeGreaterThan(5);
      await client.end();
    } finally {
      await service.stop();
    }
  });

  it('stop if their activity exceeds the limit, as their document does', async () => {
    const limits = { synapticEventsPerTrial: 5000, synapticEventsPerBrainSecond: 5000 };
    const service = await startReadyService({}, { limits });
    try {
      const client = await SteppedSession.open(service, {
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
      const recorded = await SteppedSession.open(service, {
        reports: { v: { node_set: '@all', type: 'membrane', dt_ms: 0.1 } },
      });
      const refused = await recorded.ask({ t_ms: 0, duration_ms: 1000 });
      expect({ status: refused.status, body: await refused.json() }).toMatchObject({
        status: 422,
        body: { code: 'TOO_EXPENSIVE', path: '/duration_ms' },
      });
      const statuses: number[] = [];
      while (statuses.length < 60 && statuses.at(-1) !== 429) {
        const client = await SteppedSession.open(service, { inputs: DOCUMENT.inputs });
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

  it('pay for a step that is asked for again', async () => {
    const service = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '2' });
    try {
      const client = await SteppedSession.open(service, DOCUMENT);
      await client.step(500);
      const statuses: number[] = [];
      while (statuses.length < 500 && statuses.at(-1) !== 429) {
        const { status } = await client.ask({ t_ms: 0, duration_ms: 500 });
        statuses.push(status);
      }
      expect(statuses[0]).toBe(200);
      expect(statuses.at(-1)).toBe(429);
    } finally {
      await service.stop();
    }
  });

  it('pay for a branch and for a silence by the size of their document, unless it fails', async () => {
    const service = await startReadyService();
    try {
      const client = await SteppedSession.open(service, DOCUMENT);
      await client.step(1);
      const changes: number[] = [];
      const charged: number[] = [];
      jest.spyOn(service.app.get(BrainBudget), 'charge').mockImplementation(async (_, brainMs) => {
        charged.push(brainMs);
        return { settle: (cameToMs) => void changes.push(cameToMs - brainMs) };
      });
      await client.document();
      const [documentMs = 0] = charged.splice(0);
      expect(documentMs).toBeGreaterThan(0);

      await client.branch();
      expect([charged.splice(0), changes]).toEqual([[documentMs], []]);
      await client.branch({ silence: ['S_sugar'] });
      expect([charged.splice(0), changes]).toEqual([[documentMs, documentMs], []]);
      const failing = await service.post({ silence: ['Nobody'] }, `${client.path}/branches`, JSON_TYPE);
      expect((await failing.json()).code).toBe('UNKNOWN_NEURONS');
      expect([charged.splice(0), changes.splice(0)]).toEqual([
        [documentMs, documentMs],
        [-documentMs, -documentMs],
      ]);
      // The second that was paid for the first step pays this one, too.
      await client.step(1, { silence: ['S_sugar'] });
      expect([charged, changes]).toEqual([[documentMs], []]);
    } finally {
      await service.stop();
    }
  });

  it('keep the connection of a step that waits for longer than an idle connection may', async () => {
    const workers = new FaultyWorkers();
    const service = await startReadyService({}, { workerFile: workers.file });
    try {
      const server = service.app.getHttpServer() as Server;
      // Before the first request, whose connection the step uses as well.
      server.setTimeout(200);
      const client = await SteppedSession.open(service, DOCUMENT);
      // A silence is planned before the step waits.
      for (const changes of [{}, { silence: ['S_loom'] }]) {
        workers.hold('v2-trial');
        const step = client.step(20, changes);
        await new Promise((resolve) => setTimeout(resolve, 1000));
        workers.release();
        await step;
      }
    } finally {
      workers.release();
      await service.stop();
      workers.remove();
    }
  });

  it('stop later if the limit grows with the time, as their document does', async () => {
    const limits = { synapticEventsPerTrial: 2000, synapticEventsPerBrainSecond: 1_000_000 };
    const service = await startReadyService({ EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' }, { limits });
    try {
      const client = await SteppedSession.open(service, {
        ...DOCUMENT,
        inputs: { sugar: DOCUMENT.inputs.sugar },
      });
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
        const client = await SteppedSession.open(service, {
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
