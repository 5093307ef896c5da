import { progressLine } from '../../../experiments/formats/answer-json.js';
import type { AnswerPiece } from '../../../experiments/formats/answer.js';
import type { ModelHealth } from '../../health/model-health.js';
import { type AnswerBytes, bytesOf, withFailureLine, withProgress } from './answer-bytes.js';
import type { ExperimentReport } from './experiment-report.js';
import type { PreparedExperiment } from './experiments.service.js';
import type { PendingAnswer } from './stored-answers.js';

/** If nothing else is ready, a progress line keeps proxies and readers from giving up. */
const PROGRESS_EVERY_MS = 5_000;

/** A running experiment. Everything except a table of events is computed while its bytes are read. */
export class RunningExperiment {
  readonly #endTask: () => void;
  #isOver = false;

  /**
   * @param client client to whom the trials are charged
   * @param report updated during the run
   * @param pending receives the answer
   * @param onEnd called once at the end, when the report is complete
   */
  constructor(
    private readonly prepared: PreparedExperiment,
    private readonly client: string,
    private readonly report: ExperimentReport,
    private readonly health: ModelHealth,
    private readonly pending: PendingAnswer,
    private readonly onEnd: () => Promise<void>,
  ) {
    report.outcome = 'under_way';
    this.#endTask = health.beginTask();
    health.ending.addEventListener('abort', this.#drain);
    // The shutdown's time limit may have passed during the charge.
    if (health.ending.aborted) this.#drain();
  }

  /** Resolves with the answer after its head is known. */
  async answer(): Promise<AnswerBytes> {
    const { wanted, model, work } = this.prepared;
    const { queue } = model;
    const { pieces, ...head } = await work.answer({
      inFlight: queue.trialsInFlight,
      runTrial: (task, signal) => {
        this.#count();
        return queue.runTrial(task, { owner: this.client, signal });
      },
    });
    const computed = bytesOf(this.#reported(pieces), () => this.#count());
    const bytes = this.pending.storing(head, computed);
    if (wanted.format !== 'ndjson') return { ...head, bytes };
    const lines = withProgress(bytes, () => this.#progressLine(), PROGRESS_EVERY_MS);
    return { ...head, bytes: withFailureLine(lines) };
  }

  /** Ends the experiment. Call this after the answer was sent or the client has disconnected. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#count();
    this.health.ending.removeEventListener('abort', this.#drain);
    this.prepared.work.end();
    this.#endTask();
    await this.onEnd();
  }

  readonly #drain = (): void => {
    this.report.outcome = 'drained';
    this.prepared.work.stop(this.health.ending.reason);
  };

  async *#reported(pieces: AsyncIterable<AnswerPiece>): AsyncGenerator<AnswerPiece, void, undefined> {
    for await (const piece of pieces) {
      this.report.conditions = piece.conditions;
      yield piece;
    }
    this.report.outcome = 'done';
  }

  #count(): void {
    const { trialsDone, work } = this.prepared.work.progress;
    this.report.trials = trialsDone;
    this.report.brainSeconds = (work.brainMs ?? 0) / 1000;
    this.report.work = work;
  }

  #progressLine(): Uint8Array {
    const { planned, work } = this.prepared;
    return progressLine({
      conditions_done: this.report.conditions,
      conditions: planned.conditions,
      trials_done: work.progress.trialsDone,
      trials: work.progress.trials,
    });
  }
}
