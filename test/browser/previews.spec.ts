/** Runs that follow a control wait if the service asks for that, and no run of an earlier document is shown. */
import type { DryRun } from '../../src/experiments/document/result.js';
import { type LiveRun, Previews } from '../../clients/pages/laboratory/previews.js';
import type { Members } from '../../clients/pages/laboratory/json.js';
import type { ServiceFailure } from '../../clients/pages/service/client.js';

const CHEAP = { cost: { brain_seconds: 1 }, experiment: { trials: 5 } } as unknown as DryRun;
const failureOf = (kind: string) => ({ kind, message: 'Because.', retryAfterS: 7 }) as ServiceFailure;

/** Previews whose runs end with these failures, one after another. */
function startPreviews(...failures: (ServiceFailure | undefined)[]) {
  const ran: Members[] = [];
  const said: string[] = [];
  const run = async ({ document, asked }: LiveRun) => {
    ran.push(document);
    expect(asked['seed']).toBe(document['seed']);
    return failures.shift();
  };
  return { ran, said, previews: new Previews(run, (sentence) => said.push(sentence)) };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it.each([
  ['limited', /^The brain seconds of this minute are spent\. The figure follows again in 7 s\.$/],
  ['unavailable', /^Because\. The figure follows again in 7 s\.$/],
])('repeats a run that was %s after the pause', async (kind, sentence) => {
  const { ran, said, previews } = startPreviews(failureOf(kind));
  previews.whole({ seed: 1 }, CHEAP);
  await jest.advanceTimersByTimeAsync(6_999);
  expect(said.at(-1)).toMatch(sentence);
  expect(ran).toEqual([{ seed: 1 }]);
  await jest.advanceTimersByTimeAsync(1);
  expect(ran).toEqual([{ seed: 1 }, { seed: 1 }]);
  expect(said.at(-1)).toBe('');
});

it('runs the latest document after the pause, and none that was dropped', async () => {
  const { ran, previews } = startPreviews(failureOf('limited'));
  previews.whole({ seed: 1 }, CHEAP);
  await jest.advanceTimersByTimeAsync(0);
  previews.drop();
  previews.whole({ seed: 2 }, CHEAP);
  await jest.advanceTimersByTimeAsync(7_000);
  expect(ran).toEqual([{ seed: 1 }, { seed: 2 }]);

  const dropped = startPreviews(failureOf('limited'));
  dropped.previews.preview({ seed: 1 }, CHEAP);
  await jest.advanceTimersByTimeAsync(0);
  dropped.previews.drop();
  await jest.advanceTimersByTimeAsync(7_000);
  expect(dropped.ran).toEqual([{ seed: 1, trials: 2 }]);
});

it('says any other failure', async () => {
  const { said, previews } = startPreviews(failureOf('failed'));
  previews.whole({}, CHEAP);
  await jest.advanceTimersByTimeAsync(0);
  expect(said).toEqual(['Because.']);
});

it('neither repeats nor explains a run that was dropped before its failure', async () => {
  for (const kind of ['limited', 'failed']) {
    const { ran, said, previews } = startPreviews(failureOf(kind));
    previews.whole({ seed: 1 }, CHEAP);
    previews.drop();
    await jest.advanceTimersByTimeAsync(7_000);
    expect(ran).toEqual([{ seed: 1 }]);
    expect(said).not.toContain('Because.');
  }
});

it('hands over the document of the form with a preview of it', async () => {
  const asked = { seed: 1, trials: 5, controls: { shuffle: 'weights', count: 2 } };
  const runs: LiveRun[] = [];
  new Previews(
    async (run) => void runs.push(run),
    () => undefined,
  ).preview(asked, CHEAP);
  await jest.advanceTimersByTimeAsync(0);
  expect(runs).toEqual([{ document: { seed: 1, trials: 2 }, asked, note: 'A preview of 2 trials.' }]);
});
