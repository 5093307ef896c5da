import { intervalOf, WORD_RANGE, type IntervalTable } from './intervals.js';
import { philox4x32 } from './philox.js';

/** A Bernoulli train that is drawn and then thinned; a train is the union of some of these. */
export interface Layer {
  /** Before the thinning. */
  readonly intervals: IntervalTable;
  /** The share of events that stay, 0 to 1. */
  readonly share: number;
  /** The number of the first block of random numbers; the next blocks follow it. */
  readonly firstBlock: number;
}

/** Where the random numbers of one neuron come from: the words of Philox's counter behind the block, and its key. */
export interface Stream {
  readonly counter: readonly [number, number, number];
  readonly key: readonly [number, number];
}

/**
 * Draws intervals, so the cost grows with the number of events, not of steps. Each event has a number of its own
 * and stays if that is below the share: a larger share only adds events, and a longer trial begins with the shorter
 * one. A block has four words: an interval, the event's number, and the same once more.
 * @returns the steps of the events that stay, ascending, up to endStep - 1
 */
export function stepsOf(
  { intervals, share, firstBlock }: Layer,
  { counter: [c1, c2, c3], key: [k0, k1] }: Stream,
  endStep: number,
): number[] {
  const steps: number[] = [];
  const keepBelow = share * WORD_RANGE;
  const words = new Uint32Array(4);
  let step = -1;
  for (let block = firstBlock; step < endStep; block++) {
    philox4x32(words, block, c1, c2, c3, k0, k1);
    for (let half = 0; half < 4; half += 2) {
      step += intervalOf(words[half]!, intervals);
      if (step < endStep && words[half + 1]! < keepBelow) steps.push(step);
    }
  }
  return steps;
}
