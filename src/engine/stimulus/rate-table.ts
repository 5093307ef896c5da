import { firstNotBelow } from '../connectome/sorted-array.js';
import type { RateTable } from './protocol.js';

/** The rate of one neuron over time: each rate holds from its step to the next one, the last one to the end. */
export type RateCourse = Pick<RateTable, 'steps' | 'ratesHz'>;

const ALWAYS = Uint32Array.of(0);

/** @param position the neuron's position in its input */
export function courseOf(rateHz: number | RateTable, position: number): RateCourse {
  if (typeof rateHz === 'number') return { steps: ALWAYS, ratesHz: Float64Array.of(rateHz) };
  return courseAt(rateHz, rateHz.courses?.[position] ?? 0);
}

/** @returns the different courses; a fixed rate has one */
export function coursesOf(rateHz: number | RateTable): RateCourse[] {
  if (typeof rateHz === 'number') return [courseOf(rateHz, 0)];
  return Array.from({ length: rateHz.starts.length - 1 }, (_, course) => courseAt(rateHz, course));
}

function courseAt({ starts, steps, ratesHz, scale = 1 }: RateTable, course: number): RateCourse {
  const [from, to] = [starts[course], starts[course + 1]];
  const unscaledHz = ratesHz.subarray(from, to);
  return {
    steps: steps.subarray(from, to),
    ratesHz: scale === 1 ? unscaledHz : unscaledHz.map((rateHz) => rateHz * scale),
  };
}

/** Sums over the neurons of a table, at a scale of 1. Plain data, so it can be sent to a thread. */
export interface RateTotals {
  readonly neurons: number;
  /** The sum of the highest rate of each neuron's course. Drawing costs this, because thinning comes after it. */
  readonly drawnHz: number;
  /** The steps at which the summed rate changes: 0, then ascending. */
  readonly steps: Uint32Array;
  /** The summed rate from each of these steps on. */
  readonly ratesHz: Float64Array;
  /** The expected number of events before each of these steps, times the number of steps in a second. */
  readonly sums: Float64Array;
}

/** @param counts the number of neurons of each course */
export function rateTotals(table: RateTable, counts: ArrayLike<number>): RateTotals {
  // From each step to the change of the summed rate.
  const changes = new Map<number, number>();
  let neurons = 0;
  let drawnHz = 0;
  for (const [course, { steps, ratesHz }] of coursesOf({ ...table, scale: 1 }).entries()) {
    const count = counts[course]!;
    steps.forEach((step, position) => {
      const change = count * (ratesHz[position]! - (ratesHz[position - 1] ?? 0));
      changes.set(step, (changes.get(step) ?? 0) + change);
    });
    neurons += count;
    drawnHz += count * ratesHz.reduce((most, each) => Math.max(most, each));
  }
  const steps = Uint32Array.from(changes.keys()).sort();
  const rates = new Float64Array(steps.length);
  const sums = new Float64Array(steps.length);
  for (let position = 0, rateHz = 0; position < steps.length; position++) {
    const before = position === 0 ? 0 : steps[position]! - steps[position - 1]!;
    sums[position] = (sums[position - 1] ?? 0) + before * rateHz;
    rates[position] = rateHz += changes.get(steps[position]!)!;
  }
  return { neurons, drawnHz, steps, ratesHz: rates, sums };
}

/** @returns the expected number of events before a step, times the number of steps in a second */
export function sumUpTo({ steps, ratesHz, sums }: RateTotals, step: number): number {
  const position = firstNotBelow(steps, step + 1) - 1;
  return sums[position]! + (step - steps[position]!) * ratesHz[position]!;
}
