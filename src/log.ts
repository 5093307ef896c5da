import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

/** One line of JSON for each event, on standard output; that form escapes whatever clients send. */
export function createLog(level: string): Logger {
  return pino({ level });
}

/** Nest's own log, in the same lines. The last of what Nest hands over is the name of who speaks. */
export function nestLog(log: Logger): LoggerService {
  const write =
    (level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace') =>
    (message: unknown, ...rest: unknown[]) =>
      log[level]({ from: rest.at(-1) }, String(message));
  return {
    fatal: write('fatal'),
    error: write('error'),
    warn: write('warn'),
    // Nest tells of every module and route at this level; the service's own lines are few.
    log: write('info'),
    debug: write('debug'),
    verbose: write('trace'),
  };
}
