import { writeMaleCns } from '../../../test/support/other-flies.js';
import { compiledSimulators, subjectOf } from '../cli/simulators.js';
import { readDataset } from '../compiler/dataset.js';
import { silent } from '../compiler/progress.js';
import { readTables } from '../compiler/tables.js';
import { outcomes } from './outcomes.js';
import { publishedResults } from './published.js';
import type { Subject } from './subject.js';

const [SUGAR, ROUNDUP, MN9_LEFT, MN9_RIGHT] = [1, 2, 3, 4];

/** A brain other than FlyWire's: left sugar neurons excite Roundup, which excites the right motor neuron. */
async function subject(): Promise<Subject> {
  const body = (bodyId: number, type: string, somaSide: string, superclass: string) => ({
    ...{ bodyId, type, somaSide, superclass },
    transmitter: 'acetylcholine',
  });
  const dir = writeMaleCns(
    [
      body(SUGAR!, 'LB3b', 'L', 'cb_sensory'),
      body(ROUNDUP!, 'CB0553', 'L', 'cb_intrinsic'),
      body(MN9_LEFT!, 'MN9', 'L', 'cb_motor'),
      body(MN9_RIGHT!, 'MN9', 'R', 'cb_motor'),
    ],
    [
      [SUGAR!, ROUNDUP!, 300],
      [ROUNDUP!, MN9_RIGHT!, 300],
    ],
  );
  const brain = await readTables(dir, silent, 1, undefined, readDataset('malecns-1.0'));
  return subjectOf(brain, 'fast', compiledSimulators());
}

describe('outcomes', () => {
  it('compares flies with the predictions of a brain, for the neurons that it has', async () => {
    const found = outcomes(await subject());
    const about = (words: string) => found.find(({ asks }) => asks.startsWith(words))!;
    expect(about('fires less on the side')).toMatchObject({ agree: ['MN9'] });
    expect(about('responds to sugar')).toMatchObject({ agree: ['MN9', 'roundup'], onlyPredicted: [] });
    expect(about('responds to sugar').publishedRight).toBe(2);
    // Silencing it blocks sugar in this brain, unlike in a fly.
    expect(about('is required for the response of MN9 to sugar')).toMatchObject({
      ...{ agree: [], onlyPredicted: ['roundup'], publishedRight: 0 },
    });
    expect(about('suffices')).toMatchObject({ agree: ['roundup'], onlyFound: [] });
    expect(about('suffices').missing).toHaveLength(105);
    expect(about('responds to water')).toMatchObject({ agree: [], onlyFound: [], onlyPredicted: [] });
    const names = found.flatMap((each) => [each.agree, each.onlyFound, each.onlyPredicted, each.missing]);
    expect(names.flat()).toHaveLength(159);
  });
});

describe('publishedResults', () => {
  it('gives no number without a type that is silenced, and runs each protocol for itself', async () => {
    const sugar = { name: 'sugar', rates_hz: { '@sugar': 100 }, reads: 'MN9:right' };
    const numbers = [
      sugar,
      { ...sugar, silenced: 'CB0553', published: 15 },
      { ...sugar, silenced: 'PVLP122b', published: 15 },
    ];
    const ours = publishedResults(await subject(), numbers).map((each) => each.ours);
    expect(ours).toEqual([
      { mean: expect.any(Number), sd: expect.any(Number) },
      { mean: 0, sd: 0 },
    ]);
    expect(ours[0]).not.toEqual(ours[1]);
  });
});
