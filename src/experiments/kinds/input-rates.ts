/** Rates of inputs in a document: one number, or several that hold in turn. */
import { invalid, type JsonPath, nameOf, refused } from '../../schema/json-path.js';
import { anyOf, listOf, number, object, type Static } from '../../schema/json-schema.js';
import { MAXIMUM_RATE_HZ, type RateTable } from '../../stimulus/protocol.js';
import { MOMENT, stepsOf } from '../document/fields.js';
import type { Bound } from './bound.js';
import { sharedArray } from './shared-array.js';

const RATE_BOUNDS = { minimum: 0, maximum: MAXIMUM_RATE_HZ };

/** A rate that is one number, which a sweep may set. */
export const RATE_HZ = number('Mean input events of each neuron per second.', {
  ...RATE_BOUNDS,
  default: 150,
  examples: [100],
});

const RATES_IN_TIME = object('Rates that hold in turn.', {
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
});

/** A rate that may change in time. */
export function rateSchema(more: { readonly default?: number }) {
  return anyOf(
    'Mean input events of each neuron per second, or several such rates that hold in turn.',
    [RATE_HZ, RATES_IN_TIME],
    {
      ...more,
      allowed: `a number from 0 to ${MAXIMUM_RATE_HZ}, or an object with times_ms and values`,
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

/** Rates that hold in turn, a single one from the start on. */
function inTime(rate: Rate): Static<typeof RATES_IN_TIME> {
  return typeof rate === 'number' ? { times_ms: [0], values: [rate] } : rate;
}

/** The rates of a train, in shared memory. @param courses of neurons, where there are several rates */
export function rateTable(rates: readonly Rate[], scale: number, courses?: Uint16Array): RateTable {
  const starts = [0];
  const steps: number[] = [];
  const ratesHz: number[] = [];
  for (const { times_ms: times, values } of rates.map(inTime)) {
    for (const ms of times) steps.push(stepsOf(ms));
    for (const value of values) ratesHz.push(value * scale);
    starts.push(steps.length);
  }
  return {
    ...(courses !== undefined && { courses }),
    starts: sharedArray(starts),
    steps: sharedArray(steps),
    ratesHz: sharedArray(ratesHz, Float64Array),
  };
}

/** A rate in words: `at 100 Hz`, `at rates of 0 to 140 Hz in turn`. @param swept members that have no value of their own */
export function rateWords(rate: Rate, scale: number, swept: readonly string[]): string {
  if (swept.includes('rate_hz')) return '';
  if (typeof rate === 'number') return `at ${swept.includes('scale') ? rate : rate * scale} Hz`;
  const [least, most] = [Math.min(...rate.values), Math.max(...rate.values)];
  return `at rates of ${least} to ${most} Hz in turn${scale === 1 ? '' : `, times ${scale}`}`;
}

/** Rates over a trial, for figures: of several at a time the highest. */
export function ratesCourse(rates: readonly Rate[], scale: number) {
  const all = rates.map(inTime);
  const times = [...new Set(all.flatMap(({ times_ms: own }) => own))].sort((a, b) => a - b);
  const highestAt = (ms: number) =>
    all.reduce((most, { times_ms: own, values }) => {
      return Math.max(most, values[own.filter((time) => time <= ms).length - 1]!);
    }, 0);
  return { rates: times.map((fromMs) => ({ fromMs, hz: scale * highestAt(fromMs) })) };
}
