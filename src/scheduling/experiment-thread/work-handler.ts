import { cardOfNeuron, cardOfType, type CellCard } from '../../connectome/cell-card.js';
import type { Connectome } from '../../connectome/connectome.js';
import { publishedNodeSets } from '../../connectome/node-sets.js';
import type { Partners } from '../../connectome/partners.js';
import { CodedError, type Failure } from '../../errors.js';
import { describeNodeSets } from '../../experiments/document/node-set-list.js';
import { dryRunJson } from '../../experiments/formats/answer-json.js';
import {
  answerOfOutcomes,
  answerOfRun,
  checkOrder,
  writtenReports,
  type AnswerHead,
  type AnswerOrder,
  type AnswerPiece,
} from '../../experiments/formats/answer.js';
import { TABLE_FORMATS, type Format } from '../../experiments/formats/formats.js';
import { phasesOf } from '../../experiments/plan/phases.js';
import type { ExperimentPlan } from '../../experiments/plan/plan.js';
import { groupNumbersOf } from '../../experiments/plan/plan-limits.js';
import { priceMs } from '../../experiments/plan/prices.js';
import type { SessionPlan } from '../../experiments/plan/session-plan.js';
import { decodeOutcome, encodeOutcome, type ConditionOutcome } from '../../experiments/run/outcomes.js';
import { pageText } from '../../experiments/run/pages.js';
import type { ChunkRunner } from '../../experiments/run/chunk-runner.js';
import { neededIndices } from '../../experiments/run/run-experiment.js';
import type { RunTrial } from '../../experiments/run/condition-run.js';
import type { Turn } from '../../experiments/run/turn.js';
import type { FairScheduler } from './fair-scheduler.js';
import type {
  AcceptedJob,
  CardSearch,
  ConnectionPage,
  ConnectionSearch,
  DocumentLimits,
  DryRunAnswer,
  NeuronSearch,
  OutcomePiece,
  PlannedExperiment,
  PlannedJob,
  ResultsOrder,
} from './messages.js';
import { connectionTable } from './connection-table.js';
import { neuronTable } from './neuron-table.js';
import type { Planner } from './planner.js';
import { Transferred, type RemoteCalls, type WorkId } from '../remote-calls.js';
import type { ThreadWork } from './thread-work.js';
import { TrialBundles } from './trial-bundles.js';

/** Bytes of an answer in one message: so many that the 20 us of a message do not matter. */
const PIECE_BYTES = 64 * 1024;
/** Trials that a worker has: one that it computes and one queued ahead, see worker-slot.ts. */
const TRIALS_OF_WORKER = 2;
/** Rewired networks at once, at most: for a GPU many more trials are asked for, but it computes none of these. */
const MAXIMUM_WIRINGS_AT_ONCE = 16;
/** Outcomes that are asked for at once. */
const READ_AT_ONCE = 32;

/** Parts of the thread that all handlers share. */
export interface ThreadParts {
  readonly connectome: Connectome;
  readonly partners: Partners;
  readonly planner: Planner;
  readonly scheduler: FairScheduler;
  readonly service: RemoteCalls<ThreadWork>;
}

/** An answer, or the outcomes of a chunk, made when they are asked for. */
interface Begun extends AnswerHead {
  readonly pieces: AsyncGenerator<AnswerPiece | OutcomePiece, void, undefined>;
}

/**
 * Handles one request in the thread of experiments, from the text of a document to the pieces of an answer. Its public
 * methods are called by the ThreadWork in the service; all of them fail with the reason of a stop.
 */
export class WorkHandler {
  readonly client: string;
  readonly turn: Turn;
  readonly #stop = new AbortController();
  /** Trials that keep the workers busy. */
  #atOnce = 1;
  /** Trials in all, as far as is known. */
  #trials = 0;
  #plan: ExperimentPlan | undefined;
  #begin: (() => Promise<Begun>) | undefined;
  #pieces: Begun['pieces'] | undefined;
  #asksForTrials = false;
  readonly #bundles = new TrialBundles((bundle) =>
    this.parts.service.call(this.workId, 'runTrials', bundle, this.#trials),
  );

  constructor(
    private readonly workId: WorkId,
    private readonly parts: ThreadParts,
    private readonly onEnd: () => void,
  ) {
    this.client = workId.client;
    this.turn = (piece) =>
      parts.scheduler.run(workId.client, workId.id, () => {
        this.#stop.signal.throwIfAborted();
        return piece();
      });
  }

  /** Answers once the thread is ready. */
  probe(): void {}

  async neurons(search: NeuronSearch): Promise<Transferred<Uint8Array<ArrayBuffer>>> {
    const table = await this.turn(() => neuronTable(this.parts.connectome, search));
    return new Transferred(table, [table]);
  }

  /**
   * Those of one client one after another: each holds sets of neurons and sums over these. Its documents do not wait for
   * them.
   */
  async connections(search: ConnectionSearch): Promise<Transferred<ConnectionPage>> {
    const { connectome, planner } = this.parts;
    const page = await planner.afterOthers(`connections of ${this.client}`, () =>
      connectionTable(connectome, search, this.turn),
    );
    return new Transferred(page, [page.bytes]);
  }

  card({ of, index }: CardSearch): Promise<CellCard> {
    const { connectome, partners } = this.parts;
    return this.turn(() => (of === 'neuron' ? cardOfNeuron : cardOfType)(connectome, partners, index));
  }

  async nodeSets(): Promise<Uint8Array<ArrayBuffer>> {
    const list = await this.turn(() => describeNodeSets(this.parts.connectome, publishedNodeSets()));
    return new TextEncoder().encode(JSON.stringify(list));
  }

  /** @param text of the document; undefined for one with every default */
  async dryRun(text: string | undefined, order: AnswerOrder, limits: DocumentLimits): Promise<DryRunAnswer> {
    const plan = await this.parts.planner.plan(this, text, limits);
    await this.turn(() => checkOrder(plan, order));
    const dryRun = await this.turn(() => plan.dryRun(order.from));
    return { id: plan.head.id, json: await this.turn(() => dryRunJson(dryRun)) };
  }

  /** Plans the answer to a document; see dryRun. */
  async plan(
    text: string | undefined,
    order: AnswerOrder,
    limits: DocumentLimits,
  ): Promise<PlannedExperiment> {
    const plan = await this.parts.planner.plan(this, text, limits);
    await this.turn(() => checkOrder(plan, order));
    this.#plan = plan;
    this.#begin = () => {
      const { signal } = this.#stop;
      const onProgress = ({ trials }: { readonly trials: number }) => (this.#trials = trials);
      const options = {
        signal,
        inFlight: this.#inFlight,
        wiringsAtOnce: this.#wiringsAtOnce,
        onProgress,
      };
      return answerOfRun(plan, this.#runTrial, order, options, { turn: this.turn, pieceBytes: PIECE_BYTES });
    };
    // The trials before a page of a table are not run; JSON has what all trials of its conditions say.
    const isTable = (TABLE_FORMATS as readonly Format[]).includes(order.format);
    const fromTrial = isTable ? order.page?.trial : 0;
    return this.turn(() => plannedOf(plan, order.from, fromTrial, writtenReports(plan, order)));
  }

  /** Plans a job; see dryRun. */
  async planJob(text: string | undefined, from: number, limits: DocumentLimits): Promise<PlannedJob> {
    const plan = await this.parts.planner.plan(this, text, limits);
    return this.turn(() => {
      plan.checkFrom(from);
      return {
        ...plannedOf(plan, from),
        document: plan.head.experiment,
        needed: neededIndices(plan, from).length,
        phases: phasesOf(plan.grid, from),
      };
    });
  }

  planSession(text: string | undefined, limits: DocumentLimits): Promise<SessionPlan> {
    return this.parts.planner.planSession(this, text, limits);
  }

  /** @returns the conditions of each phase */
  async openJob(job: AcceptedJob): Promise<number[][]> {
    const { plan } = await this.parts.planner.planOfJob(this, job);
    return this.turn(() => phasesOf(plan.grid, job.from));
  }

  async planResults(job: AcceptedJob, order: ResultsOrder): Promise<void> {
    const { plan } = await this.parts.planner.planOfJob(this, job);
    await this.turn(() => checkOrder(plan, order, order.limitRows));
    if (order.from < job.from) {
      const [name, given] = order.page === undefined ? ['from', order.from] : ['page', pageText(order.page)];
      throw new CodedError(
        'INVALID_PARAMETER',
        `${name} must be at least ${job.from}, the first condition of the job, got ${given}.`,
        { path: '' },
      );
    }
    this.#plan = plan;
    this.#begin = () => {
      const outcomes = this.#readOutcomes(neededIndices(plan, order.from, writtenReports(plan, order)));
      return answerOfOutcomes(plan, outcomes, order, order, { turn: this.turn, pieceBytes: PIECE_BYTES });
    };
  }

  async planChunk(job: AcceptedJob, indices: readonly number[]): Promise<void> {
    const { plan, conditions } = await this.parts.planner.planOfJob(this, job);
    this.#plan = plan;
    this.#begin = async () => ({
      truncated: false,
      pieces: this.#computeOutcomes(plan, conditions, indices),
    });
  }

  /**
   * Begins what was planned. Conditions are computed when somebody asks for what comes next; those of a table of events at
   * once, as its head says whether rows were cut.
   */
  async begin(inFlight: number): Promise<AnswerHead> {
    // It may have been ended since it was planned, as the largest of all.
    this.#stop.signal.throwIfAborted();
    this.#atOnce = inFlight;
    const { pieces, ...head } = await this.#begin!();
    this.#pieces = pieces;
    return head;
  }

  /** @returns undefined at the end */
  async next(): Promise<Transferred<AnswerPiece | OutcomePiece> | undefined> {
    this.#stop.signal.throwIfAborted();
    const { done, value } = await this.#pieces!.next();
    return done === true ? undefined : new Transferred(value, [value.bytes]);
  }

  /** @param inFlight trials that may be computed at once from now on */
  setInFlight(inFlight: number): void {
    this.#atOnce = inFlight;
  }

  stop(failure: Failure): void {
    this.#stop.abort(CodedError.fromFailure(failure));
  }

  /** Ends the work: the service asks nothing more of it. */
  end(): void {
    this.stop({ code: 'RUN_CANCELLED', message: 'The request is over.' });
    this.onEnd();
  }

  /**
   * Numbers that it has to do with, as a measure of its memory: conditions, with the trains of a trial of each, numbers of
   * groups, rows of tables so far. 0 where it was stopped or has no plan.
   */
  get size(): number {
    const plan = this.#plan;
    if (plan === undefined || this.#stop.signal.aborted) return 0;
    const work = plan.cost.work();
    return plan.grid.size + work.trains / plan.trials + groupNumbersOf(work) + this.#bundles.tableRows;
  }

  /** Ends it because the thread has too little memory, and drops what it holds. */
  endAsLargest(): void {
    this.#plan = this.#begin = this.#pieces = undefined;
    this.#stop.abort(
      new CodedError(
        'TOO_EXPENSIVE',
        'The experiments under way need too much memory, and this is the largest of them. With fewer conditions, ' +
          'groups or trials it would fit.',
        { path: '/reports' },
      ),
    );
  }

  readonly #runTrial: RunTrial = (task, trial, signal) => {
    if (!this.#asksForTrials) {
      this.#asksForTrials = true;
      const withdraw = () => this.parts.service.send(this.workId, 'withdrawTrials');
      signal.addEventListener('abort', withdraw, { once: true });
    }
    return this.#bundles.run(task, trial);
  };

  /** Trials that are asked for at once. */
  readonly #inFlight = (): number => this.#bundles.inFlight(this.#atOnce);

  /** Each worker has one trial that it computes and one ahead. */
  readonly #wiringsAtOnce = (): number =>
    Math.min(MAXIMUM_WIRINGS_AT_ONCE, Math.ceil(this.#atOnce / TRIALS_OF_WORKER));

  /** Outcomes of a job that the service keeps, a bounded number at once. */
  async *#readOutcomes(
    indices: readonly number[],
  ): AsyncGenerator<readonly [index: number, outcome: ConditionOutcome | undefined], void, void> {
    for (let at = 0; at < indices.length; at += READ_AT_ONCE) {
      const some = indices.slice(at, at + READ_AT_ONCE);
      const outcomes = await this.parts.service.call(this.workId, 'outcomes', some);
      for (const [place, index] of some.entries()) {
        const bytes = outcomes[place];
        yield [index, bytes && (await decodeOutcome(bytes, this.turn))];
      }
    }
  }

  async *#computeOutcomes(
    plan: ExperimentPlan,
    conditions: ChunkRunner,
    indices: readonly number[],
  ): AsyncGenerator<OutcomePiece, void, undefined> {
    const load = async (index: number): Promise<ConditionOutcome> => {
      for await (const [, outcome] of this.#readOutcomes([index])) if (outcome !== undefined) return outcome;
      throw new CodedError('RUN_CANCELLED', 'The job has ended.');
    };
    const { turn } = this;
    const options = {
      signal: this.#stop.signal,
      inFlight: this.#inFlight,
      wiringsAtOnce: this.#wiringsAtOnce,
      turn,
    };
    for await (const [index, outcome] of conditions.run(indices, load, this.#runTrial, options)) {
      // In memory of its own: a slice of Node's buffer pool cannot be transferred.
      const bytes = Uint8Array.from(await encodeOutcome(outcome, turn));
      yield { index, bytes, brainMs: plan.cost.brainMsOf(index) };
    }
  }
}

/** The work that takes the most memory, as far as its plan and its trials tell. */
export function largestOf(works: Iterable<WorkHandler>): WorkHandler | undefined {
  let largest: WorkHandler | undefined;
  for (const work of works) if (work.size > (largest?.size ?? 0)) largest = work;
  return largest;
}

function plannedOf(
  plan: ExperimentPlan,
  from: number,
  fromTrial = 0,
  written = plan.reports,
): PlannedExperiment {
  const work = plan.cost.work(from, fromTrial, written);
  return {
    id: plan.head.id,
    conditions: plan.conditions - from,
    brainMs: work.brainMs,
    priceMs: priceMs(work),
  };
}
