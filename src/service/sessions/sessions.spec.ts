import type { FastifyReply } from 'fastify';
import type { Session } from '../../experiments/sessions/session.js';
import type { LoadedModel } from '../health/model-health.js';
import type { BrainBudget } from '../limits/brain-budget.js';
import { ServedSession } from './sessions.js';

it('a session neither pays nor gives back what is no number, and its payments go on', async () => {
  const charged: number[] = [];
  const budget = {
    charge: async (_: string, brainMs: number) => {
      charged.push(brainMs);
      return { settle: () => undefined };
    },
  } as unknown as BrainBudget;
  const served = new ServedSession({} as Session, {} as LoadedModel, budget);
  const reply = { request: { ip: '192.0.2.1' } } as FastifyReply;

  await served.pay(400, reply);
  await expect(served.pay(NaN, reply)).rejects.toThrow(RangeError);
  expect(() => served.refund(NaN)).toThrow(RangeError);
  // The 600 ms that are left pay the first of these, and no more.
  await served.pay(600, reply);
  expect(charged).toEqual([1000]);
  await served.pay(1, reply);
  expect(charged).toEqual([1000, 1000]);
});
