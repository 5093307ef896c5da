import { Injectable } from '@nestjs/common';
import type { Connectome } from '../connectome/connectome.js';
import { NodeSetResolver } from '../connectome/node-set-resolver.js';
import { answerJson } from '../answers/v2/answer-json.js';
import { answerWriter } from '../answers/v2/formats/answer-writer.js';
import {
  TABLE_FORMATS,
  type ColumnNames,
  type Format,
  type TableName,
} from '../answers/v2/formats/formats.js';
import { progressLine } from '../answers/v2/formats/ndjson.js';
import { tableOf } from '../answers/v2/formats/tables.js';
import { parseDocument } from '../answers/v2/parse-document.js';
import { planExperiment, type ExperimentPlan } from '../answers/v2/plan.js';
import type { ExperimentEvent } from '../answers/v2/result.js';
import { runExperiment, type ExperimentProgress } from '../answers/v2/run-experiment.js';
import { Environment } from '../config/environment.js';
import { CodedError } from '../errors.js';
import { type LoadedModel, ModelHealth } from '../health/model-health.js';
import { inTurns, withFailureLine, withProgress, type Bytes } from './answer-bytes.js';
import type { ExperimentReport } from './experiment-report.js';

/** Of one request; the command line allows more. */
const MAXIMUM_CONDITIONS = 2000;
/** While nothing else is ready, a line of progress keeps proxies and readers from giving up. */
const PROGRESS_EVERY_MS = 5_000;

export interface ExperimentOrder {
  /** As it arrived. */
  readonly document: unknown;
  readonly format: Format;
  readonly table?: TableName;
  readonly names?: ColumnNames;
  /** The first condition of the answer. */
  readonly from: number;
}

/** An experiment that was found good. Nothing has been simulated. */
export interface PreparedExperiment {
  readonly order: ExperimentOrder;
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
  ) {}

  /** @throws CodedError with the path of what is wrong, or one with status 503 */
  prepare(order: ExperimentOrder): PreparedExperiment {
    const model = this.health.modelForRuns();
    const { connectome } = model;
    const { EXPERIMENT_IDS } = this.environment;
    const document = parseDocument(
      // No body at all means that every default is wanted; null is a body.
      order.document === undefined ? {} : order.document,
      { conditions: MAXIMUM_CONDITIONS, ids: EXPERIMENT_IDS },
      connectome.metadata.channels.map(({ id }) => id),
    );
    const resolver = new NodeSetResolver(connectome, document);
    const plan = planExperiment(connectome, document, resolver, this.#limitsFor(order));
    // What cannot be written is not to be computed first.
    if (isTable(order.format)) tableOf({ ...tableChoice(order), connectome, experiment: document });
    if (order.from >= plan.conditions) {
      throw new CodedError(
        'INVALID_PARAMETER',
        `from must be the index of a condition, from 0 to ${plan.conditions - 1}, got ${order.from}.`,
        { path: '' },
      );
    }
    return { order, model, plan, brainMs: Math.round(plan.brainSeconds(order.from) * 1000) };
  }

  /**
   * Begins an experiment. Its trials begin when somebody asks for bytes, and wait while nobody does.
   * @param report is kept up to date
   */
  start(prepared: PreparedExperiment, client: string, report: ExperimentReport): RunningExperiment {
    return new RunningExperiment(prepared, client, report, this.health);
  }

  #limitsFor({ format }: ExperimentOrder) {
    const { environment } = this;
    const { EXPERIMENT_BRAIN_SECONDS: atOnce, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: perMinute } = environment;
    return {
      conditions: MAXIMUM_CONDITIONS,
      selectedNeurons: environment.EXPERIMENT_SELECTED_NEURONS,
      // What a minute's budget never allows is too expensive, and not to be tried again.
      brainSeconds: perMinute === 0 ? atOnce : Math.min(atOnce, perMinute),
      inputEventsPerTrial: environment.EXPERIMENT_INPUT_EVENTS,
      synapticEventsPerTrial: environment.EXPERIMENT_SYNAPTIC_EVENTS,
      tableRows: isTable(format) ? environment.EXPERIMENT_TABLE_SPIKES : environment.EXPERIMENT_JSON_SPIKES,
      rates: environment.EXPERIMENT_RATES,
    };
  }
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
    const bytes = inTurns(await bytesOf(this.#counted(events), order, plan, model.connectome));
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

function tableChoice({ table, names }: ExperimentOrder): Pick<ExperimentOrder, 'table' | 'names'> {
  return { ...(table !== undefined && { table }), ...(names !== undefined && { names }) };
}

async function bytesOf(
  events: AsyncGenerator<ExperimentEvent, void, void>,
  order: ExperimentOrder,
  plan: ExperimentPlan,
  connectome: Connectome,
): Promise<Bytes> {
  const { format } = order;
  if (format === 'json') return answerJson(events, connectome);
  const { experiment } = plan.head;
  const writer = await answerWriter(format, { ...tableChoice(order), connectome, experiment });
  return (async function* () {
    for await (const event of events) yield* writer.write(event);
  })();
}
