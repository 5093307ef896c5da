/** Calls of version 2 of the API for the laboratory. */
import {
  pause,
  ServiceError,
  type ExperimentDocument,
  type ExperimentJob,
  type ExperimentLine,
  type JobState,
} from '#client';
import type { TableColumns } from '../../../src/experiments/formats/tables.js';
import type {
  AnsweredCondition,
  ExperimentHead,
  ExperimentTotals,
} from '../../../src/experiments/document/result.js';
import type { GroupResult } from '../../../src/experiments/kinds/result-rows.js';
import { service, ServiceFailure } from './client.js';
import { placeFromNow } from './transport.js';

/**
 * Pause between two requests for a job: JOB_PAUSE_MS, or, if longer, JOB_PAUSE_LOOKS times the duration of the last
 * request.
 */
const JOB_PAUSE_MS = 1500;
const JOB_PAUSE_LOOKS = 4;

/** A condition in the form of JSON, in which tables of spikes are columns. */
export type ConditionLine = Omit<AnsweredCondition, 'reports'> & {
  readonly reports: Readonly<Record<string, readonly GroupResult[] | TableColumns>>;
};

/** The answer to a whole experiment, in the types of figures and tables. */
export type WholeAnswer = ExperimentHead &
  ExperimentTotals & { readonly conditions: readonly ConditionLine[] };

/**
 * Progress of a whole experiment. Until responders are known, their axis counts with its largest number of conditions.
 */
export interface Progress {
  readonly conditions: number;
  /** Completed fraction of all computation, 0 to 1. */
  readonly share: number;
  readonly trials?: { readonly done: number; readonly all: number };
  readonly secondsLeft?: number;
}

/** Lines of an experiment, in this order: one head, conditions and progress, the totals with the place of computation. */
export type AnswerLine =
  | { readonly kind: 'head'; readonly head: ExperimentHead }
  | { readonly kind: 'condition'; readonly condition: ConditionLine }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'totals'; readonly totals: ExperimentTotals; readonly place: string };

/**
 * Source of the lines of an experiment. It hides from the panel whether the lines come from one request or
 * from a job. Conditions of a job may come in any order.
 * @param from index of the first condition to read
 */
export type AnswerSource = (from: number, signal: AbortSignal) => AsyncIterable<AnswerLine>;

/** Lines from one request for each page of the answer. Leaving the loop ends the experiment. */
export function requestLines(document: ExperimentDocument): AnswerSource {
  return async function* (from, signal) {
    const place = placeFromNow();
    for await (const line of service.runExperiment(document, { from, signal }))
      yield answerLine(line, from, place);
  };
}

/** Conditions of a job as they are done, always from the first. Leaving the loop does not end the job. */
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
        if (!('cost' in line) || isDone) yield answerLine(line, 0, () => 'Computed by the service.');
      }
      if (!isDone) await pause(JOB_PAUSE_LOOKS * (performance.now() - startedMs), signal);
    }
  };
}

/** @throws ServiceFailure of the kind `ended` if the job has no results, is unknown or has expired */
async function* statesOf(job: ExperimentJob, signal: AbortSignal): AsyncGenerator<JobState, void, void> {
  try {
    yield* job.states({ signal, everyMs: JOB_PAUSE_MS });
  } catch (error) {
    const isEnd = error instanceof ServiceError && (error.status === undefined || error.code === 'NOT_FOUND');
    throw isEnd ? new ServiceFailure('ended', error.message) : error;
  }
}

/** @param from first condition of the lines */
function answerLine(line: ExperimentLine, from: number, place: () => string): AnswerLine {
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
  return { kind: 'totals', totals: line, place: place() };
}
