/**
 * A trial that continues step by step on request. Between steps its state is in shared memory, and any worker can
 * continue it. A step that fails changes nothing.
 */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { modelId } from '../../engine/connectome/model-id.js';
import type { SetSelector } from '../../engine/connectome/set-selector.js';
import { CodedError } from '../../engine/errors.js';
import { conditionBytes } from '../formats/answer-json.js';
import type { PlannedReport, ReportCounts, ReportTask } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { reportTask } from '../plan/planned-reports.js';
import { expectedWork, priceMs, sendingMs, tableRowsOf, type Work } from '../plan/prices.js';
import { reportsOfSession, type SessionPlan, startWork } from '../plan/session-plan.js';
import {
  type ConditionProtocol,
  type SegmentState,
  type SessionStep,
  type StepResult,
  trialTask,
  type TrialTask,
} from '../plan/trial.js';
import type { InParts } from '../../engine/parts.js';
import { answeredCondition } from '../run/answered-condition.js';
import type { Paced } from '../run/turn.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { type Changes, MAX_STEP_MS, outOfOrder, type StepRequest, stopped } from './step.js';
import { type NewSilence, Timeline, type TimelineLimits } from './timeline.js';

/** Limit of table rows in a step. The main thread writes them, and runs of version 1 wait meanwhile. */
const ROWS_OF_STEP = 10_000;
/** Resuming an input train costs about a quarter of starting one, and the price of a train is that of starting it. */
const SHARE_OF_TRAIN = 1 / 4;

/** Memory of a session and of its branches. */
export interface SessionStates {
  readonly plan: SessionPlan;
  /**
   * Allocates memory for one more session.
   * @returns a function to call once when the session has ended
   * @throws CodedError QUEUE_FULL
   */
  enter(client: string): () => void;
  /** @returns memory for the state that a step will write */
  take(): SegmentState;
  /** Called if one more session holds a state. */
  share(state: SegmentState): void;
  giveBack(state: SegmentState): void;
  /**
   * Stores neurons that a step names, for as long as the plan.
   * @returns the stored neurons, and a function that frees them early if the step fails
   * @throws CodedError QUEUE_FULL
   */
  keep(client: string, neurons: Uint32Array): readonly [stored: Uint32Array, forget: () => void];
  /**
   * Keeps the arrays of the plan, which somebody reads, even if the session ends meanwhile.
   * @returns a function to call once when they were read
   */
  hold(): () => void;
}

export interface StepOptions {
  /** The client that steps. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Called if the step failed, once nobody writes its state any more. */
  readonly onAbandoned: () => void;
}

/** Everything that a session needs of the program that runs it. */
export interface SessionParts {
  /** Random in a service: whoever knows the name can continue the session. */
  readonly newName: () => string;
  readonly states: SessionStates;
  readonly connectome: Connectome;
  readonly runStep: (task: TrialTask, step: SessionStep, options: StepOptions) => Promise<StepResult>;
  readonly owner: string;
  readonly limits: TimelineLimits & { readonly samples: number };
  /** Called with the price of what was simulated before the first step, also if that failed. */
  readonly onStarted?: (priceMs: number) => void;
}

/** A document whose last silence has the selectors of a request. Its plan resolves them to neurons. */
export type SilenceToPlan = NonNullable<ReturnType<Session['silenceToPlan']>>;

/** A step with its expected price, which must be paid before it is computed. */
type PlannedStep = ReturnType<Session['planStep']>;

/** All sessions share one numbering of steps; see SessionStep. */
let stepsBegun = 0;

export class Session {
  readonly name: string;
  readonly #reports: readonly PlannedReport[];
  readonly #inputNames: readonly string[];
  readonly #end = new AbortController();
  #state: SegmentState | undefined;
  #lastNumber: number | undefined;
  #synapticEvents = 0;
  /** The most rows of tables in a step so far. Rows are not known before a step, and the next one may have as many. */
  #rowsPerMs = 0;
  #stoppedAtMs: number | undefined;

  private constructor(
    private readonly parts: SessionParts,
    private readonly timeline: Timeline,
    reports?: readonly PlannedReport[],
  ) {
    const { plan } = parts.states;
    this.name = parts.newName();
    this.#inputNames = Object.keys(plan.document.inputs);
    this.#reports = reports ?? reportsOfSession(plan);
  }

  /**
   * Simulates up to the end of the document's duration, then resolves.
   * @param signal ends the session meanwhile
   * @throws CodedError SESSION_FULL; the failure of a segment of its trial; the reason of the signal
   */
  static async open(parts: SessionParts, signal: AbortSignal): Promise<Session> {
    const { plan } = parts.states;
    const session = new Session(parts, new Timeline(plan, parts.limits));
    const end = () => session.end(signal.reason as CodedError);
    signal.addEventListener('abort', end);
    try {
      await session.#start();
      return session;
    } catch (error) {
      session.end(error as CodedError);
      throw error;
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  get #plan(): SessionPlan {
    return this.parts.states.plan;
  }

  get tMs(): number {
    return this.timeline.tMs;
  }

  /** Members of the answer about the session's state. */
  get status(): object {
    const { metadata, digest } = this.parts.connectome;
    const wiring = this.#plan.protocol.wiring === undefined ? metadata.wiring : 'rewired';
    return {
      session: this.name,
      t_ms: this.tMs,
      ...(this.#stoppedAtMs !== undefined && { stopped_at_ms: this.#stoppedAtMs }),
      rates_hz: this.timeline.ratesHz,
      model: modelId({ metadata: { ...metadata, wiring }, digest }),
    };
  }

  document(): object {
    return this.timeline.document();
  }

  /** Price of sending the document. */
  get documentMs(): number {
    return sendingMs(this.timeline.documentBytes);
  }

  /** @throws CodedError STEP_OUT_OF_ORDER; SESSION_FULL if the trial was stopped */
  checkStep({ t_ms: tMs }: StepRequest): void {
    if (tMs !== this.tMs) {
      const now = String(this.tMs);
      throw outOfOrder(`t_ms must be ${now}, where the session is, got ${tMs}.`, now);
    }
    if (this.#stoppedAtMs !== undefined) throw stopped(this.#stoppedAtMs);
  }

  /**
   * @returns the silence of a request, if it must be planned before planStep or change
   * @throws CodedError INVALID_PARAMETER for the rates of the request
   */
  silenceToPlan({ rates_hz: rates, silence }: Changes) {
    this.timeline.checkRates(rates);
    if (silence === undefined || silence.length === 0 || this.timeline.isSilencing(silence)) return undefined;
    /** `document` is packed; `isWhole` is true if the silence lasts the whole trial. */
    return { document: this.timeline.documentSilencing(silence), isWhole: this.tMs === 0 };
  }

  /**
   * Plans a step. If it is not run, it must be dropped.
   * @param neurons those of silenceToPlan
   * @throws CodedError SESSION_FULL; TOO_EXPENSIVE if the step records more samples than an experiment may have; the
   *   reason of the session's end
   */
  planStep(request: StepRequest, neurons: Uint32Array | undefined) {
    const { t_ms: tMs, duration_ms: durationMs, rates_hz: rates } = request;
    this.#end.signal.throwIfAborted();
    const toMs = tMs + durationMs;
    const silenced = this.#newSilence(request.silence, neurons);
    try {
      const next = this.timeline.next(toMs, rates, silenced);
      const reports = this.#reports.map((report) => stepTask(report, tMs, toMs));
      const expected = this.#expectedWork(next.protocol, reports, tMs, toMs, next.raisedEvents);
      return { request, silenced, next, reports, expected, priceMs: priceMs(expected) };
    } catch (error) {
      silenced?.forget?.();
      throw error;
    }
  }

  drop({ silenced }: PlannedStep): void {
    silenced?.forget?.();
  }

  /**
   * Computes the next step; a session computes one at a time.
   * @param paced writes the answer
   * @returns the answer as JSON, and the price of the work that was done
   * @throws CodedError failures of the trial; the reason of the session's end
   */
  async run(step: PlannedStep, readsDrives: boolean, paced: Paced) {
    const { request, silenced, next, reports, expected } = step;
    const toMs = request.t_ms + request.duration_ms;
    const synapticEventsBefore = this.#synapticEvents;
    let result: StepResult;
    try {
      result = await this.#run(next.protocol, request.t_ms, toMs, reports, readsDrives, expected);
    } catch (error) {
      this.drop(step);
      throw error;
    }
    this.timeline.change(request.rates_hz, silenced);
    this.timeline.advance(toMs, next);
    if (result.stoppedAtStep !== undefined) this.#stoppedAtMs = (result.stoppedAtStep + 1) / STEPS_PER_MS;
    const synapticEvents = result.synapticEvents - synapticEventsBefore;
    const preparation = result.hadToPrepare ? this.#plan.preparation : { rewiredConnections: 0 };
    const { inputEvents } = result;
    const tableRows = tableRowsOf(result);
    this.#rowsPerMs = Math.max(this.#rowsPerMs, tableRows / request.duration_ms);
    const found = { ...expected, ...preparation, inputEvents, synapticEvents, tableRows };
    const answer = await this.reading(() => paced(this.#answer(result, reports, synapticEvents, toMs)));
    return { answer, priceMs: priceMs(found) };
  }

  /**
   * Does work that reads the session's document or its reports. Their memory is kept meanwhile, even if the session ends.
   * @throws CodedError the reason of the session's end
   */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    this.#end.signal.throwIfAborted();
    const release = this.parts.states.hold();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Allocates memory for a branch of this session; see SessionStates. */
  enter(client: string): () => void {
    return this.parts.states.enter(client);
  }

  /**
   * Creates a second, independent session that continues from here. Its memory must be allocated before.
   * @throws CodedError the reason of the session's end
   */
  branch(): Session {
    this.#end.signal.throwIfAborted();
    const branch = new Session(this.parts, this.timeline.copy(), this.#reports);
    branch.#state = this.#state;
    if (this.#state !== undefined) this.parts.states.share(this.#state);
    branch.#lastNumber = this.#lastNumber;
    branch.#synapticEvents = this.#synapticEvents;
    branch.#rowsPerMs = this.#rowsPerMs;
    branch.#stoppedAtMs = this.#stoppedAtMs;
    return branch;
  }

  /**
   * Changes rates and silences from now on.
   * @param neurons those of silenceToPlan
   * @throws CodedError QUEUE_FULL if there is no memory for the neurons
   */
  change({ rates_hz: rates, silence }: Changes, neurons: Uint32Array | undefined): void {
    this.timeline.change(rates, this.#newSilence(silence, neurons));
  }

  /** Ends the session; a pending step fails. */
  end(reason: CodedError): void {
    this.#end.abort(reason);
    if (this.#state !== undefined) this.parts.states.giveBack(this.#state);
    this.#state = undefined;
  }

  /** Simulates the duration of the document. */
  async #start(): Promise<void> {
    const plan = this.#plan;
    if (plan.startMs === 0) return;
    let [begunMs, simulatedMs, inputEvents, rewiredConnections] = [0, 0, 0, 0];
    try {
      for (let fromMs = 0; fromMs < plan.startMs; fromMs += MAX_STEP_MS) {
        const toMs = Math.min(fromMs + MAX_STEP_MS, plan.startMs);
        begunMs = toMs;
        const result = await this.#run(plan.protocol, fromMs, toMs);
        simulatedMs = toMs;
        inputEvents += result.inputEvents;
        if (result.hadToPrepare) rewiredConnections += plan.preparation?.rewiredConnections ?? 0;
        if (result.stoppedAtStep !== undefined) throw stopped((result.stoppedAtStep + 1) / STEPS_PER_MS);
      }
    } finally {
      const synapticEvents = this.#synapticEvents;
      // If nobody waits any more, a worker still ends the segment that it has begun.
      const work = this.#end.signal.aborted
        ? { ...startWork(plan, begunMs), ...plan.preparation, synapticEvents }
        : { ...startWork(plan, simulatedMs), rewiredConnections, inputEvents, synapticEvents };
      this.parts.onStarted?.(priceMs(work));
    }
  }

  /** @throws CodedError TOO_EXPENSIVE if the step records more samples than an experiment may have */
  #expectedWork(
    protocol: ConditionProtocol,
    reports: readonly ReportTask[],
    fromMs: number,
    toMs: number,
    raisedEvents = 0,
  ): Work {
    const task = { protocol: { ...protocol, durationSteps: toMs * STEPS_PER_MS }, reports, countsAll: false };
    const work = expectedWork(task, fromMs * STEPS_PER_MS);
    const { samples = 0, trains = 0, hiddenEvents = 0 } = work;
    const maximum = this.parts.limits.samples;
    if (samples > maximum) {
      throw new CodedError(
        'TOO_EXPENSIVE',
        `A step of ${toMs - fromMs} ms has ${samples} membrane potentials; at most ${maximum} are allowed. ` +
          'With a shorter step, fewer neurons or a larger dt_ms it would fit.',
        { path: '/duration_ms' },
      );
    }
    const drawn = { trains: trains * SHARE_OF_TRAIN, hiddenEvents: hiddenEvents + raisedEvents };
    return { ...work, ...this.#plan.preparation, ...drawn };
  }

  #newSilence(
    items: readonly SetSelector[] | undefined,
    neurons: Uint32Array | undefined,
  ): NewSilence | undefined {
    if (items === undefined || this.timeline.isSilencing(items)) return undefined;
    if (neurons === undefined) return { items, neurons: new Uint32Array(0) };
    const [stored, forget] = this.parts.states.keep(this.parts.owner, neurons);
    return { items, neurons: stored, forget };
  }

  async #run(
    protocol: ConditionProtocol,
    fromMs: number,
    toMs: number,
    reports: readonly ReportTask[] = [],
    readsDrives = false,
    expected = this.#expectedWork(protocol, reports, fromMs, toMs),
  ): Promise<StepResult> {
    const { runStep, owner, states } = this.parts;
    const { signal } = this.#end;
    signal.throwIfAborted();
    const after = states.take();
    const rows = Math.min(ROWS_OF_STEP, Math.ceil(this.#rowsPerMs * (toMs - fromMs)));
    const task = trialTask(
      {
        protocol,
        reports,
        countsAll: false,
        maxRows: ROWS_OF_STEP,
        expected: { ...expected, tableRows: Math.max(expected.tableRows ?? 0, rows) },
      },
      0,
    );
    const number = ++stepsBegun;
    const step = {
      startStep: fromMs * STEPS_PER_MS,
      endStep: toMs * STEPS_PER_MS,
      number,
      previousNumber: this.#lastNumber,
      stateBefore: this.#state,
      memoryAfter: after,
      synapticEvents: this.#synapticEvents,
      readsDrives,
    };
    const onAbandoned = () => states.giveBack(after);
    const result = await runStep(task, step, { owner, signal, onAbandoned });
    if (signal.aborted) {
      states.giveBack(after);
      throw signal.reason;
    }
    if (this.#state !== undefined) states.giveBack(this.#state);
    this.#state = after;
    this.#lastNumber = number;
    this.#synapticEvents = result.synapticEvents;
    return result;
  }

  *#answer(
    result: StepResult,
    tasks: readonly ReportTask[],
    synapticEvents: number,
    toMs: number,
  ): InParts<Uint8Array<ArrayBuffer>> {
    const { spikes, responding, inputEvents, stoppedAtStep, drives } = result;
    const counts: ReportCounts[] = [];
    for (const [at, { groups }] of this.#reports.entries()) {
      const task = tasks[at]!;
      const sum = kindOf(task).sum(task, { groups, trials: 1, inputNames: this.#inputNames });
      sum.add(0, result.reports[at]!, true);
      counts.push(sum.counts());
      yield;
    }
    const condition = {
      index: 0,
      parameters: {},
      ...(stoppedAtStep !== undefined && { stoppedAtStep }),
      spikes: [spikes],
      responding: [responding],
      respondingInAny: responding,
      synapticEvents,
      reports: counts,
    };
    const { stopped_at_ms: stoppedAtMs, reports } = answeredCondition(condition, this.#reports);
    const answer = {
      t_ms: toMs,
      spikes,
      responding_neurons: responding,
      input_events: inputEvents,
      synaptic_events: synapticEvents,
      ...(stoppedAtMs !== undefined && { stopped_at_ms: stoppedAtMs }),
      ...(drives && { drive: drives }),
      reports,
    };
    return yield* conditionBytes(answer, this.parts.connectome);
  }
}

function stepTask(report: PlannedReport, fromMs: number, toMs: number): ReportTask {
  const document = { ...report.document, start_ms: fromMs, end_ms: toMs };
  return reportTask({ ...report, document }, toMs, ROWS_OF_STEP);
}
