/** The rate of an input in a document: one number, or several that follow one another in time. */
import { invalid, type JsonPath, nameOf, refused } from '../../engine/schema/json-path.js';
import { anyOf, listOf, number, object, type Static } from '../../engine/schema/json-schema.js';
import { MAX_RATE_HZ, type RateTable } from '../../engine/stimulus/protocol.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { MOMENT, stepsOf } from './fields.js';
import type { Bound } from './bound.js';
import { sharedArray } from './shared-array.js';

const RATE_BOUNDS = { minimum: 0, maximum: MAX_RATE_HZ };

/** A constant rate. A sweep may set it. */
export const RATE_HZ = number('Mean input events of each neuron per second.', {
  ...RATE_BOUNDS,
  default: 150,
  examples: [100],
});

const RATES_IN_TIME = object(
  'Rates that hold in turn.',
  {
    times_ms: listOf(
      'When each rate begins, in ms from the start of the trial: 0, then ascending. It holds until the next one, the last ' +
        'to the end of the trial.',
      number(undefined, MOMENT),
      { minItems: 1, examples: [[0, 100, 300]] },
    ),
    values: listOf('A rate in Hz for each of these times.', number(undefined, RATE_BOUNDS), {
      minItems: 1,
      examples: [[10, 80, 0]],
    }),
  },
  { component: 'RatesInTime' },
);

/** A rate that is constant or changes in time. */
export function rateSchema(more: { readonly default?: number }) {
  return anyOf(
    'Mean input events of each neuron per second, or several such rates that hold in turn.',
    [RATE_HZ, RATES_IN_TIME],
    {
      ...more,
      allowed: `a number from 0 to ${MAX_RATE_HZ}, or an object with times_ms and values`,
      examples: [100],
    },
  );
}

export type Rate = Static<typeof RATE_HZ> | Static<typeof RATES_IN_TIME>;

/** @throws CodedError INVALID_PARAMETER */
export function checkRate(rate: Rate, path: JsonPath, rates: Bound): void {
  if (typeof rate === 'number') return;
  const { times_ms: times, values } = rate;
  rates.add(times.length, [...path, 'times_ms']);
  if (values.length !== times.length) {
    throw invalid(
      [...path, 'values'],
      `${nameOf([...path, 'values'])} must have a rate for each of the ${times.length} times, got ${values.length}.`,
    );
  }
  if (times[0] !== 0) throw refused([...path, 'times_ms', 0], times[0], '0, the start of the trial');
  const early = times.findIndex((ms, at) => ms <= times[at - 1]!);
  if (early < 0) return;
  const allowed = `above the time before it, which is ${times[early - 1]!}`;
  throw refused([...path, 'times_ms', early], times[early], allowed);
}

/** @throws CodedError INVALID_PARAMETER for a rate that would begin after the end of every trial */
export function checkEnd(rate: Rate, longestMs: number, path: JsonPath): void {
  if (typeof rate === 'number') return;
  const late = rate.times_ms.findIndex((ms) => ms >= longestMs);
  if (late < 0) return;
  const allowed = `before the end of the trial at ${longestMs} ms`;
  throw refused([...path, 'times_ms', late], rate.times_ms[late], allowed);
}

export function topRateHz(rate: Rate): number {
  return inTime(rate).values.reduce((most, each) => Math.max(most, each));
}

/** A constant rate becomes a list with one entry. */
function inTime(rate: Rate): Static<typeof RATES_IN_TIME> {
  return typeof rate === 'number' ? { times_ms: [0], values: [rate] } : rate;
}

/** Tables by the object of their rates, which the conditions of a sweep share. A table may take 1 MB. */
const KNOWN_TABLES = new WeakMap<object, RateTable>();

/**
 * The rates of a train, in shared memory.
 * @param of the object of the document that holds the rates; its table is made once
 * @param courses the row of each neuron, if there are several rows
 */
export function rateTable(
  of: object,
  rates: readonly Rate[],
  scale: number,
  courses?: Uint16Array,
): RateTable {
  const table = getOrInsert(KNOWN_TABLES, of, () => newRateTable(rates));
  return { ...table, ...(courses !== undefined && { courses }), ...(scale !== 1 && { scale }) };
}

function newRateTable(rates: readonly Rate[]): RateTable {
  const starts = [0];
  const steps: number[] = [];
  const ratesHz: number[] = [];
  for (const { times_ms: times, values } of rates.map(inTime)) {
    for (const ms of times) steps.push(stepsOf(ms));
    for (const value of values) ratesHz.push(value);
    starts.push(steps.length);
  }
  return {
    starts: sharedArray(starts),
    steps: sharedArray(steps),
    ratesHz: sharedArray(ratesHz, Float64Array),
  };
}

/** A rate in words: `at 100 Hz`, `at rates of 0 to 140 Hz in turn`. @param swept members that have no single value */
export function rateWords(rate: Rate, scale: number, swept: readonly string[]): string {
  if (swept.includes('rate_hz')) return '';
  if (typeof rate === 'number') return `at ${swept.includes('scale') ? rate : rate * scale} Hz`;
  const least = rate.values.reduce((lowest, each) => Math.min(lowest, each));
  const times = scale === 1 ? '' : `, times ${scale}`;
  return `at rates of ${least} to ${topRateHz(rate)} Hz in turn${times}`;
}

/** A share of the time that is narrower than a pixel is one of so many. */
const SHARES = 1_000;

/** The highest rate at each time, for figures. If there are too many times, those within a share have one rate: the highest. */
export function ratesCourse(rates: readonly Rate[], scale: number) {
  const all = rates.map(inTime);
  const times = [...new Set(all.flatMap(({ times_ms: own }) => own))].sort((a, b) => a - b);
  const isMerged = times.length > SHARES;
  const shareOf = (ms = Infinity) => Math.floor((ms / times.at(-1)!) * SHARES);
  // The last time in a share begins, too, as its rate may hold for long.
  const begins = isMerged
    ? times.filter((ms, at) => [times[at - 1], times[at + 1]].some((other) => shareOf(other) !== shareOf(ms)))
    : times;
  const highest = begins.map(() => 0);
  for (const { times_ms: own, values } of all) {
    let at = 0;
    for (let interval = 0; interval < begins.length; interval++) {
      const endMs = begins[interval + 1] ?? Infinity;
      while (own[at + 1]! <= begins[interval]!) at++;
      for (let next = at; next === at || own[next]! < endMs; next++) {
        highest[interval] = Math.max(highest[interval]!, values[next]!);
      }
    }
  }
  return {
    rates: begins.map((fromMs, at) => ({ fromMs, hz: scale * highest[at]! })),
    isMerged,
  };
}
