import { MAX_WHOLE_TRIAL_STEPS } from './protocol.js';

export const WORD_RANGE = 2 ** 32;
/** The interval that means "no further event within the longest trial". */
const NEVER = MAX_WHOLE_TRIAL_STEPS + 1;

/** The geometric distribution of intervals between events, as a table that a random word is looked up in. */
export interface IntervalTable {
  /** cumulative[k - 1] / 2^32 is the probability that the next event comes within k steps. */
  readonly cumulative: Float64Array;
  /** guide[b] is the index at which the search begins for a word whose leading bits are b. */
  readonly guide: Uint16Array;
  /** Shifts a word right to its leading bits. */
  readonly guideShift: number;
}

/**
 * Uses only products and differences, in a fixed order, so the table is the same on every machine. It ends when every
 * word has an interval, or at the length of the longest trial that is simulated whole.
 * @param chanceInStep the probability of an event in a step, above 0 and at most 1
 * @param guideBits the number of leading bits; more bits shorten the search if intervals are long
 */
export function intervalTable(chanceInStep: number, guideBits = 8): IntervalTable {
  const known = tables.get(chanceInStep);
  if (known?.guideShift === 32 - guideBits) return known;
  const cumulative: number[] = [];
  let chanceOfNone = 1;
  do {
    chanceOfNone *= 1 - chanceInStep;
    cumulative.push((1 - chanceOfNone) * WORD_RANGE);
  } while (cumulative.length < MAX_WHOLE_TRIAL_STEPS && cumulative.at(-1)! <= WORD_RANGE - 1);
  const guideShift = 32 - guideBits;
  const guide = new Uint16Array(2 ** guideBits);
  for (let bits = 0, k = 0; bits < guide.length; bits++) {
    while (k < cumulative.length && cumulative[k]! <= bits * 2 ** guideShift) k++;
    guide[bits] = k;
  }
  const table = { cumulative: Float64Array.from(cumulative), guide, guideShift };
  tables.set(chanceInStep, table);
  return table;
}

const tables = new Map<number, IntervalTable>();

/** @returns the number of steps to the next event, for a random 32-bit word */
export function intervalOf(word: number, { cumulative, guide, guideShift }: IntervalTable): number {
  let k = guide[word >>> guideShift]!;
  while (k < cumulative.length && cumulative[k]! <= word) k++;
  return k === cumulative.length ? NEVER : k + 1;
}
