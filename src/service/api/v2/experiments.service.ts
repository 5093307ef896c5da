import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AnswerHead, AnswerOrder, AnswerPiece } from '../../../experiments/formats/answer.js';
import { TABLE_FORMATS, type Format } from '../../../experiments/formats/formats.js';
import type { SessionPlan } from '../../../experiments/plan/session-plan.js';
import { progressLine } from '../../../experiments/formats/answer-json.js';
import { Environment } from '../../config/environment.js';
import { Limits } from '../../limits/limits.js';
import { CodedError } from '../../../errors.js';
import type { DocumentLimits, DryRunAnswer } from '../../../scheduling/experiment-thread/messages.js';
import type { ThreadWork } from '../../../scheduling/experiment-thread/thread-work.js';
import { siteOf } from '../../limits/client-address.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { ModelHealth } from '../../health/model-health.js';
import type { JobState } from '../../../jobs/job.js';
import { JobsService } from '../../../jobs/jobs-service.js';
import { withFailureLine, withProgress, type Bytes } from './answer-bytes.js';
import type { ExperimentReport } from './experiment-report.js';

/** While nothing else is ready, a line of progress keeps proxies and readers from giving up. */
const PROGRESS_EVERY_MS = 5_000;

/** An answer, whose bytes are made when somebody asks for them. */
export interface AnswerBytes extends AnswerHead {
  readonly bytes: Bytes;
}

/** An experiment that was found good. Nothing has been simulated; its work is to be ended by whoever has it. */
export type PreparedExperiment = Awaited<ReturnType<ExperimentsService['prepare']>>;

/**
 * Has the thread of experiments check and plan the document of a request. All methods throw a CodedError with the path
 * of what is wrong, or one with status 503.
 */
@Injectable()
export class ExperimentsService {
  constructor(
    private readonly health: ModelHealth,
    private readonly environment: Environment,
    private readonly limits: Limits,
    private readonly jobs: JobsService,
  ) {}

  async prepare(request: FastifyRequest, order: AnswerOrder) {
    const model = this.health.modelForRuns();
    const text = textOf(request);
    const work = model.experiments.openDocument(siteOf(request), text);
    return this.#ask(request, work, async () => {
      const planned = await work.call('plan', text, order, this.#limitsOf(order.format));
      return { order, model, planned, work };
    });
  }

  /**
   * A job that was found good. What a job may be is bounded on its own.
   * @param from the first condition of the results
   */
  async prepareJob(request: FastifyRequest, from: number) {
    const model = this.health.modelForRuns();
    const limits = this.#limitsOfJob;
    const planned = await this.#read(request, (work, text) => work.call('planJob', text, from, limits));
    return { model: model.id, planned, limits, from };
  }

  /** The answer without results. */
  async dryRun(request: FastifyRequest, order: AnswerOrder, isJob: boolean): Promise<DryRunAnswer> {
    const limits = isJob ? this.#limitsOfJob : this.#limitsOf(order.format);
    return this.#read(request, (work, text) => work.call('dryRun', text, order, limits));
  }

  /** A session that was found good; of its document, or of another one. */
  async planSession(request: FastifyRequest, document = textOf(request)): Promise<SessionPlan> {
    const limits = this.#limitsOf('json');
    return this.#read(request, (work, text) => work.call('planSession', text, limits), document);
  }

  /**
   * The results of a job, as far as it is.
   * @throws CodedError also NOT_FOUND where they are there no longer, and the failure of the job
   */
  async results(
    request: FastifyRequest,
    { record, progress }: JobState,
    order: AnswerOrder,
  ): Promise<AnswerBytes> {
    if (progress.status === 'failed') throw CodedError.fromFailure(progress.failure!);
    if (progress.status === 'dismissed') {
      throw new CodedError('NOT_FOUND', 'The job has no results: it was dismissed.');
    }
    const model = this.health.model();
    if (model.id !== record.model) {
      throw new CodedError(
        'NOT_FOUND',
        `The results are those of the model ${record.model}, which is no longer served.`,
      );
    }
    const job = await this.jobs.job(record.id);
    const isPartial = progress.status !== 'successful';
    const results = { ...order, limitRows: this.#tableRowsOf(order.format), isPartial };
    const work = model.experiments.openResults(siteOf(request), record.id);
    return this.#ask(request, work, async () => {
      whenEnded(request, () => work.end());
      await work.planResults(job.record, results, (indices) => this.jobs.outcomes(record.id, indices));
      const { pieces, ...head } = await work.answer();
      return { ...head, bytes: bytesOf(pieces, () => work.end()) };
    });
  }

  /** Has the thread read a document, with which it has nothing more to do. */
  async #read<T>(
    request: FastifyRequest,
    read: (work: ThreadWork, text: string | undefined) => Promise<T>,
    text = textOf(request),
  ): Promise<T> {
    const work = this.health.modelForRuns().experiments.openDocument(siteOf(request), text);
    return this.#ask(request, work, () => read(work, text).finally(() => work.end()));
  }

  /** A document waits for its turn. Meanwhile its client may leave, the model fail, or a shutdown be over. */
  async #ask<T>(request: FastifyRequest, work: ThreadWork, ask: () => Promise<T>): Promise<T> {
    const stopListening = whenEnded(request, () => work.stop(clientGone()));
    try {
      const answer = await withoutIdleLimit(request, ask);
      this.health.ending.throwIfAborted();
      this.health.model();
      return answer;
    } catch (error) {
      work.end();
      throw error;
    } finally {
      stopListening();
    }
  }

  #limitsOf(format: Format): DocumentLimits {
    const { EXPERIMENT_BRAIN_SECONDS: atOnce, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: perMinute } =
      this.environment;
    // A price that a minute's budget never allows is too expensive, and not to be tried again.
    const brainSeconds = perMinute === 0 ? atOnce : Math.min(atOnce, perMinute);
    return this.#documentLimits(this.limits.conditions, brainSeconds, this.#tableRowsOf(format));
  }

  get #limitsOfJob(): DocumentLimits {
    const { conditionsPerJob, tableRows } = this.limits;
    // Rows of a condition: pages are made when results are read, in whatever format.
    return this.#documentLimits(conditionsPerJob, this.environment.JOB_BRAIN_SECONDS_PER_CLIENT, tableRows);
  }

  /** Limits of documents alone: they travel with a job, whose record holds no other. */
  #documentLimits(conditions: number, brainSeconds: number, tableRows: number): DocumentLimits {
    const { selectedNeurons, samples, groupNumbers, ids, ...limits } = this.limits;
    const perTrial = {
      inputEventsPerTrial: limits.inputEventsPerTrial,
      inputEventsPerBrainSecond: limits.inputEventsPerBrainSecond,
      synapticEventsPerTrial: limits.synapticEventsPerTrial,
      synapticEventsPerBrainSecond: limits.synapticEventsPerBrainSecond,
      overriddenPairs: limits.overriddenPairs,
    };
    const ofDocument = { selectedNeurons, ...perTrial, samples, groupNumbers, ids };
    return { ...ofDocument, conditions, brainSeconds, tableRows };
  }

  #tableRowsOf(format: Format): number {
    const { tableRows, jsonRows } = this.limits;
    return (TABLE_FORMATS as readonly Format[]).includes(format) ? tableRows : jsonRows;
  }
}

/** An experiment under way. All but a table of events is computed as its bytes are read. */
export class RunningExperiment {
  readonly #endTask: () => void;
  #isOver = false;

  /**
   * @param client whose turns its trials take
   * @param report is kept up to date
   * @param onEnd called once it has ended, and the report is complete
   */
  constructor(
    private readonly prepared: PreparedExperiment,
    private readonly client: string,
    private readonly report: ExperimentReport,
    private readonly health: ModelHealth,
    private readonly onEnd: () => Promise<void>,
  ) {
    report.outcome = 'under_way';
    this.#endTask = health.beginLongTask();
    health.ending.addEventListener('abort', this.#drain);
    // While it was charged, the time to finish may have ended.
    if (health.ending.aborted) this.#drain();
  }

  /** The answer, once its head is known. */
  async answer(): Promise<AnswerBytes> {
    const { order, model, work } = this.prepared;
    const { queue } = model;
    const { pieces, ...head } = await work.answer({
      inFlight: queue.trialsInFlight,
      runTrial: (task, signal) => {
        this.#count();
        return queue.runTrial(task, { owner: this.client, signal });
      },
    });
    const bytes = bytesOf(this.#reported(pieces), () => this.#count());
    if (order.format !== 'ndjson') return { ...head, bytes };
    const lines = withProgress(bytes, () => this.#progressLine(), PROGRESS_EVERY_MS);
    return { ...head, bytes: withFailureLine(lines) };
  }

  /** Ends what is still under way. To be called once the answer is out, or nobody wants it any more. */
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

async function* bytesOf(pieces: AsyncIterable<AnswerPiece>, over: () => void): Bytes {
  try {
    for await (const { bytes } of pieces) yield bytes;
  } finally {
    over();
  }
}

/** @returns undefined where there is no body: every default is wanted then */
function textOf({ body }: FastifyRequest): string | undefined {
  return typeof body === 'string' ? body : undefined;
}
