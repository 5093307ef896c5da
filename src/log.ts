import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { build as pretty } from 'pino-pretty';

/** What waits where standard output takes no more; beyond, lines are lost. */
const LONGEST_BACKLOG_BYTES = 2 ** 20;

/**
 * One line of JSON for each event, on standard output; that form escapes whatever clients send. On a terminal the
 * same for people.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino({ level }, destination ?? (process.stdout.isTTY ? pretty({ sync: true }) : standardOutput()));
}

function standardOutput(): DestinationStream {
  const stream = pino.destination({ dest: 1, sync: true, maxLength: LONGEST_BACKLOG_BYTES });
  // A disk that is full must not end the service. What could not be written is tried again with the next line.
  stream.on('error', () => undefined);
  return stream;
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
