import { firstNotBelow } from '../connectome/sorted-array.js';
import type { RateTable } from './protocol.js';

/** Rates of one neuron in time: each holds from its step up to the next one, the last one to the end. */
export type RateCourse = Pick<RateTable, 'steps' | 'ratesHz'>;

const ALWAYS = Uint32Array.of(0);

/** @param place of the neuron in its input */
export function courseOf(rateHz: number | RateTable, place: number): RateCourse {
  if (typeof rateHz === 'number') return { steps: ALWAYS, ratesHz: Float64Array.of(rateHz) };
  return courseAt(rateHz, rateHz.courses?.[place] ?? 0);
}

export function coursesOf(table: RateTable): RateCourse[] {
  return Array.from({ length: table.starts.length - 1 }, (_, course) => courseAt(table, course));
}

function courseAt({ starts, steps, ratesHz }: RateTable, course: number): RateCourse {
  const [from, to] = [starts[course], starts[course + 1]];
  return { steps: steps.subarray(from, to), ratesHz: ratesHz.subarray(from, to) };
}

/**
 * Events of the neurons that have these courses, on average, from the start of the trial up to, not including, a step,
 * times the steps of a second.
 * @param counts neurons that have each course
 */
export function rateSums(table: RateTable, counts: ArrayLike<number>): (step: number) => number {
  // How much the rate of all of them changes, by the step.
  const changes = new Map<number, number>();
  for (const [course, { steps, ratesHz }] of coursesOf(table).entries()) {
    steps.forEach((step, place) => {
      const change = counts[course]! * (ratesHz[place]! - (ratesHz[place - 1] ?? 0));
      changes.set(step, (changes.get(step) ?? 0) + change);
    });
  }
  const steps = Uint32Array.from(changes.keys()).sort();
  const rates = new Float64Array(steps.length);
  const sums = new Float64Array(steps.length);
  for (let place = 0, rateHz = 0; place < steps.length; place++) {
    const before = place === 0 ? 0 : steps[place]! - steps[place - 1]!;
    sums[place] = (sums[place - 1] ?? 0) + before * rateHz;
    rates[place] = rateHz += changes.get(steps[place]!)!;
  }
  return (step) => {
    const place = firstNotBelow(steps, step + 1) - 1;
    return sums[place]! + (step - steps[place]!) * rates[place]!;
  };
}

/** Rates at which the trains of the neurons are drawn before they are thinned, in all: the highest of each course. */
export function drawnRateHz(table: RateTable, counts: ArrayLike<number>): number {
  return coursesOf(table).reduce(
    (sum, { ratesHz }, course) =>
      sum + counts[course]! * ratesHz.reduce((most, each) => Math.max(most, each)),
    0,
  );
}
