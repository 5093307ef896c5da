/** The rest of openBrain, wherever it computes: workers, progress, ends, and files that cannot be opened. */
import { ENDLESS, expectSame, SHORT, SUGAR } from './brain-contract.js';
import { abortOf, answersOf, askedBySleeper, closingOf, eventsOf, jobOf, runsOf } from './brain-deeds.js';
import type { OpenedBrain, OpenOptions, Place } from './brain-places.js';

const LONG_TRIALS = { ...SUGAR, trials: 4, duration_ms: 600_000 };

/** Files that cannot be opened. */
interface Faulty {
  readonly missing: () => string;
  readonly damaged: () => string;
}

/** The rest of openBrain. @param source of the default brain at that place */
export function describeLocal(place: Place, source: () => string | undefined, faulty: Faulty): void {
  const opened: OpenedBrain[] = [];
  const open = async (options?: OpenOptions) => {
    const brain = await place.open(source(), options);
    opened.push(brain);
    return brain;
  };
  afterEach(async () => {
    for (const brain of opened.splice(0)) await brain.close();
  });

  describe(`${place.name}: workers`, () => {
    it('do not change answers, however many there are', async () => {
      const documents = [
        { ...SUGAR, trials: 5, sweep: [{ set: 'inputs.sugar.rate_hz', values: [20, 80, 140] }] },
        {
          ...SHORT,
          trials: 2,
          controls: { shuffle: 'weights', count: 5 },
          reports: { MN9: { node_set: '@MN9' } },
        },
        {
          ...SUGAR,
          trials: 3,
          duration_ms: 20_000,
          reports: { MN9: { node_set: '@MN9', type: 'histogram' } },
        },
      ];
      const answers = [];
      for (const workers of [1, 3]) {
        const brain = await open({ workers });
        answers.push(await brain.use(answersOf, documents));
      }
      expect(answers[0]!.every((each) => typeof each === 'string')).toBe(true);
      expectSame(answers[1]!, answers[0]!);
    });

    it('report progress that grows', async () => {
      const brain = await open();
      const document = { ...SUGAR, trials: 100, duration_ms: 5000 };
      const events = await brain.use(eventsOf, document);
      const progress = events.filter((each) => Array.isArray(each)) as number[][];
      expect(progress.length).toBeGreaterThan(0);
      const trials = progress.map(([, , done]) => done!);
      expect(trials).toEqual(trials.toSorted((a, b) => a - b));
      expect(progress.every(([, conditions, , all]) => conditions === 1 && all === 100)).toBe(true);
    });

    it.each([1, 2])('end long trials soon after an abort, with workers: %i', async (workers) => {
      const brain = await open({ workers });
      expect(await brain.use(abortOf, LONG_TRIALS)).toEqual(['enough', 50]);
      const short = [{ ...SHORT, trials: 4 }];
      expect(await brain.use(answersOf, short)).toEqual([expect.any(String)]);
    });

    it('answer a caller that slept', async () => {
      const brain = await open();
      const document = { ...SUGAR, trials: 50 };
      expect(await brain.use(askedBySleeper, document)).toEqual(Array(4).fill('answered'));
    });

    it('refuse a job without computing it', async () => {
      const brain = await open();
      const refusal = { code: 'JOBS_UNAVAILABLE', message: 'A brain in this program computes no jobs.' };
      expect(await brain.use(jobOf, { ...SHORT, trials: 2 })).toEqual([refusal, '0.1']);
    });

    it('reject all that is pending if they are closed', async () => {
      const brain = await open({ workers: 2 });
      expect(await brain.use(closingOf, ENDLESS)).toEqual(Array(6).fill('RUN_CANCELLED'));
    });

    it('of two brains know nothing of each other', async () => {
      const brains = await Promise.all([open(), open()]);
      const asked = [3, 4].map((seed) => [{ request: { stimulus: 'loom', seed }, view: 'full' } as const]);
      const together = await Promise.all(brains.map((brain, at) => brain.use(runsOf, asked[at]!)));
      await brains[1]!.close();
      const alone = [];
      for (const runs of asked) alone.push(await brains[0]!.use(runsOf, runs));
      expect(together).toEqual(alone);
      expect(alone[0]).not.toEqual(alone[1]);
    });
  });

  describe(`${place.name}: opening`, () => {
    it('refuses a damaged file and one that is not there', async () => {
      await expect(place.open(faulty.damaged())).rejects.toMatchObject({
        code: 'CONNECTOME_INVALID',
        message: expect.stringMatching(/digest/) as string,
      });
      await expect(place.open(faulty.missing())).rejects.toMatchObject({
        code: 'CONNECTOME_MISSING',
        message: expect.stringContaining('missing.connectome') as string,
      });
    });

    it('ends if it is aborted', async () => {
      const opening = place.open(source(), { workers: 3, abortAfterMs: 1 });
      await expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
    });
  });
}
