/** Requests for open experiments on the small brain. */
import type { Service } from './service.js';

export const PATH = '/api/v2/experiments';
export const JSON_TYPE = { 'content-type': 'application/json' };
/** Neurons of the small brain: 12 that stimulate, 4 that are read. */
export const SUGAR = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 100 } },
  duration_ms: 100,
  trials: 3,
  reports: {
    walk: { node_set: '@channel/walk' },
    all: { node_set: { super_class: '*' }, group_by: ['type'] },
  },
  sweep: [{ set: 'inputs.sugar.rate_hz', from: 0, to: 200, step: 100 }],
};
export const NO_BUDGET = {
  EXPERIMENT_BRAIN_SECONDS: '999999',
  EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0',
};

export const run = (service: Service, document: unknown, query = '', headers: Record<string, string> = {}) =>
  service.post(document, `${PATH}${query}`, { ...JSON_TYPE, ...headers });
