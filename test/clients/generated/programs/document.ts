/** The experiment that every program asks for, in the types of its own client. */
export const DOCUMENT = {
  inputs: { sugar: { node_set: '@sugar' } },
  duration_ms: 50,
  trials: 2,
  reports: { mn9: { node_set: '@MN9', group_by: ['side' as const] } },
  sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 150] }],
};
export const SESSION = { inputs: { sugar: { node_set: '@sugar', rate_hz: 80 } } };
export const STEP = { t_ms: 0, duration_ms: 20 };
export const ASYNC = { Prefer: 'respond-async' };

/** The answers that a program got; they are the same with every client. */
export interface Answers {
  readonly experiment: string;
  readonly job: string;
  readonly statusAfter: string;
  readonly tMs: number;
  readonly table: string;
}

/** The value, which an answer with another status lacks. */
export function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The answer has another status.');
  return value;
}

/** Asks until the job is done. */
export async function untilDone(statusOf: () => Promise<string>): Promise<void> {
  while ((await statusOf()) !== 'successful') await new Promise((next) => setTimeout(next, 50));
}
