import { LRUCache } from 'lru-cache';
import { CodedError, failureOf } from '../../engine/errors.js';
import type { AnswerHead, AnswerPiece } from '../../experiments/formats/answer.js';
import { addWork, expectedWork, foundWork, type Work } from '../../experiments/plan/prices.js';
import {
  arraysOfResult,
  trialTask,
  type ConditionTask,
  type TrialResult,
  type TrialTask,
} from '../../experiments/plan/trial.js';
import {
  KNOWN_CONDITIONS,
  type AcceptedJob,
  type ConditionPiece,
  type StoredResults,
  type ResultsRequest,
  type TrialBundle,
} from './messages.js';
import {
  Transferred,
  type Given,
  type MethodOf,
  type Result,
  type RemoteCalls,
  type WorkId,
} from '../pool/remote-calls.js';
import type { WorkHandler } from './work-handler.js';

/** Number of pieces that are computed before somebody asks for them. */
const PIECES_AHEAD = 1;

/** One shared error: capturing a stack for each request takes longer than planning a small document. */
const REQUEST_OVER = new CodedError('RUN_CANCELLED', 'The request is over.');

/** Computes the trials of a work. */
export interface TrialRunner {
  /** Number of trials that may be pending at once. */
  readonly inFlight: number;
  runTrial(task: TrialTask, signal: AbortSignal): Promise<TrialResult>;
}

interface KnownCondition {
  readonly task: ConditionTask;
  readonly expected: Work;
}

/** Reads stored results of a job's conditions. */
type ReadResults = (indices: readonly number[]) => Promise<StoredResults>;

/**
 * The service's handle of one unit of work in the experiment thread: a request or a chunk of a job. All methods throw
 * a CodedError: the thread's refusal, the reason of a stop, or WORKER_LOST if the thread ended.
 */
export class ThreadWork {
  #runner: TrialRunner | undefined;
  #readResults: ReadResults | undefined;
  /** Conditions by number, with the estimated cost of one trial each. */
  readonly #conditions = new LRUCache<number, KnownCondition>({ max: KNOWN_CONDITIONS });
  #withdrawal = new AbortController();
  /** The reason why the work is over; undefined before. */
  #over: Error | undefined;
  #isEnded = false;
  #hasLastPiece = false;
  #trials = 0;
  #trialsDone = 0;
  readonly #work: Work = {};
  #written: Work = {};

  /**
   * @param leave called when the work stops waiting, because it was admitted or is over
   * @param onEnd called once at the end
   */
  constructor(
    private readonly id: WorkId,
    private readonly link: RemoteCalls<WorkHandler>,
    private readonly leave: () => void,
    private readonly onEnd: () => void,
  ) {}

  /**
   * Progress: the number of trials, the number of finished ones, and the cost so far of trials and of writing. The
   * number of trials falls if lesions turn out to change nothing, or if fewer groups responded.
   */
  get progress(): { readonly trials: number; readonly trialsDone: number; readonly work: Work } {
    const work = { ...this.#work };
    addWork(work, this.#written);
    return { trials: this.#trials, trialsDone: this.#trialsDone, work };
  }

  /** Calls a method in the thread. It rejects at once if the work is stopped, even if the thread is busy. */
  async call<Name extends MethodOf<WorkHandler>>(
    name: Name,
    ...given: Given<WorkHandler, Name>
  ): Promise<Result<WorkHandler, Name>> {
    if (this.#over !== undefined) throw this.#over;
    return this.link.call(this.id, name, ...given);
  }

  /** @param read returns stored results when the answer needs them */
  planResults(job: AcceptedJob, wanted: ResultsRequest, read: ReadResults): Promise<void> {
    this.#readResults = read;
    return this.call('planResults', job, wanted);
  }

  /** Begins the planned answer. The thread computes its pieces on demand, and one in advance. */
  async answer(runner?: TrialRunner): Promise<AnswerHead & { readonly pieces: AsyncGenerator<AnswerPiece> }> {
    this.leave();
    this.#runner = runner;
    const head = await this.call('begin', runner?.inFlight ?? 0);
    return { ...head, pieces: this.#pieces<AnswerPiece>() };
  }

  /** Yields conditions of a job, each as soon as it is computed. */
  async *chunk(
    job: AcceptedJob,
    indices: readonly number[],
    runner: TrialRunner,
    read: ReadResults,
  ): AsyncGenerator<ConditionPiece, void, undefined> {
    this.#readResults = read;
    this.#runner = runner;
    await this.call('planChunk', job, indices);
    await this.call('begin', runner.inFlight);
    yield* this.#pieces<ConditionPiece>();
  }

  setMaxInFlight(maxInFlight: number): void {
    if (!this.#isEnded) this.link.send(this.id, 'setMaxInFlight', maxInFlight);
  }

  /** Stops the work; pending calls fail with the reason. */
  stop(reason: Error): void {
    if (!this.#isEnded) this.link.send(this.id, 'stop', failureOf(reason));
    this.#reject(reason);
  }

  /** Ends the work; pending calls fail. Further calls do nothing. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.link.send(this.id, 'end');
    this.#reject(REQUEST_OVER);
    this.leave();
    this.onEnd();
  }

  /** Called by the thread. @param trialsInAll 0 until it is known */
  async runTrials(bundle: TrialBundle, trialsInAll: number): Promise<Transferred<readonly TrialResult[]>> {
    this.#trials = trialsInAll || this.#trials;
    const results = await Promise.all(
      bundle.map(({ condition, task, trial }) => {
        if (task !== undefined) {
          this.#conditions.set(condition, { task, expected: expectedWork(task) });
          addWork(this.#work, task.preparation ?? {});
        }
        const known = this.#conditions.get(condition)!;
        return this.#runTrial(trialTask(known.task, trial), known.expected);
      }),
    );
    return new Transferred(results, results.flatMap(arraysOfResult));
  }

  /** Called by the thread when it no longer needs its pending trials. */
  withdrawTrials(): void {
    this.#withdrawal.abort();
    if (this.#over === undefined) this.#withdrawal = new AbortController();
  }

  /** Called by the thread. */
  storedResults(indices: readonly number[]): Promise<StoredResults> {
    return this.#readResults!(indices);
  }

  async #runTrial(task: TrialTask, expected: Work): Promise<TrialResult> {
    addWork(this.#work, expected);
    const result = await this.#runner!.runTrial(task, this.#withdrawal.signal);
    addWork(this.#work, foundWork(result, expected));
    this.#trialsDone++;
    return result;
  }

  #reject(reason: Error): void {
    this.#over ??= reason;
    this.link.abandon(this.id, this.#over);
    this.#withdrawal.abort(this.#over);
  }

  async #next(): Promise<AnswerPiece | ConditionPiece | undefined> {
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
        // A failure is thrown when this piece is awaited, or never if nobody reads that far.
        piece.catch(() => undefined);
        ahead.push(piece);
      }
      const piece = await ahead.shift()!;
      if (piece === undefined) return;
      yield piece;
    }
  }
}
