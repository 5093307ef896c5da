import type { Logger } from 'pino';
import { clientOf } from './http/client-address.js';
import type { FinishedRequest } from './http/request-watch.js';
import { traceSpanOf, type TraceSpan } from './http/trace-context.js';
import { experimentReportOf, outcomeOf, type ExperimentReport } from './experiments/experiment-report.js';
import { reportOf, type RunReport } from './run/run-report.js';

/** Requested every few seconds by supervisors and load balancers, so logged at level debug only. */
const PROBED_PATHS = ['/livez', '/readyz'];
const LONGEST_PATH = 200;

/** Writes one line for a request once it has ended. */
export function logRequest(log: Logger, { request, status, elapsedMs }: FinishedRequest): void {
  const path = request.url.split('?', 1)[0]!.slice(0, LONGEST_PATH);
  const isProbe = PROBED_PATHS.includes(path);
  const level = isProbe ? 'debug' : status >= 500 ? 'warn' : 'info';
  const report = reportOf(request);
  const experiment = experimentReportOf(request);
  log[level](
    {
      from: 'http',
      request: request.id,
      method: request.method,
      path,
      status,
      ms: rounded(elapsedMs),
      client: clientOf(request),
      ...traceFields(traceSpanOf(request)),
      ...(report === undefined ? {} : { run: runFields(report) }),
      ...(experiment === undefined ? {} : { experiment: experimentFields(experiment, status) }),
    },
    `${request.method} ${path} ${status}`,
  );
}

/** Under the names that OpenTelemetry gives them in logs. */
function traceFields(span: TraceSpan | undefined): Record<string, string> {
  if (span === undefined) return {};
  const { traceId, spanId, parentSpanId, flags } = span;
  return { trace_id: traceId, span_id: spanId, parent_span_id: parentSpanId, trace_flags: flags };
}

function runFields({ experiment, view, answer }: RunReport): Record<string, unknown> {
  const asked = { ...experiment, view };
  if (answer === undefined) return asked;
  const { cacheStatus, result, timings } = answer;
  const answered = { ...asked, cache: cacheStatus, backend: result.backend };
  if (timings === undefined) return answered;
  return {
    ...answered,
    spikes: timings.spikes,
    queue_ms: rounded(timings.queueMs),
    simulate_ms: rounded(timings.timings.simulateMs),
    serialise_ms: rounded(timings.timings.serialiseMs),
  };
}

function experimentFields(report: ExperimentReport, status: number): Record<string, unknown> {
  const { id, format, conditions, trials, brainSeconds } = report;
  return { id, format, conditions, trials, brain_seconds: brainSeconds, outcome: outcomeOf(report, status) };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
