import { cardOfNeuron, cardOfType, type CellCard } from '../../engine/connectome/cell-card.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { publishedNodeSets } from '../../engine/connectome/node-sets.js';
import type { Partners } from '../../engine/connectome/partners.js';
import { CodedError, type Failure } from '../../engine/errors.js';
import { describeNodeSets } from '../../experiments/document/node-set-list.js';
import type { ExperimentDocument } from '../../experiments/document/document.js';
import { dryRunJson } from '../../experiments/formats/answer-json.js';
import {
  answerOfResults,
  answerOfRun,
  answerOfStored,
  checkRequest,
  writtenReports,
  type AnswerHead,
  type AnswerRequest,
  type AnswerPiece,
} from '../../experiments/formats/answer.js';
import { TABLE_FORMATS, type Format } from '../../experiments/formats/formats.js';
import { orderOfNames } from '../../experiments/plan/experiment-head.js';
import { phasesOf } from '../../experiments/plan/phases.js';
import type { ExperimentPlan } from '../../experiments/plan/plan.js';
import { groupNumbersOf } from '../../experiments/plan/plan-limits.js';
import { priceMs } from '../../experiments/plan/prices.js';
import type { SessionPlan } from '../../experiments/plan/session-plan.js';
import { otherVersion, type ConditionResult } from '../../experiments/run/condition-result.js';
import { decodeResult, encodeResult } from './result-bytes.js';
import { pageText } from '../../experiments/run/pages.js';
import type { ChunkRunner } from '../../experiments/run/chunk-runner.js';
import { neededCells } from '../../experiments/run/run-experiment.js';
import type { RunTrial } from '../../experiments/run/condition-run.js';
import { inTurns, type Turn } from '../../experiments/run/turn.js';
import type { FairScheduler } from './fair-scheduler.js';
import type {
  AcceptedJob,
  CardSearch,
  DocumentLimits,
  DryRunAnswer,
  ConditionPiece,
  PlannedExperiment,
  PlannedJob,
  ResultsRequest,
} from './messages.js';
import {
  type ConnectionPage,
  type ConnectionSearch,
  connectionTable,
} from '../../experiments/formats/connection-table.js';
import { type NeuronSearch, neuronTable } from '../../experiments/formats/neuron-table.js';
import { packed, packedJson } from '../../experiments/document/packed.js';
import type { Planner } from './planner.js';
import { withMovedArrays } from '../pool/moved-arrays.js';
import { Transferred, type RemoteCalls, type WorkId } from '../pool/remote-calls.js';
import type { ThreadWork } from './thread-work.js';
import { TrialBundles } from './trial-bundles.js';

/** Bytes of an answer in one message: enough to make the 20 us of a message negligible. */
const PIECE_BYTES = 64 * 1024;
/** Trials in a worker: the current one and the prefetched one, see worker-slot.ts. */
const TRIALS_OF_WORKER = 2;
/** Limit of rewired networks at once. With a GPU many more trials are requested, but it computes none of these. */
const MAX_WIRINGS_AT_ONCE = 16;
/** Number of stored results that one message requests. */
const READ_AT_ONCE = 32;

/** Objects that all handlers share. */
export interface ThreadParts {
  readonly connectome: Connectome;
  /** Ids of the published experiments. */
  readonly examples: ReadonlySet<string>;
  readonly partners: Partners;
  readonly planner: Planner;
  readonly scheduler: FairScheduler;
  readonly service: RemoteCalls<ThreadWork>;
}

/** An answer or the conditions of a chunk, produced on demand. */
interface Begun extends AnswerHead {
  readonly pieces: AsyncGenerator<AnswerPiece | ConditionPiece, void, undefined>;
}

/**
 * Handles one request in the experiment thread, from the text of a document to the pieces of an answer. The
 * ThreadWork in the service calls its public methods. After a stop, they all fail with its reason.
 */
export class WorkHandler {
  readonly client: string;
  readonly turn: Turn;
  readonly #stop = new AbortController();
  /** Number of trials that may be pending: enough to keep the workers busy. */
  #maxInFlight = 1;
  /** Number of trials, as far as it is known. */
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
    this.turn = (compute) =>
      parts.scheduler.run(workId.client, workId.id, () => {
        this.#stop.signal.throwIfAborted();
        return compute();
      });
  }

  /** The thread answers this after it is ready. */
  probe(): void {}

  async neurons(search: NeuronSearch): Promise<Transferred<Uint8Array<ArrayBuffer>>> {
    const table = await this.turn(() => neuronTable(this.parts.connectome, search));
    return new Transferred(table, [table]);
  }

  /**
   * Searches of one client run one after another, because each holds sets of neurons and sums. They do not delay the
   * client's documents.
   */
  async connections(search: ConnectionSearch): Promise<Transferred<ConnectionPage>> {
    const { connectome, planner } = this.parts;
    const page = await planner.clientLines.afterOthers(`connections of ${this.client}`, () =>
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

  /** @param text JSON text of the document; undefined for a document of defaults */
  async dryRun(
    text: string | undefined,
    wanted: AnswerRequest,
    limits: DocumentLimits,
  ): Promise<DryRunAnswer> {
    const plan = await this.parts.planner.plan(this, text, limits);
    await this.turn(() => checkRequest(plan, wanted));
    const dryRun = await this.turn(() => plan.dryRun(wanted.from));
    return { id: plan.head.id, json: await this.turn(() => dryRunJson(dryRun)) };
  }

  /** Plans the answer to a document; see dryRun. */
  async plan(text: string | undefined, wanted: AnswerRequest, limits: DocumentLimits) {
    const plan = await this.parts.planner.plan(this, text, limits);
    await this.turn(() => checkRequest(plan, wanted));
    this.#plan = plan;
    this.#begin = () => {
      const onProgress = ({ trials }: { readonly trials: number }) => (this.#trials = trials);
      return answerOfRun(plan, this.#runTrial, wanted, { ...this.#limits, onProgress }, this.#making);
    };
    // A page of a table skips the trials before it. JSON needs all trials of its conditions.
    const isTable = (TABLE_FORMATS as readonly Format[]).includes(wanted.format);
    const fromTrial = isTable ? wanted.page?.trial : 0;
    return this.turn(() => ({
      ...plannedOf(plan, wanted.from, fromTrial, writtenReports(plan, wanted)),
      // Two experiments of one id may differ in the order of names, and so do their answers.
      order: orderOfNames(plan.head.experiment),
      // True for a published experiment.
      isExample: this.parts.examples.has(plan.head.id),
    }));
  }

  /**
   * Plans to draw the planned answer from a stored one in another format, instead of running it.
   * @returns false if the stored answer does not have everything
   */
  async planDrawing(stored: Uint8Array, wanted: AnswerRequest): Promise<boolean> {
    const answer = await answerOfStored(this.#plan!, stored, wanted, this.#making);
    if (answer === undefined) return false;
    this.#begin = async () => answer;
    return true;
  }

  /** Plans a job; see dryRun. */
  async planJob(text: string | undefined, from: number, limits: DocumentLimits): Promise<PlannedJob> {
    const plan = await this.parts.planner.plan(this, text, limits);
    return this.turn(() => {
      plan.checkFrom(from);
      return {
        ...plannedOf(plan, from),
        document: plan.head.experiment,
        needed: neededCells(plan, from).length,
        phases: phasesOf(plan.grid, from),
      };
    });
  }

  async planSession(text: string | undefined, limits: DocumentLimits): Promise<Transferred<SessionPlan>> {
    const plan = await this.parts.planner.planSession(this, text, limits);
    return this.turn(() => {
      const arrays: Uint8Array<ArrayBuffer>[] = [];
      const { protocol, neuronsOfReports } = plan;
      const document = packed(plan.document) as ExperimentDocument;
      const moved = withMovedArrays({ document, protocol, neuronsOfReports }, (bytes) => {
        arrays.push(new Uint8Array(bytes));
        return arrays.at(-1)!;
      });
      const arrayBytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
      return new Transferred({ ...plan, ...moved, arrayBytes }, arrays);
    });
  }

  /**
   * @param isWhole true if the silence lasts for the whole trial, so it has no window
   * @returns the neurons of the last silence in the document of a session
   */
  async silencedNeurons(
    document: object,
    isWhole: boolean,
    limits: DocumentLimits,
  ): Promise<Transferred<Uint32Array<ArrayBuffer>>> {
    const text = await inTurns(this.turn, packedJson(document));
    const { protocol } = await this.parts.planner.planSession(this, text, limits);
    const neurons = Uint32Array.from(isWhole ? protocol.silenced : protocol.silencedWindows!.at(-1)!.neurons);
    return new Transferred(neurons, [neurons]);
  }

  /** @returns the document of a session as JSON */
  async sessionDocument(document: object): Promise<Transferred<Uint8Array<ArrayBuffer>>> {
    const bytes = new TextEncoder().encode(await inTurns(this.turn, packedJson(document)));
    return new Transferred(bytes, [bytes]);
  }

  /** @returns the conditions of each phase */
  async openJob(job: AcceptedJob): Promise<number[][]> {
    const { plan } = await this.parts.planner.planOfJob(this, job);
    return this.turn(() => phasesOf(plan.grid, job.from));
  }

  async planResults(job: AcceptedJob, wanted: ResultsRequest): Promise<void> {
    const { plan } = await this.parts.planner.planOfJob(this, job);
    if (plan.head.id !== job.experimentId) throw otherVersion();
    await this.turn(() => checkRequest(plan, wanted, wanted.limitRows));
    if (wanted.from < job.from) {
      const [name, given] =
        wanted.page === undefined ? ['from', wanted.from] : ['page', pageText(wanted.page)];
      throw new CodedError(
        'INVALID_PARAMETER',
        `${name} must be at least ${job.from}, the first condition of the job, got ${given}.`,
        { path: '' },
      );
    }
    this.#plan = plan;
    this.#begin = () => {
      const results = this.#readResults(neededCells(plan, wanted.from, writtenReports(plan, wanted)));
      return answerOfResults(plan, results, wanted, wanted, this.#making);
    };
  }

  async planChunk(job: AcceptedJob, indices: readonly number[]): Promise<void> {
    const { plan, conditions } = await this.parts.planner.planOfJob(this, job);
    this.#plan = plan;
    const pieces = this.#computeConditions(plan, conditions, indices);
    this.#begin = async () => ({ truncated: false, pieces });
  }

  /**
   * Begins the planned answer. Conditions are computed when their pieces are requested. A table of events is computed
   * at once, because its head says whether rows were cut.
   */
  async begin(maxInFlight: number): Promise<AnswerHead> {
    // The heap watch may have ended it since it was planned.
    this.#stop.signal.throwIfAborted();
    this.#maxInFlight = maxInFlight;
    const { pieces, ...head } = await this.#begin!();
    this.#pieces = pieces;
    return head;
  }

  /** @returns undefined at the end */
  async next(): Promise<Transferred<AnswerPiece | ConditionPiece> | undefined> {
    this.#stop.signal.throwIfAborted();
    const { done, value } = await this.#pieces!.next();
    return done === true ? undefined : new Transferred(value, [value.bytes]);
  }

  /** @param maxInFlight number of trials that may be pending from now on */
  setMaxInFlight(maxInFlight: number): void {
    this.#maxInFlight = maxInFlight;
  }

  stop(failure: Failure): void {
    this.#stop.abort(CodedError.fromFailure(failure));
  }

  /** Ends the work; the service sends no more calls. */
  end(): void {
    this.stop({ code: 'RUN_CANCELLED', message: 'The request is over.' });
    this.onEnd();
  }

  /**
   * A measure of its memory, in numbers held: conditions, the input trains of one trial of each, numbers of groups,
   * and rows of tables so far. 0 if it was stopped or has no plan.
   */
  get size(): number {
    const plan = this.#plan;
    if (plan === undefined || this.#stop.signal.aborted) return 0;
    const work = plan.cost.work();
    return plan.grid.size + work.trains / plan.trials + groupNumbersOf(work) + this.#bundles.tableRows;
  }

  /** Ends the work because memory is short, and drops its data. */
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

  /** How an answer is written. */
  get #making() {
    return { turn: this.turn, pieceBytes: PIECE_BYTES };
  }

  /** The end of the work, and the limits of what it requests at once. */
  get #limits() {
    return {
      signal: this.#stop.signal,
      inFlight: () => this.#bundles.inFlight(this.#maxInFlight),
      // Each worker has a current and a prefetched trial.
      wiringsAtOnce: () => Math.min(MAX_WIRINGS_AT_ONCE, Math.ceil(this.#maxInFlight / TRIALS_OF_WORKER)),
    };
  }

  /** Reads stored results of a job from the service, a limited number at once. */
  async *#readResults(
    indices: readonly number[],
  ): AsyncGenerator<readonly [index: number, result: ConditionResult | undefined], void, void> {
    for (let first = 0; first < indices.length; first += READ_AT_ONCE) {
      const some = indices.slice(first, first + READ_AT_ONCE);
      const results = await this.parts.service.call(this.workId, 'storedResults', some);
      for (const [at, index] of some.entries()) {
        const bytes = results[at];
        yield [index, bytes && (await decodeResult(bytes, this.turn))];
      }
    }
  }

  async *#computeConditions(
    plan: ExperimentPlan,
    conditions: ChunkRunner,
    indices: readonly number[],
  ): AsyncGenerator<ConditionPiece, void, undefined> {
    const load = async (index: number): Promise<ConditionResult> => {
      for await (const [, result] of this.#readResults([index])) if (result !== undefined) return result;
      throw new CodedError('RUN_CANCELLED', 'The job has ended.');
    };
    const { turn } = this;
    const options = { ...this.#limits, turn };
    for await (const [index, result] of conditions.run(indices, load, this.#runTrial, options)) {
      // Copied, because a slice of Node's buffer pool cannot be transferred.
      const bytes = Uint8Array.from(await encodeResult(result, turn));
      yield { index, bytes, brainMs: plan.cost.brainMsOf(index) };
    }
  }
}

/** Returns the work that takes most memory, by its plan and its trials so far. */
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
