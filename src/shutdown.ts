import { Logger, type INestApplication } from '@nestjs/common';

/** A Ctrl+C under npm arrives twice, from the terminal and from npm. Signals this close together are one. */
const ONE_SIGNAL_MS = 300;
const SIGNALS = { SIGTERM: 15, SIGINT: 2 } as const;
type EndingSignal = keyof typeof SIGNALS;

/**
 * Ends the process on SIGTERM or SIGINT: what was accepted is answered first, as far as shutdownMs allows, and the
 * status is 0. A second signal ends it at once, with the status a shell expects of that signal.
 */
export function endOnSignals(app: INestApplication, shutdownMs: number): void {
  const log = new Logger('Shutdown');
  let begunMs: number | undefined;
  const onSignal = (signal: EndingSignal): void => {
    const nowMs = performance.now();
    if (begunMs === undefined) {
      begunMs = nowMs;
      log.log(`${signal}: finishing what was accepted, for at most ${shutdownMs} ms.`);
      void end(app, shutdownMs, log);
    } else if (nowMs - begunMs > ONE_SIGNAL_MS) {
      log.warn(`${signal} again: ending at once.`);
      process.exit(128 + SIGNALS[signal]);
    }
  };
  for (const signal of Object.keys(SIGNALS) as EndingSignal[]) process.on(signal, onSignal);
}

async function end(app: INestApplication, shutdownMs: number, log: Logger): Promise<never> {
  setTimeout(() => {
    log.warn(`Not everything was finished within ${shutdownMs} ms; ending.`);
    process.exit(0);
  }, shutdownMs);
  try {
    await app.close();
  } catch (error) {
    log.error(`Ending failed: ${(error as Error).stack}`);
    process.exit(1);
  }
  log.log('Ended.');
  process.exit(0);
}
