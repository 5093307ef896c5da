import type { FastifyRequest } from 'fastify';
import type { Experiment, View } from '../answers/v1/experiment.js';
import type { RunAnswer } from './run.service.js';

/** What a run request asked for and what it got, for the log and the metrics. */
export interface RunReport {
  readonly experiment: Experiment;
  readonly view: View;
  /** Undefined until there is one, and for good where the run failed. */
  answer?: RunAnswer;
}

const reports = new WeakMap<FastifyRequest, RunReport>();

/** Creates the report of a valid request; the handler adds the result. */
export function openReport(request: FastifyRequest, experiment: Experiment, view: View): RunReport {
  const report: RunReport = { experiment, view };
  reports.set(request, report);
  return report;
}

/** Undefined where the request was no run, or none that was valid. */
export function reportOf(request: FastifyRequest): RunReport | undefined {
  return reports.get(request);
}
