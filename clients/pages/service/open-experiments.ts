/** Version 2 of the API as the laboratory calls it. */
import {
  NeuralExperimentClient,
  pause,
  ServiceError,
  type ExperimentDocument,
  type ExperimentJob,
  type ExperimentLine,
  type JobState,
} from '#client';
import type { TableColumns } from '../../../src/experiments/formats/tables.js';
import type {
  ConditionResult,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
} from '../../../src/experiments/run/result.js';
import { service, ServiceFailure } from './client.js';

/** A line comes at least every 5 s; without one for so long the connection is dead. */
const TIMEOUT_MS = 30_000;
/** Between two looks at a job, and so many times as long as the last look took. */
const JOB_PAUSE_MS = 1500;
const JOB_PAUSE_LOOKS = 4;

const experiments = new NeuralExperimentClient('', { timeoutMs: TIMEOUT_MS });

/** A condition as JSON has it: tables of spikes are columns. */
export type ConditionLine = Omit<ConditionResult, 'reports'> & {
  readonly reports: Readonly<Record<string, readonly GroupResult[] | TableColumns>>;
};

/** Progress of a whole experiment; at first, axes that responders decide count with the most conditions possible. */
export interface Progress {
  readonly conditions: number;
  /** Share of all that is to be computed, 0 to 1. */
  readonly share: number;
  readonly trials?: { readonly done: number; readonly all: number };
  readonly secondsLeft?: number;
}

/** Lines of an experiment, in this order: one head, conditions and progress, the totals. */
export type AnswerLine =
  | { readonly kind: 'head'; readonly head: ExperimentHead }
  | { readonly kind: 'condition'; readonly condition: ConditionLine }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'totals'; readonly totals: ExperimentTotals };

/**
 * Source of the lines of an experiment. The panel that follows them does not know whether one request gives
 * them or a job that may outlive it. Conditions of a job may come in any order.
 * @param from index of the first condition that is wanted
 */
export type AnswerSource = (from: number, signal: AbortSignal) => AsyncIterable<AnswerLine>;

/** One request for each page, that stays open until it is done; leaving it ends the experiment. */
export function requestLines(document: ExperimentDocument): AnswerSource {
  return async function* (from, signal) {
    for await (const line of experiments.runExperiment(document, { from, signal }))
      yield answerLine(line, from);
  };
}

/** The conditions of a job as they are done, always from the first. Leaving it leaves the job as it is. */
export function jobLines(id: string): AnswerSource {
  return async function* (_, signal) {
    const job = service.job(id);
    const given = new Set<number>();
    let lastDone = -1;
    for await (const { status, progress, conditions, conditions_done: done, seconds_left: left } of statesOf(
      job,
      signal,
    )) {
      const secondsLeft = left === undefined ? {} : { secondsLeft: left };
      yield { kind: 'progress', progress: { conditions, share: progress / 100, ...secondsLeft } };
      const isDone = status === 'successful';
      if (!isDone && (done === lastDone || status === 'failed' || status === 'dismissed')) continue;
      lastDone = done;
      const startedMs = performance.now();
      for await (const line of job.results({ signal })) {
        if ('index' in line) {
          if (given.has(line.index)) continue;
          given.add(line.index);
        }
        // Totals of an unfinished job are not those of the experiment.
        if (!('cost' in line) || isDone) yield answerLine(line, 0);
      }
      if (!isDone) await pause(JOB_PAUSE_LOOKS * (performance.now() - startedMs), signal);
    }
  };
}

/** @throws ServiceFailure of the kind `ended` where the job has no results, or is not known (any more) */
async function* statesOf(job: ExperimentJob, signal: AbortSignal): AsyncGenerator<JobState, void, void> {
  try {
    yield* job.states({ signal, everyMs: JOB_PAUSE_MS });
  } catch (error) {
    const isEnd = error instanceof ServiceError && (error.status === undefined || error.code === 'NOT_FOUND');
    throw isEnd ? new ServiceFailure('ended', error.message) : error;
  }
}

/** @param from condition at which the lines begin */
function answerLine(line: ExperimentLine, from: number): AnswerLine {
  if ('progress' in line) {
    const { conditions, trials_done: done, trials: all } = line.progress;
    const share = all === 0 ? 0 : done / all;
    const whole = from + conditions;
    return {
      kind: 'progress',
      progress: { conditions: whole, share: (from + share * conditions) / whole, trials: { done, all } },
    };
  }
  if ('index' in line) return { kind: 'condition', condition: line as ConditionLine };
  if ('id' in line) return { kind: 'head', head: line as ExperimentHead };
  return { kind: 'totals', totals: line };
}
