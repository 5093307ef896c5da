import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Logger, type INestApplication } from '@nestjs/common';
import { ModelLoader } from './serving/model-loader.js';
import { ENDING_SIGNALS, onEndingSignal } from './signals.js';
import { flushStandardStreams } from './standard-streams.js';

/** A Ctrl+C under npm arrives twice, from the terminal and from npm. Signals this close together are one. */
const ONE_SIGNAL_MS = 300;
/** Time for stopped workers to exit and for a pending system operation to finish. */
const LAST_GRACE_MS = 1_000;
const LOOK_EVERY_MS = 10;
/** Node's names of the operations that block a thread of libuv's pool until the system answers. */
const BLOCKING_OPERATIONS = /^(FS|GetAddrInfo|GetNameInfo)Req/;

/**
 * Ends the process on SIGTERM, SIGINT or SIGHUP: accepted runs are answered first, within shutdownMs, and the exit
 * status is 0. A second signal ends the process immediately, with the status that a shell expects for that signal.
 */
export function endOnSignals(app: INestApplication, shutdownMs: number): void {
  const log = new Logger('Shutdown');
  let begunMs: number | undefined;
  onEndingSignal((signal) => {
    const nowMs = performance.now();
    if (begunMs === undefined) {
      begunMs = nowMs;
      log.log(`${signal}: finishing accepted runs, for at most ${shutdownMs} ms.`);
      void end(app, shutdownMs, log);
    } else if (nowMs - begunMs > ONE_SIGNAL_MS) {
      log.warn(`${signal} again: exiting immediately.`);
      void endProcess(128 + ENDING_SIGNALS[signal]);
    }
  });
}

/** An uncaught error ends the process. Node would write it to standard error and block until it is read. */
export function endOnFailure(): void {
  process.on('uncaughtException', (error) => {
    console.error(error);
    void endProcess(1);
  });
}

async function end(app: INestApplication, shutdownMs: number, log: Logger): Promise<void> {
  setTimeout(() => {
    log.warn(`Not everything was finished within ${shutdownMs} ms; exiting.`);
    // A worker in a system call exits only when the call returns, and the process waits for its threads.
    void endProcess(0, app.get(ModelLoader).stop());
  }, shutdownMs);
  try {
    await app.close();
  } catch (error) {
    log.error(`Shutdown failed: ${(error as Error).stack}`);
    await endProcess(1);
  }
  log.log('Ended.');
  await endProcess(0);
}

/**
 * Ends the process once pending output is flushed or cannot be. process.exit waits for every thread. If one hangs,
 * in a file system or driver that does not respond, the process has to be killed.
 * @param threads resolves when the other threads have ended
 */
export async function endProcess(status: number, threads: Promise<void> = Promise.resolve()): Promise<void> {
  let areEnded = false;
  void threads.then(() => (areEnded = true));
  await flushStandardStreams();
  for (const sinceMs = performance.now(); performance.now() - sinceMs < LAST_GRACE_MS;) {
    // What has just been done is listed until its callbacks have run.
    await setImmediate();
    if (areEnded && !isSystemAwaited()) process.exit(status);
    await sleep(LOOK_EVERY_MS);
  }
  process.kill(process.pid, 'SIGKILL');
  // Process 1 of a container is spared by its own SIGKILL, but not by this.
  process.abort();
}

function isSystemAwaited(): boolean {
  return process.getActiveResourcesInfo().some((name) => BLOCKING_OPERATIONS.test(name));
}
