import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { NodeSetResolver } from '../connectome/node-set-resolver.js';
import { answerJson, dryRunJson } from '../answers/v2/answer-json.js';
import { answerWriter } from '../answers/v2/formats/answer-writer.js';
import { FORMATS, TABLE_FORMATS, type Format } from '../answers/v2/formats/formats.js';
import { progressLine } from '../answers/v2/formats/ndjson.js';
import { tableOf } from '../answers/v2/formats/tables.js';
import { eventsOfOutcomes } from '../answers/v2/outcomes.js';
import { parseDocument } from '../answers/v2/parse-document.js';
import { planInParts, type ExperimentLimits, type ExperimentPlan } from '../answers/v2/plan.js';
import type { ExperimentEvent } from '../answers/v2/result.js';
import { runExperiment, type ExperimentProgress } from '../answers/v2/run-experiment.js';
import { Environment } from '../config/environment.js';
import { CodedError } from '../errors.js';
import { withoutIdleLimit } from '../http/idle-limit.js';
import { documentIn } from '../http/request-body.js';
import { type LoadedModel, ModelHealth } from '../health/model-health.js';
import type { JobState } from '../jobs/job.js';
import { JobsService, type JobOrder } from '../jobs/jobs.service.js';
import { planJob } from '../jobs/opened-job.js';
import type { InParts } from '../parts.js';
import { inTurns, withFailureLine, withProgress, type Bytes } from './answer-bytes.js';
import type { TableChoice } from './answer-format.js';
import type { ExperimentReport } from './experiment-report.js';
import { PlanningTurns } from './planning-turns.js';

/** Of one request; the command line allows more. */
const MAXIMUM_CONDITIONS = 2000;
const MAXIMUM_CONDITIONS_OF_JOB = 20_000;
const FORMAT_NAMES = Object.keys(FORMATS) as Format[];
/** While nothing else is ready, a line of progress keeps proxies and readers from giving up. */
const PROGRESS_EVERY_MS = 5_000;

/** How an answer is wanted. */
export interface AnswerOrder extends TableChoice {
  readonly format: Format;
  /** The first condition of the answer. */
  readonly from: number;
}

/** An experiment that was found good. Nothing has been simulated. */
export interface PreparedExperiment {
  readonly order: AnswerOrder;
  readonly model: LoadedModel;
  readonly plan: ExperimentPlan;
  /** All that it may take, in whole milliseconds of simulated time. */
  readonly brainMs: number;
}

/** From a document to the bytes of its answer. */
@Injectable()
export class ExperimentsService {
  constructor(
    private readonly health: ModelHealth,
    private readonly environment: Environment,
    private readonly jobs: JobsService,
    private readonly turns: PlanningTurns,
  ) {}

  /**
   * @param request whose body is the document
   * @throws CodedError with the path of what is wrong, or one with status 503
   */
  async prepare(request: FastifyRequest, order: AnswerOrder): Promise<PreparedExperiment> {
    return this.#planned(request, (model) => this.#preparing(request, model, order));
  }

  /** @throws CodedError as prepare; what a job may be is bounded on its own */
  async prepareJob(request: FastifyRequest, from: number): Promise<Omit<JobOrder, 'client'>> {
    return this.#planned(request, (model) => this.#preparingJob(request, model, from));
  }

  /**
   * The answer without results.
   * @param isJob what a job may cost is more than what one request may
   * @throws CodedError as prepare and prepareJob
   */
  async dryRun(request: FastifyRequest, order: AnswerOrder, isJob: boolean): Promise<DryRunAnswer> {
    return this.#planned(request, (model) =>
      writtenDryRun(
        isJob ? this.#preparingJob(request, model, order.from) : this.#preparing(request, model, order),
        order.from,
      ),
    );
  }

  /** A document waits for its turn. Meanwhile the model may fail, or the time of a shutdown be over. */
  async #planned<T>(request: FastifyRequest, planning: (model: LoadedModel) => InParts<T>): Promise<T> {
    const planned = await this.#inTurn(request, planning(this.health.modelForRuns()));
    this.health.ending.throwIfAborted();
    this.health.model();
    return planned;
  }

  async #inTurn<T>(request: FastifyRequest, planning: InParts<T>): Promise<T> {
    return withoutIdleLimit(request, () => this.turns.take(request, planning));
  }

  *#preparing({ body }: FastifyRequest, model: LoadedModel, order: AnswerOrder): InParts<PreparedExperiment> {
    const { EXPERIMENT_BRAIN_SECONDS: atOnce, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: perMinute } =
      this.environment;
    const plan = yield* this.#planning(body, model, {
      ...this.#limits,
      conditions: MAXIMUM_CONDITIONS,
      // What a minute's budget never allows is too expensive, and not to be tried again.
      brainSeconds: perMinute === 0 ? atOnce : Math.min(atOnce, perMinute),
      tableRows: this.#tableRowsOf(order.format),
    });
    checkOrder(order, plan);
    return { order, model, plan, brainMs: plan.brainMs(order.from) };
  }

  *#preparingJob(
    { body }: FastifyRequest,
    model: LoadedModel,
    from: number,
  ): InParts<Omit<JobOrder, 'client'>> {
    const limits: ExperimentLimits = {
      ...this.#limits,
      conditions: MAXIMUM_CONDITIONS_OF_JOB,
      brainSeconds: this.environment.JOB_BRAIN_SECONDS_PER_CLIENT,
      // The format of the results is chosen when they are read.
      tableRows: Math.max(...FORMAT_NAMES.map((format) => this.#tableRowsOf(format))),
    };
    const plan = yield* this.#planning(body, model, limits);
    plan.checkFrom(from);
    return { model: model.id, plan, limits, from };
  }

  /**
   * The results of a job, as far as it is.
   * @throws CodedError NOT_FOUND where they are there no longer, the failure of the job
   */
  async results(request: FastifyRequest, { record, progress }: JobState, order: AnswerOrder): Promise<Bytes> {
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
    const plan = await this.#inTurn(request, planJob(job.record, model.connectome));
    checkOrder(order, plan);
    if (order.from < record.from) {
      throw new CodedError(
        'INVALID_PARAMETER',
        `from must be at least ${record.from}, the first condition of the job, got ${order.from}.`,
        { path: '' },
      );
    }
    const events = eventsOfOutcomes(plan, this.jobs.outcomes(record.id, plan, order.from), {
      from: order.from,
      tableRows: this.#tableRowsOf(order.format),
      isPartial: progress.status !== 'successful',
    });
    return bytesOf(events, order, plan);
  }

  /**
   * Begins an experiment. Its trials begin when somebody asks for bytes, and wait while nobody does.
   * @param report is kept up to date
   */
  start(prepared: PreparedExperiment, client: string, report: ExperimentReport): RunningExperiment {
    return new RunningExperiment(prepared, client, report, this.health);
  }

  get #limits(): Omit<ExperimentLimits, 'conditions' | 'brainSeconds' | 'tableRows'> {
    const { environment } = this;
    return {
      selectedNeurons: environment.EXPERIMENT_SELECTED_NEURONS,
      inputEventsPerTrial: environment.EXPERIMENT_INPUT_EVENTS,
      synapticEventsPerTrial: environment.EXPERIMENT_SYNAPTIC_EVENTS,
      rates: environment.EXPERIMENT_RATES,
    };
  }

  #tableRowsOf(format: Format): number {
    const { EXPERIMENT_TABLE_SPIKES, EXPERIMENT_JSON_SPIKES } = this.environment;
    return isTable(format) ? EXPERIMENT_TABLE_SPIKES : EXPERIMENT_JSON_SPIKES;
  }

  *#planning(body: unknown, { connectome }: LoadedModel, limits: ExperimentLimits): InParts<ExperimentPlan> {
    // No body at all means that every default is wanted.
    const document = typeof body === 'string' ? yield* documentIn(body) : {};
    yield;
    const parsed = parseDocument(
      document,
      { conditions: limits.conditions, ids: this.environment.EXPERIMENT_IDS },
      connectome.metadata.channels.map(({ id }) => id),
    );
    yield;
    return yield* planInParts(connectome, parsed, new NodeSetResolver(connectome, parsed), limits);
  }
}

export interface DryRunAnswer {
  /** Of the experiment. */
  readonly id: string;
  readonly json: Buffer;
}

function* writtenDryRun(
  preparing: InParts<{ readonly plan: ExperimentPlan }>,
  from: number,
): InParts<DryRunAnswer> {
  const { plan } = yield* preparing;
  yield;
  return { id: plan.head.id, json: Buffer.from(yield* dryRunJson(plan.dryRun(from))) };
}

/**
 * What cannot be written is not to be computed first.
 * @throws CodedError INVALID_PARAMETER
 */
function checkOrder(order: AnswerOrder, plan: ExperimentPlan): void {
  const { connectome, head } = plan;
  if (isTable(order.format)) tableOf({ ...tableChoice(order), connectome, experiment: head.experiment });
  plan.checkFrom(order.from);
}

/** An experiment under way. */
export class RunningExperiment {
  readonly #stop = new AbortController();
  readonly #endTask: () => void;
  #progress: ExperimentProgress = { trials: 0, trialsDone: 0, brainSecondsBegun: 0 };

  constructor(
    private readonly prepared: PreparedExperiment,
    private readonly client: string,
    private readonly report: ExperimentReport,
    private readonly health: ModelHealth,
  ) {
    report.outcome = 'under_way';
    this.#endTask = health.beginLongTask();
    health.ending.addEventListener('abort', this.#drain);
  }

  /** The bytes of the answer as they are made. */
  async bytes(): Promise<Bytes> {
    const { order, model, plan } = this.prepared;
    const { queue } = model;
    const events = runExperiment(
      plan,
      (task, signal) => queue.runTrial(task, { owner: this.client, signal }),
      {
        from: order.from,
        signal: this.#stop.signal,
        inFlight: queue.trialsInFlight,
        onProgress: (progress) => {
          this.#progress = progress;
          this.report.trials = progress.trialsDone;
          this.report.brainSeconds = progress.brainSecondsBegun;
        },
      },
    );
    const bytes = await bytesOf(this.#counted(events), order, plan);
    if (order.format !== 'ndjson') return bytes;
    const lines = withProgress(bytes, () => this.#progressLine(), PROGRESS_EVERY_MS);
    return withFailureLine(lines);
  }

  /** Ends what is still under way. To be called once the answer is out, or nobody wants it any more. */
  end(): void {
    this.health.ending.removeEventListener('abort', this.#drain);
    this.#stop.abort(new CodedError('RUN_CANCELLED', 'The client has gone.'));
    this.#endTask();
  }

  readonly #drain = (): void => {
    this.report.outcome = 'drained';
    this.#stop.abort(this.health.ending.reason);
  };

  async *#counted(
    events: AsyncGenerator<ExperimentEvent, void, void>,
  ): AsyncGenerator<ExperimentEvent, void, void> {
    for await (const event of events) {
      if (event.kind === 'condition') this.report.conditions++;
      if (event.kind === 'totals') this.report.outcome = 'done';
      yield event;
    }
  }

  #progressLine(): Uint8Array {
    const { plan, order } = this.prepared;
    return progressLine({
      conditions_done: this.report.conditions,
      conditions: plan.conditions - order.from,
      trials_done: this.#progress.trialsDone,
      trials: this.#progress.trials,
    });
  }
}

function isTable(format: Format): boolean {
  return (TABLE_FORMATS as readonly Format[]).includes(format);
}

function tableChoice({ table, names }: AnswerOrder): TableChoice {
  return { ...(table !== undefined && { table }), ...(names !== undefined && { names }) };
}

async function bytesOf(
  events: AsyncGenerator<ExperimentEvent, void, void>,
  order: AnswerOrder,
  { connectome, head: { experiment } }: ExperimentPlan,
): Promise<Bytes> {
  const { format } = order;
  if (format === 'json') return inTurns(answerJson(events, connectome));
  const writer = await answerWriter(format, { ...tableChoice(order), connectome, experiment });
  const pieces = (async function* () {
    for await (const event of events) yield* writer.write(event);
  })();
  return inTurns(pieces);
}
