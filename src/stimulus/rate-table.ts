import type { RateTable } from './protocol.js';

/** Rates of one neuron in time: each holds from its step up to the next one, the last one to the end. */
export type RateCourse = Pick<RateTable, 'steps' | 'ratesHz'>;

const ALWAYS = Uint16Array.of(0);

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
 * Events of the neurons that have these courses, on average, from the start of the trial up to each step: place n has
 * those of steps 0 to n - 1, times the steps of a second.
 * @param counts neurons that have each course
 */
export function rateSums(table: RateTable, counts: ArrayLike<number>, durationSteps: number): Float64Array {
  // First how much the rate of all of them changes in each step.
  const sums = new Float64Array(durationSteps + 1);
  for (const [course, { steps, ratesHz }] of coursesOf(table).entries()) {
    steps.forEach((step, place) => {
      const change = ratesHz[place]! - (ratesHz[place - 1] ?? 0);
      if (step < durationSteps) sums[step]! += counts[course]! * change;
    });
  }
  for (let step = 0, rateHz = 0, sum = 0; step <= durationSteps; step++) {
    rateHz += sums[step]!;
    sums[step] = sum;
    sum += rateHz;
  }
  return sums;
}

/** Rates at which the trains of the neurons are drawn before they are thinned, in all: the highest of each course. */
export function drawnRateHz(table: RateTable, counts: ArrayLike<number>): number {
  return coursesOf(table).reduce(
    (sum, { ratesHz }, course) =>
      sum + counts[course]! * ratesHz.reduce((most, each) => Math.max(most, each)),
    0,
  );
}
