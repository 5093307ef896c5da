/** Logic of the live fly: acts become rates, and its session goes on, rests, is kept as an experiment, and ends. */
import { NeuralExperimentClient } from '../../clients/typescript/src/client.js';
import { experimentDone } from '../../clients/pages/live/experiment-done.js';
import { LiveBrain, type LiveBrainListener, type Step } from '../../clients/pages/live/live-brain.js';
import { LiveLight } from '../../clients/pages/live/live-light.js';
import { FAR, Senses, SHORTEST_ACT_MS, ShownDrive } from '../../clients/pages/live/senses.js';
import { until } from '../support/service-process.js';
import { startReadyService, type Service } from '../support/service.js';

const STEP_MS = 20;
const NOMINAL_HZ = { loom: 150, sugar: 150, colour: 50 };

describe('acts as rates', () => {
  it('holds a stimulus for as long as it is pressed, and a tap for the shortest time', () => {
    const senses = new Senses(NOMINAL_HZ);
    expect(senses.isActing).toBe(false);
    senses.hold('sugar');
    for (let tMs = 0; tMs < 3 * SHORTEST_ACT_MS; tMs += STEP_MS) {
      expect(senses.sense(STEP_MS)).toEqual({
        ratesHz: { loom: 0, sugar: 150, colour: 0 },
        strengths: { sugar: 1 },
      });
    }
    senses.letGo('sugar');
    expect(senses.sense(STEP_MS).ratesHz['sugar']).toBe(0);
    expect(senses.isActing).toBe(false);

    senses.hold('colour');
    senses.letGo('colour');
    let sensedMs = 0;
    while (senses.isActing) {
      expect(senses.sense(STEP_MS).ratesHz['colour']).toBe(50);
      sensedMs += STEP_MS;
    }
    expect(sensedMs).toBeGreaterThanOrEqual(SHORTEST_ACT_MS);
    expect(sensedMs).toBeLessThan(SHORTEST_ACT_MS + STEP_MS);
  });

  /** Highest rate while the pointer comes from far away to the fly, and the rates while it stays and leaves. */
  function approach(durationMs: number) {
    const senses = new Senses(NOMINAL_HZ);
    const coming: number[] = [];
    for (let tMs = 0; tMs <= durationMs; tMs += STEP_MS) {
      senses.pointAt(FAR * (1 - tMs / durationMs));
      coming.push(senses.sense(STEP_MS).ratesHz['loom']!);
    }
    for (let i = 0; i < 50; i++) coming.push(senses.sense(STEP_MS).ratesHz['loom']!);
    const { strengths, ratesHz } = senses.sense(STEP_MS);
    senses.pointAt(FAR);
    const leaving = Array.from({ length: 50 }, () => senses.sense(STEP_MS).ratesHz['loom']!);
    return { coming, stays: { near: strengths['loom']!, rateHz: ratesHz['loom']! }, leaving };
  }

  it('lets a pointer loom the more the faster it comes, and not if it stays or leaves', () => {
    const [fast, slow, slower] = [approach(200), approach(2000), approach(20_000)];
    const highest = ({ coming }: { coming: number[] }) => Math.max(...coming);
    expect(highest(fast)).toBe(150);
    expect(highest(slow)).toBeGreaterThan(highest(slower));
    expect(fast.coming.filter((rateHz) => rateHz === 150).length).toBeGreaterThan(3);
    for (const { stays, leaving } of [fast, slow, slower]) {
      expect(stays.rateHz).toBe(0);
      expect(stays.near).toBeGreaterThan(0.99);
      expect(new Set(leaving)).toEqual(new Set([0]));
    }
  });

  it('lets drives go up at once and fade, of either sign', () => {
    const drive = new ShownDrive();
    drive.take({ escape: 0.8, turn: -0.4, walk: 0.1 });
    expect(drive.frame(20, true)).toEqual({ escape: 0.8, turn: -0.4, walk: 0.1 });
    drive.take({ walk: 0.5 });
    drive.frame(0, true);
    expect(drive.frame(200, true)).toEqual({ escape: 0.4, turn: -0.2, walk: 0.5 });
    expect(drive.frame(200, false)).toEqual({ escape: 0.2, turn: -0.1, walk: 0.25 });
  });

  it('shows a drive whose step ended before the next frame', () => {
    const drive = new ShownDrive();
    for (const turn of [0.1, -0.6, 0.2]) drive.take({ turn });
    expect(drive.frame(100, true)).toEqual({ turn: -0.6 });
    expect(drive.frame(400, true)).toEqual({ turn: 0.2 });
    // The brain came to rest before the next frame.
    drive.take({ escape: 0.9 });
    expect(drive.frame(100, false)).toMatchObject({ escape: 0.9 });
    expect(drive.frame(200, false)).toMatchObject({ escape: 0.45 });
    // A drive from before the rest does not come back with the next step.
    drive.take({ walk: 0.3 });
    expect(drive.frame(200, true)).toMatchObject({ escape: 0.225, walk: 0.3 });
  });
});

describe('light of live spikes', () => {
  it('lights a neuron when its moment comes, and lets it fade until it is dark', () => {
    const light = new Uint8Array(16);
    const live = new LiveLight(4);
    expect(live.add([2, 3], [100, 140])).toBe(true);
    expect(live.add([2], [150])).toBe(false);
    expect(live.write(light, 99, 16)).toBe(false);
    expect(live.write(light, 120, 16)).toBe(true);
    expect([...light]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 150, 0, 0, 0, 0, 0, 0, 0]);
    live.write(light, 230, 110);
    expect([light[8], light[12]]).toEqual([75 + 150, 150]);
    live.write(light, 3000, 2770);
    expect(Math.max(...light)).toBe(0);
    expect(live.write(light, 3016, 16)).toBe(false);
    expect([...live.spiking]).toEqual([2, 3]);
  });
});

describe('a live brain with a real service', () => {
  let service: Service;
  const asked: string[] = [];
  beforeAll(async () => {
    service = await startReadyService({}, { limits: { sessionsPerClient: 2 } });
  });
  afterAll(() => service.stop());

  function clientOf(): NeuralExperimentClient {
    return new NeuralExperimentClient(service.url, {
      fetch: (url, init) => {
        asked.push(`${init?.method ?? 'GET'} ${new URL(url as string).pathname}`);
        return fetch(url, init);
      },
    });
  }

  const DOCUMENT = {
    inputs: {
      sugar: { node_set: '@stimulus/sugar', rate_hz: 0 },
      touch: { node_set: '@stimulus/touch', rate_hz: 0 },
    },
    reports: { brain: { node_set: '@all', type: 'spikes' as const } },
  };

  /** Starts a brain to which sugar is given for some steps, and waits until it pauses. */
  async function played(actingSteps: number, silenced: readonly string[] = []) {
    const steps: Step[] = [];
    let lesion = silenced;
    let brain!: LiveBrain;
    const why = await new Promise<Parameters<LiveBrainListener['onPause']>[0]>((onPause) => {
      let sensed = 0;
      brain = new LiveBrain(clientOf(), DOCUMENT, {
        sense: () => {
          const isActing = sensed++ < actingSteps;
          return { changes: { rates_hz: { sugar: isActing ? 150 : 0 }, silence: [] }, lesion, isActing };
        },
        onStep: (step) => steps.push(step),
        onOne: () => (lesion = []),
        onPause,
      });
      brain.wake();
    });
    return { brain, steps, why };
  }

  it('goes on while something is done, then pauses; its experiment gives the same spikes', async () => {
    const { brain, steps, why } = await played(5);
    expect(why).toMatch(/^(rest|alone)$/);
    expect(steps.map(({ answer }) => answer.t_ms)).toEqual(
      steps.map(({ durationMs }, i) => durationMs * (i + 1)),
    );
    expect(steps[1]!.answer.drive).toBeDefined();
    const spikes = steps.reduce((sum, { answer }) => sum + answer.spikes, 0);
    expect(spikes).toBeGreaterThan(0);

    const document = (await brain.experiment())!;
    const model = await (await service.get('/api/v1/model')).json();
    const done = experimentDone(document, model, { proboscis: 0.9, escape: 0.1 });
    expect(done.name).toBe('A live fly: Stimulus sugar');
    expect(Object.keys(done.inputs!)).toEqual(['sugar']);
    expect(Object.keys(done.reports!)).toEqual(['proboscis']);
    const answer = await (await service.post(done, '/api/v2/experiments')).json();
    expect(answer.conditions[0].spikes.mean).toBe(spikes);

    await brain.end();
    expect(asked.at(-1)).toMatch(/^DELETE /);
    expect((await service.get(asked.at(-1)!.slice('DELETE '.length))).status).toBe(404);
    // It is kept for the reader after its session has ended.
    expect(await brain.experiment()).toEqual(document);
  });

  it('steps a second brain without some neurons, and ends both', async () => {
    const { brain, steps } = await played(5, ['@stimulus/sugar']);
    expect(steps.map(({ lesioned }) => lesioned!.t_ms)).toEqual(steps.map(({ answer }) => answer.t_ms));
    const intact = steps.reduce((sum, { answer }) => sum + answer.spikes, 0);
    const lesioned = steps.reduce((sum, { lesioned: { spikes } = { spikes: NaN } }) => sum + spikes, 0);
    // Silenced neurons get the same input events, and excite nobody.
    expect(lesioned).toBeGreaterThan(0);
    expect(lesioned).toBeLessThan(intact);
    expect((await brain.experiment())!.silence).toEqual(['@stimulus/sugar']);
    await brain.end();
    const ended = new Set(asked.slice(-2));
    expect(ended.size).toBe(2);
    for (const each of ended) {
      expect(each).toMatch(/^DELETE /);
      expect((await service.get(each.slice('DELETE '.length))).status).toBe(404);
    }
  });

  it('goes on with one brain if there is no room for a second', async () => {
    const taken = await clientOf().openSession(DOCUMENT);
    const { brain, steps, why } = await played(5, ['@stimulus/sugar']);
    expect(why).toBe('rest');
    expect(steps.length).toBeGreaterThan(4);
    expect(steps.every(({ lesioned }) => lesioned === undefined)).toBe(true);
    await Promise.all([brain.end(), taken.end()]);
  });

  it('goes on with actions during its last step', async () => {
    const rates: number[] = [];
    let isActing = false;
    let brain!: LiveBrain;
    await new Promise<void>((resolve) => {
      brain = new LiveBrain(clientOf(), DOCUMENT, {
        sense: () => {
          rates.push(isActing ? 150 : 0);
          return { changes: { rates_hz: { sugar: rates.at(-1)! } }, isActing };
        },
        onStep: ({ answer }) => {
          // Two steps of nothing are its rest; the second is being answered.
          if (rates.length === 2) {
            isActing = true;
            brain.wake();
          }
          if (answer.spikes > 0) isActing = false;
        },
        onOne: () => undefined,
        onPause: () => resolve(),
      });
      brain.wake();
    });
    expect(rates.slice(0, 3)).toEqual([0, 0, 150]);
    await brain.end();
  });

  it('tells why if there is no room for a session, and tries again when it is woken', async () => {
    const taken = [await clientOf().openSession(DOCUMENT), await clientOf().openSession(DOCUMENT)];
    const { brain, why, steps } = await played(5);
    expect(why).toMatchObject({ error: { status: 503, code: 'QUEUE_FULL' } });
    expect(steps).toEqual([]);
    expect(await brain.experiment()).toBeUndefined();
    for (const each of taken) await each.end();
    const stepped = new Promise((resolve) => {
      const timer = setInterval(() => {
        if (steps.length === 0) return;
        clearInterval(timer);
        resolve(undefined);
      }, 5);
    });
    brain.wake();
    await stepped;
    await brain.end();
    expect((await brain.experiment())!.duration_ms).toBeGreaterThan(0);
  });

  it('goes on with an action while its session ends, unless it ends once more', async () => {
    const { brain, steps } = await played(2);
    const before = steps.length;
    const ending = brain.end();
    brain.wake();
    await ending;
    await until(() => steps.length > before);
    // It is the first step of another session.
    expect(steps[before]!.answer.t_ms).toBe(steps[before]!.durationMs);
    const again = brain.end();
    brain.wake();
    await Promise.all([again, brain.end()]);
    expect(brain.isOpen).toBe(false);
  });

  it('goes on with the document of the last of overlapping ends that names one', async () => {
    const { brain, steps } = await played(2);
    const cut = { ...DOCUMENT, wiring: { shuffle: 'targets', seed: 1 } as const };
    for (const [ends, wiring] of [
      [[cut, undefined], cut.wiring],
      [[cut, DOCUMENT], undefined],
      [[DOCUMENT, cut], cut.wiring],
    ] as const) {
      await Promise.all(ends.map((next) => brain.end(next)));
      const before = steps.length;
      brain.wake();
      await until(() => steps.length > before);
      expect((await brain.experiment())!.wiring).toEqual(wiring);
    }
    await brain.end();
  });

  it('leaves no session behind when the page is left in the middle of a step', async () => {
    const { brain } = await played(5, ['@stimulus/sugar']);
    brain.wake();
    brain.leave();
    for (const each of [0, 1].map(() => clientOf().openSession(DOCUMENT, { waitAtMostS: 20 })))
      await (await each).end();
  });
});
