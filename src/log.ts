import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { NonBlockingStream } from './standard-streams.js';

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

/** What Nest's Logger writes, in the same lines. The last of what it hands over is the name of who speaks. */
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
