import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Logger, type INestApplication } from '@nestjs/common';
import { areThreadsHung } from '../workers/pool/pool-worker.js';
import { ModelLoader } from './model-host/model-loader.js';
import { ENDING_SIGNALS, HANGUP_ENDS, onEndingSignal } from './signals.js';
import { flushStandardStreams } from './standard-streams.js';

/** Under npm, one Ctrl+C arrives twice, from the terminal and from npm. Signals this close together count as one. */
const ONE_SIGNAL_MS = 300;
/** Time for stopped workers to exit and for pending file operations to finish. */
const LAST_GRACE_MS = 1_000;
const LOOK_EVERY_MS = 10;
/** Node's names of operations that block a thread of libuv's pool until the system answers. */
const FILE_OPERATIONS = /^FSReq/;
const LOOKUPS = /^Get(Addr|Name)InfoReq/;
/**
 * Wait for name lookups if the service could not start. Without a name server, the resolver usually gives up after 10
 * s.
 */
const MAX_LOOKUP_MS = 15_000;

/**
 * Ends the process on SIGTERM or SIGINT, and on SIGHUP if the service has a terminal. Accepted runs are answered first,
 * within shutdownMs, and the exit status is 0. A second signal ends the process at once, with the status that a shell
 * expects for that signal.
 */
export function endOnSignals(app: INestApplication, shutdownMs: number): void {
  const log = new Logger('Shutdown');
  let begunMs: number | undefined;
  onEndingSignal((signal) => {
    if (signal === 'SIGHUP' && !HANGUP_ENDS) {
      log.log('SIGHUP: ignored, because the service has no terminal; SIGTERM ends it.');
      return;
    }
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

/** Ends the process after an uncaught error. Node itself would write the error synchronously and might block. */
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
    // A worker inside a system call exits only after the call returns, and the process waits for its threads.
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
 * Ends the process after pending output was written or the wait for it was over. process.exit waits for every thread.
 * If a thread hangs in a file system or driver, the process must be killed. A name lookup, for a retried connection
 * to Redis, may take seconds without a name server, but it ends.
 * @param threads resolves after the other threads have ended
 * @param lookupMs limit of the wait for name lookups
 */
export async function endProcess(
  status: number,
  { threads = Promise.resolve(), lookupMs = MAX_LOOKUP_MS } = {},
): Promise<void> {
  let areEnded = false;
  void threads.then(() => (areEnded = true));
  await flushStandardStreams();
  const sinceMs = performance.now();
  for (let isOver = false; !isOver;) {
    // Node lists released resources until their callbacks have run.
    await setImmediate();
    const resources = process.getActiveResourcesInfo();
    const areFilesAwaited = resources.some((name) => FILE_OPERATIONS.test(name));
    const areNamesAwaited = resources.some((name) => LOOKUPS.test(name));
    if (areEnded && !areThreadsHung() && !areFilesAwaited && !areNamesAwaited) process.exit(status);
    const isHung = !areEnded || areThreadsHung() || areFilesAwaited;
    isOver = performance.now() - sinceMs > Math.max(LAST_GRACE_MS, isHung ? 0 : lookupMs);
    await sleep(LOOK_EVERY_MS);
  }
  process.kill(process.pid, 'SIGKILL');
  // Process 1 of a container ignores its own SIGKILL, but not this.
  process.abort();
}
