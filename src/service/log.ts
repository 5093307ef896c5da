import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { NonBlockingStream } from './standard-streams.js';
import { clientOf } from './limits/client-address.js';
import type { FinishedRequest } from './http/request-watch.js';
import { apiPath } from './http/api-versions.js';
import { SESSION_NAME_BYTES } from './api/v2/sessions.service.js';
import { JOB_ID_BYTES } from './jobs/jobs-service.js';
import { experimentReports, outcomeOf, type ExperimentReport } from './api/v2/experiment-report.js';
import { runReports, type RunReport } from './api/v1/run.service.js';

export type LogDestination = NonBlockingStream | (DestinationStream & { readonly isTTY?: false });

/**
 * Creates the log: one line of JSON for each event, so text from clients is escaped. On a terminal the lines are
 * formatted for reading.
 * @param destination must not block if its reader is slow
 */
export function createLog(level: string, destination: LogDestination): Logger {
  return pino({ level }, destination.isTTY === true ? pretty({ destination }) : destination);
}

/** Components of Nest that log every module and route. */
const TALKATIVE = ['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication'];

/** Adapts the log to Nest's Logger. Nest passes the logger's context as the last argument. */
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

/** Supervisors and load balancers request these every few seconds, so they are logged only at level debug. */
const PROBED_PATHS = ['/livez', '/readyz'];
const MAX_PATH_LENGTH = 200;
/** Names of sessions and jobs below these paths are secret: a reader of the log could continue or end them. */
const NAMED_PATHS = [apiPath('2', 'sessions'), apiPath('2', 'experiments')];
/** The same paths without a route, for example below a prefix that a proxy did not strip. */
const BELOW_NAMED_PATH = /(\/(?:sessions|experiments))(?:\/|%2f).+/i;
/** A text between other characters that is as long as a name in base64url. */
const NAME = new RegExp(
  [SESSION_NAME_BYTES, JOB_ID_BYTES]
    .map((bytes) => String.raw`(?<=^|[^\w-]|%[\da-f]{2})[\w-]{${Math.ceil((bytes * 8) / 6)}}(?![\w-])`)
    .join('|'),
  'gi',
);

/** Logs one line for a request after it has ended. */
export function logRequest(log: Logger, { request, status, elapsedMs }: FinishedRequest): void {
  const path = pathOf(request);
  const isProbe = PROBED_PATHS.includes(path);
  const level = isProbe ? 'debug' : status >= 500 ? 'warn' : 'info';
  if (!log.isLevelEnabled(level)) return;
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
      ...(report && { run: runFields(report) }),
      ...(experiment && { experiment: experimentFields(experiment, status) }),
    },
    `${request.method} ${path} ${status}`,
  );
}

/**
 * Returns the path to log. Below the paths of sessions and jobs it is the route pattern. If no route matches, stars
 * replace all that may be a name.
 */
function pathOf({ url, routeOptions: { url: route } }: FinishedRequest['request']): string {
  const path = url.split('?', 1)[0]!;
  if (route !== undefined && NAMED_PATHS.some((each) => route.startsWith(`${each}/`))) return route;
  const logged = route === undefined ? path.replace(BELOW_NAMED_PATH, '$1/*').replace(NAME, '*') : path;
  return logged.slice(0, MAX_PATH_LENGTH);
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
