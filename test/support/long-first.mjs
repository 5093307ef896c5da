import Sequencer from '@jest/test-sequencer';

/**
 * Files that take more than a minute in CI. Without times of an earlier run Jest sorts by size, and a long test in a short file
 * would come last, beside an idle core.
 */
const LONG = [
  'live-fly.slow.spec.ts',
  'laboratory.slow.spec.ts',
  'starvation.spec.ts',
  'brian2-open-experiment.slow.spec.ts',
  'page.slow.spec.ts',
  'tab-brain.slow.spec.ts',
  'local-brain.slow.spec.ts',
  'arrival.slow.spec.ts',
  'sessions-elsewhere.slow.spec.ts',
  'validation.slow.spec.ts',
  'cut-trials.slow.spec.ts',
  'fly.slow.spec.ts',
];

/** Runs the long files first, then the others in Jest's order. */
export default class LongFirst extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => LONG.some((name) => path.endsWith(`/${name}`));
    return super.sort(tests).toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}
