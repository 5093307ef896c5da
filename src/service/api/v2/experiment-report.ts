import type { FastifyRequest } from 'fastify';
import { CLIENT_GONE_STATUS } from '../../http/request-watch.js';
import type { Format } from '../../../experiments/formats/formats.js';
import type { Work } from '../../../experiments/plan/prices.js';

/** How an experiment ended. `refused`: nothing of it was simulated. `job`: it became a job. */
export type Outcome = 'done' | 'dry_run' | 'job' | 'refused' | 'failed' | 'cancelled' | 'drained';

/** Facts of a request for an experiment and its answer, for the log and the metrics. */
export interface ExperimentReport {
  outcome: Outcome | 'under_way';
  format?: Format;
  id?: string;
  /** Conditions that were answered. */
  conditions: number;
  /** Trials that were simulated. */
  trials: number;
  brainSeconds: number;
  /** Work so far, for its price. */
  work: Readonly<Work>;
}

/** Those of requests that reached the route. */
export const experimentReports = new WeakMap<FastifyRequest, ExperimentReport>();

/** Opens the report of a request; whoever serves it fills in the rest. */
export function openExperimentReport(request: FastifyRequest): ExperimentReport {
  const report: ExperimentReport = {
    outcome: 'refused',
    conditions: 0,
    trials: 0,
    brainSeconds: 0,
    work: {},
  };
  experimentReports.set(request, report);
  return report;
}

/** @param status of the request, which is over */
export function outcomeOf({ outcome }: ExperimentReport, status: number): Outcome {
  const hasLeft = status === CLIENT_GONE_STATUS;
  // It may leave while its document waits to be planned.
  if (outcome === 'under_way' || (outcome === 'refused' && hasLeft)) return hasLeft ? 'cancelled' : 'failed';
  return outcome;
}
