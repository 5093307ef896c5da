import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { NonBlockingStream } from './standard-streams.js';
import { clientOf } from './limits/client-address.js';
import type { FinishedRequest } from './http/request-watch.js';
import { apiPath } from './http/api-versions.js';
import { traceSpanOf, type TraceSpan } from './http/trace-context.js';
import { experimentReports, outcomeOf, type ExperimentReport } from './api/v2/experiment-report.js';
import { runReports, type RunReport } from './api/v1/run.service.js';

export type LogDestination = NonBlockingStream | (DestinationStream & { readonly isTTY?: false });

/**
 * One line of JSON for each event, so text from clients is escaped; on a terminal, a readable form.
 * @param destination must not block if its reader is slow
 */
export function createLog(level: string, destination: LogDestination): Logger {
  return pino({ level }, destination.isTTY === true ? pretty({ destination }) : destination);
}

/** Parts of Nest that tell of every module and route they put together. */
const TALKATIVE = ['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication'];

/** Log of Nest's Logger, in the same lines. The last of what it hands over is the name of who speaks. */
export function nestLog(log: Logger): LoggerService {
  const write =
    (level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace') =>
    (message: unknown, ...rest: unknown[]) => {
      const from = rest.at(-1);
      const isTalk = level === 'info' && TALKATIVE.includes(String(from));
      log[isTalk ? 'debug' : level]({ from }, String(message));
    };
  return {
    fatal: write('fatal'),
    error: write('error'),
    warn: write('warn'),
    log: write('info'),
    debug: write('debug'),
    verbose: write('trace'),
  };
}

/** Requested every few seconds by supervisors and load balancers, so logged at level debug only. */
const PROBED_PATHS = ['/livez', '/readyz'];
const LONGEST_PATH = 200;
const SESSIONS_PATH = apiPath('2', 'sessions');

/** Writes one line for a request once it has ended. */
export function logRequest(log: Logger, { request, status, elapsedMs }: FinishedRequest): void {
  const path = pathOf(request);
  const isProbe = PROBED_PATHS.includes(path);
  const level = isProbe ? 'debug' : status >= 500 ? 'warn' : 'info';
  if (!log.isLevelEnabled(level)) return;
  const span = traceSpanOf(request);
  const report = runReports.get(request);
  const experiment = experimentReports.get(request);
  log[level](
    {
      from: 'http',
      request: request.id,
      method: request.method,
      path,
      status,
      ms: rounded(elapsedMs),
      client: clientOf(request),
      ...(span && traceFields(span)),
      ...(report && { run: runFields(report) }),
      ...(experiment && { experiment: experimentFields(experiment, status) }),
    },
    `${request.method} ${path} ${status}`,
  );
}

/** The route alone where it is that of a session: whoever knows its name can go on with it. */
function pathOf({ url, routeOptions }: FinishedRequest['request']): string {
  const { url: route = '' } = routeOptions;
  return route.startsWith(SESSIONS_PATH) ? route : url.split('?', 1)[0]!.slice(0, LONGEST_PATH);
}

/** Under the names that OpenTelemetry gives them in logs. */
function traceFields({ traceId, spanId, parentSpanId, flags }: TraceSpan): Record<string, string> {
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
