import type { FastifyRequest } from 'fastify';
import { CLIENT_GONE_STATUS } from '../../http/request-watch.js';
import type { Format } from '../../../experiments/formats/formats.js';
import type { Work } from '../../../experiments/plan/prices.js';

/** The end of an experiment. `refused`: nothing was simulated. `job`: it became a job. */
export type Outcome = 'done' | 'dry_run' | 'job' | 'refused' | 'failed' | 'cancelled' | 'drained';

/** Data about an experiment request and its answer, for the log and the metrics. */
export interface ExperimentReport {
  outcome: Outcome | 'under_way';
  format?: Format;
  id?: string;
  /** Number of answered conditions. */
  conditions: number;
  /** Number of simulated trials. */
  trials: number;
  brainSeconds: number;
  /** Cost so far, from which the price is computed. */
  work: Readonly<Work>;
}

/** Reports of requests that reached the route. */
export const experimentReports = new WeakMap<FastifyRequest, ExperimentReport>();

/** Creates the report of a request; the code that serves the request fills it in. */
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

/** @param status final status of the request */
export function outcomeOf({ outcome }: ExperimentReport, status: number): Outcome {
  const hasLeft = status === CLIENT_GONE_STATUS;
  // The client may disconnect while its document waits to be planned.
  if (outcome === 'under_way' || (outcome === 'refused' && hasLeft)) return hasLeft ? 'cancelled' : 'failed';
  return outcome;
}
