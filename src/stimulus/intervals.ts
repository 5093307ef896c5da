import { MAXIMUM_TRIAL_STEPS } from './protocol.js';

export const WORD_RANGE = 2 ** 32;
/** Stands for "no further event within the longest trial". */
const NEVER = MAXIMUM_TRIAL_STEPS + 1;

/** The geometric distribution of intervals between events, as a table to be searched with a random word. */
export interface IntervalTable {
  /** cumulative[k - 1] / 2^32 is the chance that the next event comes within k steps. */
  readonly cumulative: Float64Array;
  /** guide[b]: the smallest interval that a word beginning with the bits b can mean, less one. */
  readonly guide: Uint16Array;
  /** Bits of a word behind those that lead into the guide. */
  readonly guideShift: number;
}

/**
 * Made by multiplications alone, in one order, so it is the same on every machine. It ends where every word has
 * its interval, or with the longest trial.
 * @param chanceInStep of an event, above 0 and at most 1
 * @param guideBits that lead into the guide: more make a search shorter where intervals are long
 */
export function intervalTable(chanceInStep: number, guideBits = 8): IntervalTable {
  const known = tables.get(chanceInStep);
  if (known?.guideShift === 32 - guideBits) return known;
  const cumulative: number[] = [];
  let chanceOfNone = 1;
  do {
    chanceOfNone *= 1 - chanceInStep;
    cumulative.push((1 - chanceOfNone) * WORD_RANGE);
  } while (cumulative.length < MAXIMUM_TRIAL_STEPS && cumulative.at(-1)! <= WORD_RANGE - 1);
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

/** Steps to the next event, computed from a random 32-bit word. */
export function intervalOf(word: number, { cumulative, guide, guideShift }: IntervalTable): number {
  let k = guide[word >>> guideShift]!;
  while (k < cumulative.length && cumulative[k]! <= word) k++;
  return k === cumulative.length ? NEVER : k + 1;
}
