import { BatchPlan } from './batch-plan.js';

describe('BatchPlan', () => {
  // Two CPU workers of 8 ms a run: 4 ms a run together.
  const cpu = { cpuMs: 8, cpuWorkers: 2 };
  const gpu = [
    { width: 1, ms: 6 },
    { width: 8, ms: 20 },
    { width: 32, ms: 50 },
  ];

  it('takes what the GPU computes sooner than all workers together', () => {
    const plan = new BatchPlan({ ...cpu, gpu });
    // 6 runs are 24 ms on the CPU, 20 on the GPU; 5 are 20, which is not sooner.
    expect(plan.fewest).toBe(6);
    expect([0, 1, 5, 6, 8].map((waiting) => plan.batchOf(waiting))).toEqual([0, 0, 0, 6, 8]);
  });

  it('leaves what would make a larger batch too slow', () => {
    const plan = new BatchPlan({ ...cpu, gpu });
    // 9 to 12 take 50 ms on the GPU, which only 13 and more are worth.
    expect([9, 12, 13, 32, 60].map((waiting) => plan.batchOf(waiting))).toEqual([8, 8, 13, 32, 32]);
  });

  it('leaves everything to the CPU where the GPU is never faster', () => {
    const plan = new BatchPlan({ ...cpu, gpu: gpu.map(({ width }) => ({ width, ms: 1000 })) });
    expect(plan.fewest).toBeUndefined();
    expect(plan.batchOf(60)).toBe(0);
  });

  it('takes a single run as well where it is told to', () => {
    const plan = BatchPlan.always(8);
    expect(plan.fewest).toBe(1);
    expect([0, 1, 7, 9].map((waiting) => plan.batchOf(waiting))).toEqual([0, 1, 7, 8]);
  });
});
