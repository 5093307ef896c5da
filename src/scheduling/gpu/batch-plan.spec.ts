import { BatchPlan, costOf } from './batch-plan.js';

/** A job of n ms on a CPU worker. */
const jobOf = (ms: number) => ({ steps: 1000, synapticEvents: 1000 * (ms - 1) });
const jobs = (count: number, ms = 8) => Array.from({ length: count }, () => jobOf(ms));

describe('BatchPlan', () => {
  // Two CPU workers; a job of 8 ms comes to 4 ms on both together.
  const cpu = { msPerStep: 0.001, msPerEvent: 0.001, workers: 2 };
  const gpu = [
    { width: 1, msPerStep: 0.006, msPerEvent: 0 },
    { width: 8, msPerStep: 0.02, msPerEvent: 0 },
    { width: 32, msPerStep: 0.05, msPerEvent: 0 },
  ];

  it('takes what the GPU computes sooner than all workers together', () => {
    const plan = new BatchPlan({ cpu, gpu });
    // 6 jobs are 24 ms on the CPU, 20 on the GPU; 5 are 20, which is not sooner.
    expect(plan.fewestOf(jobOf(8))).toBe(6);
    expect([0, 1, 5, 6, 8].map((waiting) => plan.batchSizeOf(jobs(waiting)))).toEqual([0, 0, 0, 6, 8]);
  });

  it('leaves what would make a larger batch too slow', () => {
    const plan = new BatchPlan({ cpu, gpu });
    // 9 to 12 take 50 ms on the GPU, which only 13 and more are worth.
    expect([9, 12, 13, 32, 60].map((waiting) => plan.batchSizeOf(jobs(waiting)))).toEqual([8, 8, 13, 32, 32]);
  });

  it('takes fewer jobs where each is heavy, and none where they are light', () => {
    const plan = new BatchPlan({ cpu, gpu });
    expect(plan.batchSizeOf(jobs(2, 30))).toBe(2);
    expect(plan.batchSizeOf(jobs(60, 2))).toBe(0);
    // One heavy job among light ones is worth the batch.
    expect(plan.batchSizeOf([jobOf(60), ...jobs(7, 2)])).toBe(8);
  });

  it('counts the longest job of a batch, which all others wait for', () => {
    const plan = new BatchPlan({ cpu, gpu });
    const long = { steps: 10_000, synapticEvents: 0 };
    expect(plan.batchSizeOf([...jobs(7), long])).toBe(7);
  });

  it('leaves everything to the CPU where the GPU is never faster', () => {
    const plan = new BatchPlan({
      cpu,
      gpu: gpu.map(({ width }) => ({ width, msPerStep: 1, msPerEvent: 0 })),
    });
    expect(plan.fewestOf(jobOf(8))).toBeUndefined();
    expect(plan.batchSizeOf(jobs(60))).toBe(0);
  });

  it('takes a single job as well where it is told to', () => {
    const plan = BatchPlan.always(8);
    expect(plan.fewestOf(jobOf(8))).toBe(1);
    expect([0, 1, 7, 9].map((waiting) => plan.batchSizeOf(jobs(waiting)))).toEqual([0, 1, 7, 8]);
  });
});

describe('costOf', () => {
  const measured = (steps: number, synapticEvents: number, ms: number) => ({
    load: { steps, synapticEvents },
    ms,
  });

  it('finds what steps and events cost', () => {
    const { msPerStep, msPerEvent } = costOf([
      measured(1000, 0, 2),
      measured(1000, 1e6, 5),
      measured(2000, 5e5, 5.5),
    ]);
    expect(msPerStep).toBeCloseTo(0.002, 12);
    expect(msPerEvent).toBeCloseTo(3e-6, 12);
  });

  it.each([
    ['loads that are alike', [measured(1000, 5, 2), measured(1000, 5, 4)], 0.003, 0],
    ['no events', [measured(1000, 0, 2)], 0.002, 0],
    ['more events in less time', [measured(1000, 100, 4), measured(1000, 1000, 2)], 0.003, 0],
    ['nothing but events', [measured(1000, 1e6, 1), measured(1000, 4e6, 8)], 0, 33 / 17e6],
  ])('has no negative part with %s', (_, samples, msPerStep, msPerEvent) => {
    const cost = costOf(samples);
    expect(cost.msPerStep).toBeCloseTo(msPerStep, 12);
    expect(cost.msPerEvent).toBeCloseTo(msPerEvent, 12);
  });
});
