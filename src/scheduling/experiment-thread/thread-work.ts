import { LRUCache } from 'lru-cache';
import { CodedError, failureOf } from '../../errors.js';
import type { AnswerHead, AnswerPiece } from '../../experiments/formats/answer.js';
import { addWork, expectedWork, foundWork, type Work } from '../../experiments/plan/prices.js';
import {
  arraysOfReading,
  trialTask,
  type ConditionTask,
  type TrialReading,
  type TrialTask,
} from '../../experiments/plan/trial.js';
import {
  KNOWN_CONDITIONS,
  type AcceptedJob,
  type OutcomePiece,
  type Outcomes,
  type ResultsOrder,
  type TrialBundle,
} from './messages.js';
import {
  Transferred,
  type Given,
  type MethodOf,
  type Result,
  type RemoteCalls,
  type WorkId,
} from '../remote-calls.js';
import type { WorkHandler } from './work-handler.js';

/** Pieces that are made while nobody has asked for them yet. */
const PIECES_AHEAD = 1;

/** One error for all: taking its stack for each request takes longer than planning a small document. */
const REQUEST_OVER = new CodedError('RUN_CANCELLED', 'The request is over.');

/** Computes the trials of a work. */
export interface TrialRunner {
  /** Trials that may be computed at once. */
  readonly inFlight: number;
  runTrial(task: TrialTask, signal: AbortSignal): Promise<TrialReading>;
}

interface KnownCondition {
  readonly task: ConditionTask;
  readonly expected: Work;
}

/** Gives outcomes of a job's conditions. */
type ReadOutcomes = (indices: readonly number[]) => Promise<Outcomes>;

/**
 * One request, or one chunk of a job, in the thread of experiments. All methods throw a CodedError: what the thread
 * refuses, what the work was stopped with, WORKER_LOST where the thread has ended.
 */
export class ThreadWork {
  #runner: TrialRunner | undefined;
  #readOutcomes: ReadOutcomes | undefined;
  /** Conditions by their numbers, with the work that is expected of each of their trials. */
  readonly #conditions = new LRUCache<number, KnownCondition>({ max: KNOWN_CONDITIONS });
  #withdrawal = new AbortController();
  /** Why nothing more can be asked of it. */
  #over: Error | undefined;
  #isEnded = false;
  #hasLastPiece = false;
  #trials = 0;
  #trialsDone = 0;
  readonly #work: Work = {};
  #written: Work = {};

  /**
   * @param leave is called when it does not wait for its turn among others any more: it has a place of its own
   * @param onEnd is called once
   */
  constructor(
    private readonly id: WorkId,
    private readonly link: RemoteCalls<WorkHandler>,
    private readonly leave: () => void,
    private readonly onEnd: () => void,
  ) {}

  /**
   * How far it is: trials in all, fewer once it is known that lesions change nothing or that fewer groups responded; trials
   * that are done; work of those that were begun, as far as it is known, and of writing.
   */
  get progress(): { readonly trials: number; readonly trialsDone: number; readonly work: Work } {
    const work = { ...this.#work };
    addWork(work, this.#written);
    return { trials: this.#trials, trialsDone: this.#trialsDone, work };
  }

  /** Calls a method in the thread. Rejects at once when the work is stopped, however busy the thread is. */
  async call<Name extends MethodOf<WorkHandler>>(
    name: Name,
    ...given: Given<WorkHandler, Name>
  ): Promise<Result<WorkHandler, Name>> {
    if (this.#over !== undefined) throw this.#over;
    return this.link.call(this.id, name, ...given);
  }

  /** @param read gives the outcomes when the answer is made */
  planResults(job: AcceptedJob, order: ResultsOrder, read: ReadOutcomes): Promise<void> {
    this.#readOutcomes = read;
    return this.call('planResults', job, order);
  }

  /** The answer that was planned. Its pieces are made as somebody asks for them, and one ahead. */
  async answer(runner?: TrialRunner): Promise<AnswerHead & { readonly pieces: AsyncGenerator<AnswerPiece> }> {
    this.leave();
    this.#runner = runner;
    const head = await this.call('begin', runner?.inFlight ?? 0);
    return { ...head, pieces: this.#pieces<AnswerPiece>() };
  }

  /** Conditions of a job, each when it is computed. */
  async *chunk(
    job: AcceptedJob,
    indices: readonly number[],
    runner: TrialRunner,
    read: ReadOutcomes,
  ): AsyncGenerator<OutcomePiece, void, undefined> {
    this.#readOutcomes = read;
    this.#runner = runner;
    await this.call('planChunk', job, indices);
    await this.call('begin', runner.inFlight);
    yield* this.#pieces<OutcomePiece>();
  }

  setInFlight(inFlight: number): void {
    if (!this.#isEnded) this.link.send(this.id, 'setInFlight', inFlight);
  }

  /** Ends what is under way, which then fails with the reason. */
  stop(reason: Error): void {
    if (!this.#isEnded) this.link.send(this.id, 'stop', failureOf(reason));
    this.#reject(reason);
  }

  /** Ends the work; calls that still wait fail. May be called more than once. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.link.send(this.id, 'end');
    this.#reject(REQUEST_OVER);
    this.leave();
    this.onEnd();
  }

  /** Called by the thread. */
  async runTrials(bundle: TrialBundle, trialsInAll: number): Promise<Transferred<readonly TrialReading[]>> {
    this.#trials = trialsInAll || this.#trials;
    const readings = await Promise.all(
      bundle.map(({ condition, task, trial }) => {
        if (task !== undefined) {
          this.#conditions.set(condition, { task, expected: expectedWork(task) });
          addWork(this.#work, task.preparation ?? {});
        }
        const known = this.#conditions.get(condition)!;
        return this.#runTrial(trialTask(known.task, trial), known.expected);
      }),
    );
    return new Transferred(readings, readings.flatMap(arraysOfReading));
  }

  /** Called by the thread: trials that are under way are not needed. */
  withdrawTrials(): void {
    this.#withdrawal.abort();
    if (this.#over === undefined) this.#withdrawal = new AbortController();
  }

  /** Called by the thread. */
  outcomes(indices: readonly number[]): Promise<Outcomes> {
    return this.#readOutcomes!(indices);
  }

  async #runTrial(task: TrialTask, expected: Work): Promise<TrialReading> {
    addWork(this.#work, expected);
    const reading = await this.#runner!.runTrial(task, this.#withdrawal.signal);
    addWork(this.#work, foundWork(reading, expected));
    this.#trialsDone++;
    return reading;
  }

  #reject(reason: Error): void {
    this.#over ??= reason;
    this.link.abandon(this.id, this.#over);
    this.#withdrawal.abort(this.#over);
  }

  async #next(): Promise<AnswerPiece | OutcomePiece | undefined> {
    const piece = await this.call('next');
    if (piece === undefined) this.#hasLastPiece = true;
    else if ('written' in piece) this.#written = piece.written;
    return piece;
  }

  async *#pieces<Piece>(): AsyncGenerator<Piece, void, undefined> {
    const ahead: Promise<Piece | undefined>[] = [];
    for (;;) {
      while (ahead.length <= PIECES_AHEAD && !this.#hasLastPiece) {
        const piece = this.#next() as Promise<Piece | undefined>;
        // A failure is met when it is its turn, or not at all.
        piece.catch(() => undefined);
        ahead.push(piece);
      }
      const piece = await ahead.shift()!;
      if (piece === undefined) return;
      yield piece;
    }
  }
}
