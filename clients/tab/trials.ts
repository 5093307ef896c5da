/** Trials of one experiment in several threads: this one and its helpers. Results do not depend on their number. */
import { CodedError, failureOf } from '../../src/engine/errors.js';
import { arraysOfResult } from '../../src/experiments/plan/trial.js';
import type { Computer } from './computer.js';
import type { Trials } from './local-service.js';
import type { AnsweredTrial, AskedTrial } from './messages.js';

/** Runs a trial in one thread. */
type RunTrial = Trials['run'];

/** @param helpers ports to threads that serve trials, see serveTrials */
export function trialsIn(computer: Computer, helpers: readonly MessagePort[]): Trials {
  const own: RunTrial = (task, signal) => computer.runTrial(task, signal);
  const threads = [own, ...helpers.map(trialsOf)].map((run) => ({ run, pending: 0 }));
  return {
    threads: threads.length,
    run: async (task, signal) => {
      const thread = threads.reduce((least, each) => (each.pending < least.pending ? each : least));
      thread.pending++;
      try {
        return await thread.run(task, signal);
      } finally {
        thread.pending--;
      }
    },
  };
}

function trialsOf(port: MessagePort): RunTrial {
  const waiting = new Map<number, (answer: AnsweredTrial) => void>();
  let asked = 0;
  port.onmessage = ({ data }: MessageEvent<AnsweredTrial>) => waiting.get(data.id)!(data);
  return (task, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const id = ++asked;
      // The helper stops between two segments and then answers with a failure.
      const stop = (): void => port.postMessage({ id } satisfies AskedTrial);
      signal.addEventListener('abort', stop, { once: true });
      waiting.set(id, ({ result, failure }) => {
        waiting.delete(id);
        signal.removeEventListener('abort', stop);
        if (result !== undefined) resolve(result);
        else reject(signal.aborted ? signal.reason : CodedError.fromFailure(failure!));
      });
      port.postMessage({ id, task } satisfies AskedTrial);
    });
}

/** Serves the trials of another thread. Messages are read between two segments, so a long trial can be stopped. */
export function serveTrials(computer: Computer, port: MessagePort): void {
  const underWay = new Map<number, AbortController>();
  port.onmessage = async ({ data: { id, task } }: MessageEvent<AskedTrial>) => {
    if (task === undefined) {
      underWay.get(id)?.abort();
      return;
    }
    const stop = new AbortController();
    underWay.set(id, stop);
    try {
      const result = await computer.runTrial(task, stop.signal);
      const memory = arraysOfResult(result).map(({ buffer }) => buffer);
      port.postMessage({ id, result } satisfies AnsweredTrial, [...new Set(memory)]);
    } catch (error) {
      port.postMessage({ id, failure: failureOf(error) } satisfies AnsweredTrial);
    } finally {
      underWay.delete(id);
    }
  };
}
