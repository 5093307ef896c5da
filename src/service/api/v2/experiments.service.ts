import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerRequest } from '../../../experiments/formats/answer.js';
import { TABLE_FORMATS, type Format } from '../../../experiments/formats/formats.js';
import { answerRequest } from '../../../experiments/formats/queries.js';
import { drawableForms } from '../../../experiments/formats/stored-answer.js';
import type { SessionPlan } from '../../../experiments/plan/session-plan.js';
import type { SilenceToPlan } from '../../../experiments/sessions/session.js';
import { priceMs } from '../../../experiments/plan/prices.js';
import { Environment } from '../../config/environment.js';
import { Limits } from '../../limits/limits.js';
import { CodedError, notFound } from '../../../engine/errors.js';
import { ClientLines } from '../../../workers/queue/client-shares.js';
import type { DocumentLimits, DryRunAnswer, PlannedJob } from '../../../workers/thread/messages.js';
import type { ThreadWork } from '../../../workers/thread/thread-work.js';
import { Admission } from '../../limits/admission.js';
import { BrainBudget, type Charge } from '../../limits/brain-budget.js';
import { clientOf, siteOf } from '../../limits/client-address.js';
import { idempotencyKeyOf } from '../../http/request-headers.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { ModelHealth } from '../../health/model-health.js';
import type { JobState } from '../../jobs/job.js';
import { JobsService } from '../../jobs/jobs-service.js';
import { type AnswerBytes, bytesOf, linesOf } from './answer-bytes.js';
import { openExperimentReport, type ExperimentReport } from './experiment-report.js';
import { RunningExperiment } from './running-experiment.js';
import { type PendingAnswer, type StoredAnswer, StoredAnswers } from './stored-answers.js';

/** Reserved while a job is planned; the price if it is then refused because there are too many. */
const REFUSED_JOB_MS = 5_000;
/** Longer documents keep their slot while they wait for an equal one, because slots bound their memory. */
const MAX_WAITING_TEXT = 65_536;

/** An accepted experiment; nothing was simulated yet. Its owner must end its work. */
export type PreparedExperiment = Awaited<ReturnType<ExperimentsService['prepare']>>;

/**
 * Lets the experiment thread check and plan the document of a request. All methods throw a CodedError with the path
 * of the fault, or one with status 503.
 */
@Injectable()
export class ExperimentsService {
  /** Documents of sessions that are written. */
  readonly #lines = new ClientLines();

  constructor(
    private readonly health: ModelHealth,
    private readonly environment: Environment,
    private readonly limits: Limits,
    private readonly jobs: JobsService,
    private readonly admission: Admission,
    private readonly budget: BrainBudget,
    private readonly stored: StoredAnswers,
  ) {}

  prepare(request: FastifyRequest, wanted: AnswerRequest, text = textOf(request)) {
    const prepared = () => this.#prepare(request, wanted, text);
    if ((text?.length ?? 0) > MAX_WAITING_TEXT) return prepared();
    const client = siteOf(request);
    const key = `${client} ${JSON.stringify(wanted)} ${text}`;
    return withoutIdleLimit(request, () => this.stored.inTurn(key, client, prepared));
  }

  async #prepare(request: FastifyRequest, wanted: AnswerRequest, text: string | undefined) {
    const model = this.health.modelForRuns();
    const work = model.experiments.openDocument(siteOf(request), text);
    const planning = work.call('plan', text, wanted, this.#limitsOf(wanted.format));
    return { text, wanted, model, planned: await this.#awaited(request, work, planning), work };
  }

  /**
   * Begins an accepted experiment: it is admitted and its expected price is charged. The stored answer of an equal
   * experiment is free of charge, and so are published experiments until their account is spent.
   */
  async begin(
    first: PreparedExperiment,
    report: ExperimentReport,
    reply: FastifyReply,
  ): Promise<RunningExperiment | StoredAnswer> {
    const { request } = reply;
    const { prepared, pending } = await this.#findOrBegin(first, request);
    const { work, planned } = prepared;
    report.id = planned.id;
    whenEnded(request, () => work.end());
    const answered = (stored: StoredAnswer) => {
      work.end();
      report.outcome = 'done';
      report.conditions = planned.conditions;
      return stored;
    };
    if ('bytes' in pending) return answered(pending);
    const drawn = await this.#drawn(prepared, request, pending);
    if (drawn !== undefined) return answered(drawn);
    let leave = (): void => undefined;
    let charge: Charge;
    try {
      leave = this.admission.admit(siteOf(request));
      charge = await this.#charge(prepared, reply);
    } catch (error) {
      pending.end();
      leave();
      work.end();
      throw error;
    }
    const run = new RunningExperiment(prepared, siteOf(request), report, this.health, pending, async () => {
      pending.end();
      leave();
      await charge.settle(priceMs(report.work));
    });
    // The client may have disconnected during the charge.
    whenEnded(request, () => void run.end());
    return run;
  }

  /**
   * Finds the stored answer, or begins. The plan of an experiment that waits for an equal one is dropped and made again
   * if it is needed, because it takes memory and a slot of documents that wait.
   */
  async #findOrBegin(
    prepared: PreparedExperiment,
    request: FastifyRequest,
  ): Promise<{ prepared: PreparedExperiment; pending: StoredAnswer | PendingAnswer }> {
    const { work, wanted, text } = prepared;
    const stopListening = whenEnded(request, () => work.end());
    const isEqualPending = (text?.length ?? 0) <= MAX_WAITING_TEXT && this.stored.isPending(prepared);
    if (isEqualPending) work.end();
    const wait = () => this.stored.findOrBegin(prepared, siteOf(request));
    const pending = await withoutIdleLimit(request, wait);
    stopListening();
    if (!isEqualPending || 'bytes' in pending) return { prepared, pending };
    let again: PreparedExperiment;
    try {
      again = await this.prepare(request, wanted, text);
    } catch (error) {
      pending.end();
      throw error;
    }
    if (again.planned.id === prepared.planned.id) return { prepared: again, pending };
    // Another model was loaded meanwhile, so this is another experiment.
    pending.end();
    return this.#findOrBegin(again, request);
  }

  /**
   * Computes an experiment that the service makes for a request, such as a preview.
   * @returns the lines of its answer
   * @throws CodedError as if the request had asked for it
   */
  async lines(document: object, reply: FastifyReply): Promise<readonly object[]> {
    const { request } = reply;
    const report = openExperimentReport(request);
    report.format = 'ndjson';
    const wanted = answerRequest({}, report.format, 0);
    const prepared = await this.prepare(request, wanted, JSON.stringify(document));
    report.id = prepared.planned.id;
    const begun = await this.begin(prepared, report, reply);
    if ('bytes' in begun) return linesOf(begun.bytes);
    try {
      const { bytes } = await begun.answer();
      const pieces: Uint8Array[] = [];
      for await (const piece of bytes) pieces.push(piece);
      return linesOf(Buffer.concat(pieces));
    } finally {
      await begun.end();
    }
  }

  /**
   * Does other work of a request, for which its client pays; see BrainBudget.paying.
   * @throws CodedError RATE_LIMITED
   */
  paying<T>(brainMs: number, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    return this.budget.paying(clientOf(reply.request), brainMs, reply, work);
  }

  async #charge({ planned }: PreparedExperiment, reply: FastifyReply): Promise<Charge> {
    const { id, isExample, priceMs } = planned;
    const shared = isExample ? await this.budget.chargeExample(id, priceMs) : undefined;
    return shared ?? this.budget.charge(clientOf(reply.request), priceMs, reply);
  }

  /** The figure of an experiment whose answer is stored in another format, free of charge; undefined if none is. */
  async #drawn(
    prepared: PreparedExperiment,
    request: FastifyRequest,
    pending: PendingAnswer,
  ): Promise<StoredAnswer | undefined> {
    const { work, wanted } = prepared;
    const whole = this.stored.findForm(prepared, drawableForms(wanted));
    if (whole === undefined) return undefined;
    let leave = (): void => undefined;
    try {
      leave = this.admission.admit(siteOf(request));
      const canDraw = work.call('planDrawing', whole.bytes, wanted);
      if (!(await this.#awaited(request, work, canDraw))) return undefined;
      const { pieces, ...head } = await this.#awaited(request, work, work.answer());
      const drawn: Uint8Array[] = [];
      for await (const piece of pending.storing(head, bytesOf(pieces))) drawn.push(piece);
      return { head, bytes: Buffer.concat(drawn) };
    } catch (error) {
      pending.end();
      throw error;
    } finally {
      leave();
    }
  }

  /**
   * Plans an experiment with the limits of jobs, and turns it into a job.
   * @param from first condition of the results
   */
  async beginJob(from: number, report: ExperimentReport, reply: FastifyReply): Promise<JobState> {
    const { request } = reply;
    const key = idempotencyKeyOf(request);
    // Planning takes up to seconds. So a client plans as many at once as it can pay for, and pays if it has too many jobs.
    const charge = await this.budget.reserve(
      clientOf(request),
      REFUSED_JOB_MS,
      reply,
      'planning a job reserves',
    );
    const limits = this.#limitsOfJob;
    let model: string;
    let planned: PlannedJob;
    try {
      model = this.health.modelForRuns().id;
      planned = await this.#once(request, (work, text) => work.call('planJob', text, from, limits));
    } catch (error) {
      await charge.release();
      throw error;
    }
    report.id = planned.id;
    // Two clients of a site may choose the same key.
    const requestKey = key && `${clientOf(request)} ${key}`;
    const wanted = { model, planned, limits, from, client: siteOf(request), requestKey };
    const job = await this.jobs.begin(wanted).catch(async (error: unknown) => {
      if (!(error instanceof CodedError && error.code === 'QUEUE_FULL')) await charge.release();
      throw error;
    });
    await charge.release();
    report.outcome = 'job';
    return job;
  }

  /** Plans an experiment and returns the answer to a dry run. */
  dryRun(request: FastifyRequest, wanted: AnswerRequest, isJob: boolean): Promise<DryRunAnswer> {
    const limits = isJob ? this.#limitsOfJob : this.#limitsOf(wanted.format);
    return this.#once(request, (work, text) => work.call('dryRun', text, wanted, limits));
  }

  /** Plans a session from the document of the request. */
  planSession(request: FastifyRequest): Promise<SessionPlan> {
    const limits = this.#limitsOf('json');
    return this.#once(request, (work, text) => work.call('planSession', text, limits));
  }

  /** @returns the neurons of the last silence in a document */
  silencedNeurons(request: FastifyRequest, { document, isWhole }: SilenceToPlan): Promise<Uint32Array> {
    const limits = this.#limitsOf('json');
    return this.#once(request, (work) => work.call('silencedNeurons', document, isWhole, limits));
  }

  /**
   * Writes the document of a session as JSON in the experiment thread. Documents of one client are written one after
   * another, because each takes memory, and time of the main thread that sends it.
   */
  sessionDocument(request: FastifyRequest, document: () => object): Promise<Uint8Array> {
    const write = (work: ThreadWork) =>
      this.#lines.afterOthers(siteOf(request), () => work.call('sessionDocument', document()));
    // Documents may be read even during shutdown.
    return this.#once(request, write, this.health.model());
  }

  /**
   * Returns the available results of a job.
   * @throws CodedError the failure of the job; NOT_FOUND if the results no longer exist
   */
  async results(
    request: FastifyRequest,
    { record, progress }: JobState,
    wanted: AnswerRequest,
  ): Promise<AnswerBytes> {
    if (progress.status === 'failed') throw CodedError.fromFailure(progress.failure!);
    if (progress.status === 'dismissed') throw notFound('The job has no results: it was dismissed.');
    const model = this.health.model();
    if (model.id !== record.model) {
      throw notFound(`The results are those of the model ${record.model}, which is no longer served.`);
    }
    const job = await this.jobs.job(record.id);
    const isPartial = progress.status !== 'successful';
    const results = { ...wanted, limitRows: this.#tableRowsOf(wanted.format), isPartial };
    const work = model.experiments.openResults(siteOf(request), record.id);
    whenEnded(request, () => work.end());
    const stored = (indices: readonly number[]) => this.jobs.results(record.id, indices);
    await this.#awaited(request, work, work.planResults(job.record, results, stored));
    const { pieces, ...head } = await this.#awaited(request, work, work.answer());
    return { ...head, bytes: bytesOf(pieces, () => work.end()) };
  }

  /** Asks the thread one question about the document of a request. */
  async #once<T>(
    request: FastifyRequest,
    ask: (work: ThreadWork, text: string | undefined) => Promise<T>,
    { experiments } = this.health.modelForRuns(),
  ): Promise<T> {
    const text = textOf(request);
    const work = experiments.openDocument(siteOf(request), text);
    try {
      return await this.#awaited(request, work, ask(work, text));
    } finally {
      work.end();
    }
  }

  /**
   * Waits for the thread. Meanwhile the client may disconnect, the model may fail, or a shutdown may end; the work then
   * ends. A shutdown waits until the answer was sent.
   */
  async #awaited<T>(request: FastifyRequest, work: ThreadWork, answer: Promise<T>): Promise<T> {
    whenEnded(request, this.health.beginTask());
    const stopListening = whenEnded(request, () => work.stop(clientGone()));
    try {
      const known = await withoutIdleLimit(request, () => answer);
      this.health.ending.throwIfAborted();
      this.health.model();
      return known;
    } catch (error) {
      work.end();
      throw error;
    } finally {
      stopListening();
    }
  }

  #limitsOf(format: Format): DocumentLimits {
    const { ofDocuments, conditions, brainSeconds } = this.limits;
    const brainSecondsOfJob = this.environment.JOB_BRAIN_SECONDS_PER_CLIENT;
    const tableRows = this.#tableRowsOf(format);
    return { ...ofDocuments, conditions, brainSeconds, brainSecondsOfJob, tableRows };
  }

  get #limitsOfJob(): DocumentLimits {
    const { ofDocuments, conditionsPerJob: conditions, tableRows } = this.limits;
    const brainSeconds = this.environment.JOB_BRAIN_SECONDS_PER_CLIENT;
    // The limit of rows holds for each condition, because pages are made when results are read, in any format.
    return { ...ofDocuments, conditions, brainSeconds, tableRows };
  }

  #tableRowsOf(format: Format): number {
    const { tableRows, jsonRows } = this.limits;
    return (TABLE_FORMATS as readonly Format[]).includes(format) ? tableRows : jsonRows;
  }
}

/** @returns undefined if there is no body, so every default applies */
function textOf({ body }: FastifyRequest): string | undefined {
  return typeof body === 'string' ? body : undefined;
}
