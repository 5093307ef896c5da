import { intervalOf, WORD_RANGE, type IntervalTable } from './intervals.js';
import { philox4x32 } from './philox.js';

/**
 * A Bernoulli train, and how many of its events stay. Random numbers come from Philox: block n of the train has
 * the counter (firstBlock + n, counter...), so a train depends on the numbers here and on nothing else.
 */
export interface ThinnedTrain {
  /** Of the train before it is thinned. */
  readonly intervals: IntervalTable;
  /** The share of events that stay, 0 to 1. */
  readonly share: number;
  readonly firstBlock: number;
  readonly counter: readonly [number, number, number];
  readonly key: readonly [number, number];
}

/**
 * Draws intervals, so the cost grows with the number of events, not of steps. Each event has a number of its own
 * and stays if that is below the share: a larger share only adds events, and a longer trial begins with the shorter
 * one. A block has four words: an interval, the event's number, and the same once more.
 * @returns the steps of the events that stay, ascending
 */
export function stepsOf(
  { intervals, share, firstBlock, counter, key }: ThinnedTrain,
  durationSteps: number,
): number[] {
  const steps: number[] = [];
  const keepBelow = share * WORD_RANGE;
  const words = new Uint32Array(4);
  let step = -1;
  for (let block = firstBlock; step < durationSteps; block++) {
    philox4x32(words, block, ...counter, ...key);
    for (let half = 0; half < 4; half += 2) {
      step += intervalOf(words[half]!, intervals);
      if (step < durationSteps && words[half + 1]! < keepBelow) steps.push(step);
    }
  }
  return steps;
}
