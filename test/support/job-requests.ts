/** Requests for experiments as jobs, on the small brain. */
import { JSON_TYPE, PATH } from './experiment-requests.js';
import type { Answer, Service } from './service.js';
import { until } from './service-process.js';

export const ASYNC = { ...JSON_TYPE, prefer: 'respond-async' };

const INPUTS = { sugar: { node_set: 'S_sugar', rate_hz: 150 } };
const REPORTS = {
  walk: { node_set: '@channel/walk', group_by: ['side'] },
  course: { node_set: { super_class: '*' }, type: 'histogram', group_by: ['type'], bin_ms: 25 },
};
export const SHORT = { inputs: INPUTS, duration_ms: 60, trials: 3, reports: REPORTS };

/** Hours of simulated time, for tests that end it. */
export const ENDLESS = {
  inputs: INPUTS,
  duration_ms: 200,
  trials: 100,
  reports: { walk: { node_set: 'C_walk' } },
  sweep: [{ set: 'seed', from: 1, to: 15_000, step: 1 }],
};

/** ENDLESS with as many conditions as one request may have. */
export const ENDLESS_ANSWER = { ...ENDLESS, sweep: [{ set: 'seed', from: 1, to: 2_000, step: 1 }] };

export const begin = (service: Service, document: unknown, headers: Record<string, string> = {}) =>
  service.post(document, PATH, { ...ASYNC, ...headers });
export const locationOf = (answer: Answer) => answer.headers.get('location')!;
export const statusOf = async (service: Service, location: string) => (await service.get(location)).json();

export async function begun(service: Service, document: unknown): Promise<string> {
  const answer = await begin(service, document);
  expect(answer.status).toBe(202);
  return locationOf(answer);
}

export async function finished(service: Service, document: unknown): Promise<string> {
  const location = await begun(service, document);
  await until(async () => (await statusOf(service, location)).status === 'successful');
  return location;
}
