/**
 * A trial that goes on as it is asked to, step by step. Between steps it is a state in shared memory that any worker takes
 * up. A step that fails leaves everything as it was.
 */
import { randomBytes } from 'node:crypto';
import type { Connectome } from '../connectome/connectome.js';
import { modelId } from '../connectome/model-id.js';
import type { SetSelector } from '../connectome/set-selector.js';
import { CodedError } from '../errors.js';
import { conditionJson } from '../experiments/formats/answer-json.js';
import type { PlannedReport, ReportTask } from '../experiments/kinds/report-kind.js';
import { kindOf } from '../experiments/kinds/report-kinds.js';
import { groupsOf } from '../experiments/plan/groups.js';
import { reportTask } from '../experiments/plan/planned-reports.js';
import { expectedWork, priceMs, tableRowsOf, type Work } from '../experiments/plan/prices.js';
import type { SessionPlan } from '../experiments/plan/session-plan.js';
import {
  type ConditionProtocol,
  type PartState,
  type StepReading,
  trialTask,
} from '../experiments/plan/trial.js';
import { conditionResult } from '../experiments/run/condition-result.js';
import type { ExperimentQueue } from '../scheduling/experiment-queue.js';
import { STEPS_PER_MS } from '../stimulus/protocol.js';
import { type Changes, LONGEST_STEP_MS, type StepRequest } from './step.js';
import { type NewSilence, Timeline, type TimelineLimits } from './timeline.js';

/** Rows of all tables of a step: they are written on the main thread, where runs of version 1 wait for them. */
const ROWS_OF_STEP = 10_000;
const NAME_BYTES = 16;
/** Going on with a train costs about a quarter of beginning one, which is what its price is for. */
const SHARE_OF_TRAIN = 1 / 4;

/** Parts of the service that a session needs. */
export interface SessionParts {
  readonly connectome: Connectome;
  readonly queue: Pick<ExperimentQueue, 'runStep'>;
  readonly owner: string;
  readonly limits: TimelineLimits & { readonly samples: number };
}

/** Services of the request of a step. */
export interface StepHost {
  /** @throws CodedError where the document is none that the service takes */
  plan(document: object): Promise<SessionPlan>;
  /**
   * Raises creditMs of the session to this price at least, which the step then takes from it.
   * @throws CodedError where the client may not simulate so much at present
   */
  charge(session: Session, brainMs: number): Promise<void>;
}

interface Asked {
  readonly key: string;
  readonly answer: Promise<string>;
}

/** Steps of all sessions are numbered together; see SessionStep. */
let stepsBegun = 0;

export class Session {
  readonly name = randomBytes(NAME_BYTES).toString('base64url');
  readonly #reports: readonly PlannedReport[];
  readonly #inputNames: readonly string[];
  readonly #end = new AbortController();
  #state: PartState | undefined;
  /** The state before it: the next one is written to its memory, so that the present one stays for a repetition. */
  #spare: PartState | undefined;
  /** True where a branch goes on from the same state, which then nobody may overwrite. */
  #isShared = false;
  #lastNumber: number | undefined;
  #synapticEvents = 0;
  #stoppedAtMs: number | undefined;
  /** The step under way, or the last one: it may be asked for again. */
  #asked: Asked | undefined;
  #isUnderWay = false;
  /** Brain time that was paid in advance and is not used. */
  creditMs = 0;
  /** Price of what was simulated before the first step. */
  startPriceMs = 0;

  private constructor(
    readonly plan: SessionPlan,
    private readonly parts: SessionParts,
    private readonly timeline: Timeline,
  ) {
    const { connectome } = parts;
    this.#inputNames = Object.keys(plan.document.inputs);
    this.#reports = Object.entries(plan.document.reports).map(([name, document], at) => {
      const read = plan.neuronsOfReports[at]!;
      return { name, document, ...read, groups: groupsOf(connectome, read.neurons, document.group_by) };
    });
  }

  /**
   * Resolves when what its document has is simulated.
   * @param signal ends it before
   * @throws CodedError SESSION_FULL, what a part of its trial fails with, the reason of the signal
   */
  static async open(plan: SessionPlan, parts: SessionParts, signal: AbortSignal): Promise<Session> {
    const session = new Session(plan, parts, new Timeline(plan, parts.limits));
    const end = () => session.end(signal.reason as CodedError);
    signal.addEventListener('abort', end);
    const expected = expectedWork({ protocol: plan.protocol, reports: [], countsAll: false });
    let inputEvents = 0;
    let rewiredConnections = 0;
    for (let fromMs = 0; fromMs < plan.startMs; fromMs += LONGEST_STEP_MS) {
      const toMs = Math.min(fromMs + LONGEST_STEP_MS, plan.startMs);
      const reading = await session.#run(plan.protocol, fromMs, toMs, [], false);
      inputEvents += reading.inputEvents;
      if (reading.hadToPrepare) rewiredConnections += plan.preparation?.rewiredConnections ?? 0;
      if (reading.stoppedAtStep !== undefined) {
        const stoppedMs = (reading.stoppedAtStep + 1) / STEPS_PER_MS;
        throw stopped(stoppedMs);
      }
    }
    signal.removeEventListener('abort', end);
    const synapticEvents = session.#synapticEvents;
    if (plan.startMs > 0) {
      session.startPriceMs = priceMs({ ...expected, rewiredConnections, inputEvents, synapticEvents });
    }
    return session;
  }

  /** Tells whether a step is being computed. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  get tMs(): number {
    return this.timeline.tMs;
  }

  /** Members of the answer that says where it is. */
  get status(): object {
    const { metadata, digest } = this.parts.connectome;
    const wiring = this.plan.protocol.wiring === undefined ? metadata.wiring : 'rewired';
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

  /**
   * Answers a step. The same one may be asked for again, also while it is computed.
   * @returns the answer as JSON
   * @throws CodedError STEP_OUT_OF_ORDER, SESSION_FULL, INVALID_PARAMETER, and what its trial or the host fails with
   */
  step(request: StepRequest, readsDrives: boolean, host: StepHost): Promise<string> {
    const { t_ms: tMs, duration_ms: durationMs, rates_hz: rates = {}, silence } = request;
    const key = JSON.stringify([tMs, durationMs, Object.entries(rates).sort(), silence, readsDrives]);
    if (this.#asked?.key === key) return this.#asked.answer;
    if (tMs !== this.tMs) {
      const now = String(this.tMs);
      return Promise.reject(outOfOrder(`t_ms must be ${now}, where the session is, got ${tMs}.`, now));
    }
    if (this.#isUnderWay) {
      const underWay = `Another step from ${tMs} ms is being computed; a session takes one after another.`;
      return Promise.reject(outOfOrder(underWay));
    }
    this.#isUnderWay = true;
    const before = this.#asked;
    const answer = this.#step(request, readsDrives, host)
      .catch((error: unknown) => {
        this.#asked = before;
        throw error;
      })
      .finally(() => (this.#isUnderWay = false));
    this.#asked = { key, answer };
    return answer;
  }

  /** A second session that goes on from here by itself. */
  async branch({ rates_hz: rates, silence }: Changes, host: StepHost): Promise<Session> {
    if (this.#isUnderWay) {
      throw outOfOrder('A step is being computed; a session can be branched between two of them.');
    }
    const branch = new Session(this.plan, this.parts, this.timeline.copy());
    branch.#state = this.#state;
    this.#isShared = branch.#isShared = true;
    branch.#lastNumber = this.#lastNumber;
    branch.#synapticEvents = this.#synapticEvents;
    branch.#stoppedAtMs = this.#stoppedAtMs;
    branch.timeline.checkRates(rates);
    branch.timeline.change(rates, await branch.#newSilence(silence, host));
    return branch;
  }

  /** Ends it: a step under way fails. */
  end(reason: CodedError): void {
    this.#end.abort(reason);
  }

  async #step(request: StepRequest, readsDrives: boolean, host: StepHost): Promise<string> {
    if (this.#stoppedAtMs !== undefined) throw stopped(this.#stoppedAtMs);
    const { t_ms: tMs, duration_ms: durationMs, rates_hz: rates } = request;
    const toMs = tMs + durationMs;
    this.timeline.checkRates(rates);
    const silenced = await this.#newSilence(request.silence, host);
    const next = this.timeline.next(toMs, rates, silenced);
    const reports = this.#reports.map((report) => stepTask(report, tMs, toMs));
    const expected = this.#expectedWork(next.protocol, reports, durationMs);
    const expectedMs = priceMs(expected);
    await host.charge(this, expectedMs);
    const synapticEventsBefore = this.#synapticEvents;
    // A step is paid when a worker may get it, also if the session is ended before its answer.
    this.creditMs -= expectedMs;
    const reading = await this.#run(next.protocol, tMs, toMs, reports, readsDrives).catch(
      (error: unknown) => {
        if (!this.#end.signal.aborted) this.creditMs += expectedMs;
        throw error;
      },
    );
    this.timeline.change(rates, silenced);
    this.timeline.advance(toMs, next);
    const synapticEvents = reading.synapticEvents - synapticEventsBefore;
    const { inputEvents } = reading;
    const preparation = reading.hadToPrepare ? this.plan.preparation : { rewiredConnections: 0 };
    const found = {
      ...expected,
      ...preparation,
      inputEvents,
      synapticEvents,
      tableRows: tableRowsOf(reading),
    };
    this.creditMs += expectedMs - priceMs(found);
    if (reading.stoppedAtStep !== undefined) this.#stoppedAtMs = (reading.stoppedAtStep + 1) / STEPS_PER_MS;
    return this.#answer(reading, reports, synapticEvents, toMs);
  }

  /** @throws CodedError TOO_EXPENSIVE for more samples than an experiment may have */
  #expectedWork(protocol: ConditionProtocol, reports: readonly ReportTask[], durationMs: number): Work {
    const durationSteps = durationMs * STEPS_PER_MS;
    const work = expectedWork({ protocol: { ...protocol, durationSteps }, reports, countsAll: false });
    const { samples = 0, trains = 0 } = work;
    const maximum = this.parts.limits.samples;
    if (samples > maximum) {
      throw new CodedError(
        'TOO_EXPENSIVE',
        `A step of ${durationMs} ms has ${samples} membrane potentials; at most ${maximum} are allowed. ` +
          'With a shorter step, fewer neurons or a larger dt_ms it would fit.',
        { path: '/duration_ms' },
      );
    }
    return { ...work, ...this.plan.preparation, trains: trains * SHARE_OF_TRAIN };
  }

  async #newSilence(
    items: readonly SetSelector[] | undefined,
    host: StepHost,
  ): Promise<NewSilence | undefined> {
    if (items === undefined || this.timeline.isSilencing(items)) return undefined;
    if (items.length === 0) return { items, neurons: new Uint32Array(0) };
    const { protocol } = await host.plan(this.timeline.documentSilencing(items));
    // The last of the windows is theirs; a silence from the start on has none.
    const neurons = this.tMs === 0 ? protocol.silenced : protocol.silencedWindows!.at(-1)!.neurons;
    return { items, neurons };
  }

  async #run(
    protocol: ConditionProtocol,
    fromMs: number,
    toMs: number,
    reports: readonly ReportTask[],
    readsDrives: boolean,
  ): Promise<StepReading> {
    const { queue, owner } = this.parts;
    const task = trialTask(
      {
        protocol,
        reports,
        countsAll: false,
        maximumRows: ROWS_OF_STEP,
        ...(this.plan.preparation && { preparation: this.plan.preparation }),
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
      memoryAfter: this.#spare,
      synapticEvents: this.#synapticEvents,
      readsDrives,
    };
    const reading = await queue.runStep(task, step, { owner, signal: this.#end.signal });
    this.#spare = this.#isShared ? undefined : this.#state;
    this.#isShared = false;
    this.#state = reading.state;
    this.#lastNumber = number;
    this.#synapticEvents = reading.synapticEvents;
    return reading;
  }

  #answer(reading: StepReading, tasks: readonly ReportTask[], synapticEvents: number, toMs: number): string {
    const { spikes, responding, inputEvents, stoppedAtStep, drives } = reading;
    const counts = this.#reports.map((report, at) => {
      const task = tasks[at]!;
      const sum = kindOf(task).sum(task, { groups: report.groups, trials: 1, inputNames: this.#inputNames });
      sum.add(0, reading.reports[at]!, true);
      return sum.counts();
    });
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
    const { stopped_at_ms: stoppedAtMs, reports } = conditionResult(condition, this.#reports);
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
    return [...conditionJson(answer, this.parts.connectome)].join('');
  }
}

function stepTask(report: PlannedReport, fromMs: number, toMs: number): ReportTask {
  const document = { ...report.document, start_ms: fromMs, end_ms: toMs };
  return reportTask({ ...report, document }, toMs, ROWS_OF_STEP);
}

function outOfOrder(message: string, now?: string): CodedError {
  return new CodedError('STEP_OUT_OF_ORDER', message, {
    path: '/t_ms',
    ...(now !== undefined && { suggestions: [now] }),
  });
}

function stopped(atMs: number): CodedError {
  return new CodedError(
    'SESSION_FULL',
    `The session was stopped at ${atMs} ms, where it exceeded the limit on synaptic events.`,
  );
}
