import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Logger, type INestApplication } from '@nestjs/common';
import { ModelLoader } from './model-host/model-loader.js';
import { ENDING_SIGNALS, onEndingSignal } from './signals.js';
import { flushStandardStreams } from './standard-streams.js';

/** A Ctrl+C under npm arrives twice, from the terminal and from npm. Signals this close together are one. */
const ONE_SIGNAL_MS = 300;
/** Time for stopped workers to exit and for a pending system operation to finish. */
const LAST_GRACE_MS = 1_000;
const LOOK_EVERY_MS = 10;
/** Node's names of the operations that block a thread of libuv's pool until the system answers. */
const FILE_OPERATIONS = /^FSReq/;
const LOOKUPS = /^Get(Addr|Name)InfoReq/;
/**
 * Time for the end of a service that could not start. The resolver gives up by itself: mostly after 10 s, where no name server answers.
 */
const LONGEST_LOOKUP_MS = 15_000;

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
      void endProcess(128 + ENDING_SIGNALS[signal], { lookupMs: 0 });
    }
  });
}

/** An uncaught error ends the process. Node would write it to standard error and block until it is read. */
export function endOnFailure(): void {
  process.on('uncaughtException', (error) => {
    console.error(error);
    void endProcess(1, { lookupMs: 0 });
  });
}

async function end(app: INestApplication, shutdownMs: number, log: Logger): Promise<void> {
  const begunMs = performance.now();
  let status = 0;
  setTimeout(() => {
    log.warn(`Not everything was finished within ${shutdownMs} ms; exiting.`);
    // A worker in a system call exits only when the call returns, and the process waits for its threads.
    void endProcess(status, { threads: app.get(ModelLoader).stop(), lookupMs: 0 });
  }, shutdownMs);
  try {
    await app.close();
    log.log('Ended.');
  } catch (error) {
    status = 1;
    log.error(`Shutdown failed: ${(error as Error).stack}`);
  }
  await endProcess(status, { lookupMs: shutdownMs - (performance.now() - begunMs) });
}

/**
 * Ends the process once pending output is flushed or cannot be. process.exit waits for every thread. If one hangs,
 * in a file system or driver that does not respond, the process has to be killed. Looking up a name, for a connection
 * to Redis that was just tried again, takes seconds where no name server answers, but ends.
 * @param threads resolves when the other threads have ended
 * @param lookupMs how long names may still be looked up
 */
export async function endProcess(
  status: number,
  { threads = Promise.resolve(), lookupMs = LONGEST_LOOKUP_MS } = {},
): Promise<void> {
  let areEnded = false;
  void threads.then(() => (areEnded = true));
  await flushStandardStreams();
  const sinceMs = performance.now();
  for (let isOver = false; !isOver;) {
    // Resources that were just released are listed until their callbacks have run.
    await setImmediate();
    const resources = process.getActiveResourcesInfo();
    const areFilesAwaited = resources.some((name) => FILE_OPERATIONS.test(name));
    const areNamesAwaited = resources.some((name) => LOOKUPS.test(name));
    if (areEnded && !areFilesAwaited && !areNamesAwaited) process.exit(status);
    const isHung = !areEnded || areFilesAwaited;
    isOver = performance.now() - sinceMs > Math.max(LAST_GRACE_MS, isHung ? 0 : lookupMs);
    await sleep(LOOK_EVERY_MS);
  }
  process.kill(process.pid, 'SIGKILL');
  // Process 1 of a container is spared by its own SIGKILL, but not by this.
  process.abort();
}
