/**
 * A session up to now as a document, and from now on as a protocol. Rates and silences are kept as they changed; the
 * document that is made of them has the same trial, spike for spike.
 */
import type { SetSelector } from '../connectome/set-selector.js';
import { CodedError } from '../errors.js';
import type { ExperimentDocument } from '../experiments/document/document.js';
import type { InputDocument } from '../experiments/document/kind-schemas.js';
import { expectedEvents } from '../experiments/plan/prices.js';
import type { SessionPlan } from '../experiments/plan/session-plan.js';
import type { ConditionProtocol } from '../experiments/plan/trial.js';
import { refused } from '../schema/json-path.js';
import { isObject } from '../schema/forms.js';
import {
  LONGEST_TRIAL_STEPS,
  MAXIMUM_RATE_HZ,
  type SilencedWindow,
  STEPS_PER_MS,
} from '../stimulus/protocol.js';
import { LONGEST_SESSION_MS, LONGEST_STEP_MS } from './step.js';

const MS_PER_SECOND = 1000;
/** Time after a window until all that was fired in it has arrived. */
const LONGEST_DELAY_MS = 20;
/** Items of `silence` of a document, and rates in time of all its inputs. */
const MAXIMUM_SILENCES = 64;
const MAXIMUM_RATES = 60_000;
/** Bytes of a silence beside its selectors, and of what else grows with the document. */
const SILENCE_BYTES = 64;
const SPARE_BYTES = 256;

/** Limits of documents, which a session may reach as it goes on. */
export interface TimelineLimits {
  readonly documentBytes: number;
  readonly brainSeconds: number;
  readonly inputEventsPerTrial: number;
  readonly inputEventsPerBrainSecond: number;
}

/** Rates of an input, each from its time up to the next. */
interface Course {
  readonly timesMs: number[];
  readonly values: number[];
  readonly scale: number;
}

/** Neurons that are silenced for some time. */
interface Silence {
  readonly items: readonly SetSelector[];
  readonly neurons: Uint32Array;
  readonly startMs: number;
  /** Undefined as long as it goes on. */
  readonly endMs: number | undefined;
}

/** A silence that begins now. */
export type NewSilence = Pick<Silence, 'items' | 'neurons'>;

/** The part of the trial that is next. Its protocol counts time from the start of the session, and has the rates of the step. */
export interface NextStep {
  readonly protocol: ConditionProtocol;
  /** Expected from the start of the session to the end of the step. */
  readonly inputEvents: number;
}

type RatedInput = InputDocument & { readonly rate_hz: unknown; readonly scale?: number };

export class Timeline {
  #tMs: number;
  /** Rates of the inputs whose rate a step can set. */
  #courses: ReadonlyMap<string, Course>;
  #silences: readonly Silence[];
  #inputEvents = 0;
  /** Bytes of the document, at most. */
  #bytes: number;

  constructor(
    private readonly plan: SessionPlan,
    private readonly limits: TimelineLimits,
  ) {
    const { document, startMs, protocol } = plan;
    this.#tMs = startMs;
    this.#courses = new Map(
      Object.entries(document.inputs).flatMap(([name, input]) => {
        const course = courseOf(input);
        return course === undefined ? [] : [[name, course] as const];
      }),
    );
    this.#silences = silencesOf(document, protocol);
    this.#inputEvents = eventsBetween(0, startMs, protocol);
    this.#bytes = Buffer.byteLength(JSON.stringify(document));
  }

  /** One that goes on from here by itself. */
  copy(): Timeline {
    const copy = new Timeline(this.plan, this.limits);
    copy.#tMs = this.#tMs;
    copy.#courses = new Map(
      [...this.#courses].map(([name, { timesMs, values, scale }]) => [
        name,
        { timesMs: [...timesMs], values: [...values], scale },
      ]),
    );
    copy.#silences = this.#silences;
    copy.#inputEvents = this.#inputEvents;
    copy.#bytes = this.#bytes;
    return copy;
  }

  get tMs(): number {
    return this.#tMs;
  }

  get ratesHz(): Record<string, number> {
    return Object.fromEntries([...this.#courses].map(([name, { values }]) => [name, values.at(-1)!]));
  }

  /** Tells whether these are the neurons that are silenced already. */
  isSilencing(items: readonly SetSelector[]): boolean {
    const now = this.#silences.filter(({ endMs }) => endMs === undefined).flatMap((silence) => silence.items);
    return JSON.stringify(now) === JSON.stringify(items);
  }

  /** @throws CodedError INVALID_PARAMETER */
  checkRates(rates: Readonly<Record<string, number>> = {}): void {
    for (const [name, rateHz] of Object.entries(rates)) {
      const course = this.#courses.get(name);
      if (course === undefined) {
        const names = [...this.#courses.keys()];
        const allowed = `an object of rates of ${names.length === 0 ? 'no input: this session has none whose rate can be set' : names.join(', ')}`;
        throw refused(['rates_hz'], name, allowed, names);
      }
      if (rateHz * course.scale > MAXIMUM_RATE_HZ) {
        const allowed = `at most ${MAXIMUM_RATE_HZ / course.scale}, since the input has a scale of ${course.scale}`;
        throw refused(['rates_hz', name], rateHz, allowed);
      }
    }
  }

  /**
   * The trial from now to a time, and the input events that it has on average. Windows of
   * silences may lie before it.
   * @param silenced neurons that are silenced from now on, in place of others
   * @throws CodedError INVALID_PARAMETER, SESSION_FULL where the document would be none that the service takes
   */
  next(toMs: number, rates: Readonly<Record<string, number>> = {}, silenced?: NewSilence): NextStep {
    this.checkRates(rates);
    const silences = silenced === undefined ? this.#silences : this.#silencesWith(silenced);
    const { brainSeconds, documentBytes, inputEventsPerTrial, inputEventsPerBrainSecond } = this.limits;
    const longestMs = Math.min(LONGEST_SESSION_MS, brainSeconds * MS_PER_SECOND);
    if (toMs > longestMs) throw full(`last longer than ${longestMs} ms`);
    if (this.#itemsOf(silences).length > MAXIMUM_SILENCES)
      throw full(`have more than ${MAXIMUM_SILENCES} silences`);
    const entries = [...this.#courses.values()].reduce((sum, { values }) => sum + values.length, 0);
    if (entries + Object.keys(rates).length > MAXIMUM_RATES)
      throw full(`have more than ${MAXIMUM_RATES} rates`);
    const bytes = this.#bytes + bytesOf(rates, this.#tMs) + (silenced ? bytesOfSilence(silenced) : 0);
    if (bytes + SPARE_BYTES > documentBytes) throw full(`take more than ${documentBytes} bytes`);
    const protocol = this.#protocol(toMs, rates, silences);
    const inputEvents = this.#inputEvents + eventsBetween(this.#tMs, toMs, protocol);
    const most = Math.max(inputEventsPerTrial, (inputEventsPerBrainSecond * toMs) / MS_PER_SECOND);
    if (inputEvents > most)
      throw full(`have ${Math.round(inputEvents)} input events; at most ${most} are allowed`);
    return { protocol, inputEvents };
  }

  #protocol(
    toMs: number,
    rates: Readonly<Record<string, number>>,
    silences: readonly Silence[],
  ): ConditionProtocol {
    const { protocol } = this.plan;
    const names = Object.keys(this.plan.document.inputs);
    const inputs = protocol.inputs.map(({ neurons, train }, at) => {
      if (train.kind === 'spikes') return { neurons, train };
      const name = names[at]!;
      const course = this.#courses.get(name);
      // Rates that last until the end of the plan go on.
      const endStep = train.endStep === protocol.durationSteps ? LONGEST_TRIAL_STEPS : train.endStep;
      if (train.kind === 'background' || course === undefined)
        return { neurons, train: { ...train, endStep } };
      const rateHz = (rates[name] ?? course.values.at(-1)!) * course.scale;
      return { neurons, train: { ...train, rateHz, endStep } };
    });
    const windows = silences.flatMap(({ neurons, startMs, endMs = Infinity }): SilencedWindow[] =>
      endMs + LONGEST_DELAY_MS <= this.#tMs || startMs >= endMs
        ? []
        : [{ neurons, startStep: stepAt(startMs), endStep: Math.min(stepAt(endMs), LONGEST_TRIAL_STEPS) }],
    );
    const { silencedWindows: _, ...rest } = protocol;
    return {
      ...rest,
      inputs,
      silenced: new Uint32Array(0),
      ...(windows.length > 0 && { silencedWindows: windows }),
      durationSteps: stepAt(toMs),
    };
  }

  /** Goes on to where a step has ended. */
  advance(toMs: number, { inputEvents }: NextStep): void {
    this.#inputEvents = inputEvents;
    this.#tMs = toMs;
  }

  /** Changes what holds from now on; rates were checked. */
  change(rates: Readonly<Record<string, number>> = {}, silenced?: NewSilence): void {
    for (const [name, rateHz] of Object.entries(rates)) {
      const { timesMs, values } = this.#courses.get(name)!;
      if (timesMs.at(-1) === this.#tMs) {
        timesMs.pop();
        values.pop();
      }
      if (values.at(-1) !== rateHz) {
        timesMs.push(this.#tMs);
        values.push(rateHz);
        this.#bytes += bytesOf({ [name]: rateHz }, this.#tMs);
      }
    }
    if (silenced === undefined) return;
    this.#silences = this.#silencesWith(silenced);
    this.#bytes += bytesOfSilence(silenced);
  }

  /** The session so far. At time 0 duration_ms is left out, as in a session that begins at rest. */
  document(): object {
    const { document } = this.plan;
    const { duration_ms: endMs } = document;
    const inputs = Object.entries(document.inputs).map(([name, input]) => {
      const { duration_ms: windowMs, ...rest } = input;
      const lastsToEnd = stepAt(input.delay_ms) + stepAt(windowMs!) === stepAt(endMs);
      const rated = { ...rest, ...(this.#courses.has(name) && { rate_hz: this.#rateOf(name) }) };
      return [name, lastsToEnd ? rated : { ...rated, duration_ms: windowMs }];
    });
    const reports = Object.entries(document.reports).map(([name, report]) => {
      const { start_ms: _start, end_ms: _end, ...rest } = report;
      return [name, rest];
    });
    const { duration_ms: _, ...rest } = document;
    return {
      ...rest,
      inputs: Object.fromEntries(inputs) as object,
      silence: this.#itemsOf(this.#silences.filter(({ startMs }) => startMs === 0 || startMs < this.#tMs)),
      ...(this.#tMs > 0 && { duration_ms: this.#tMs }),
      reports: Object.fromEntries(reports) as object,
    };
  }

  /** The document with these silenced from now on: planning it resolves the selectors. */
  documentSilencing(items: readonly SetSelector[]): object {
    const silenced = { items, neurons: new Uint32Array(0) };
    // Rates have been checked, and take long to read.
    const { inputs } = this.plan.document;
    const longestMs = Math.min(LONGEST_SESSION_MS, MS_PER_SECOND * this.limits.brainSeconds);
    const durationMs = Math.min(longestMs, this.#tMs + LONGEST_STEP_MS);
    const silence = this.#itemsOf(this.#silencesWith(silenced));
    return { ...this.document(), inputs, silence, duration_ms: durationMs };
  }

  #rateOf(name: string): unknown {
    const { timesMs, values } = this.#courses.get(name)!;
    // A rate that was set now begins with the next step.
    const count = this.#tMs > 0 && timesMs.at(-1) === this.#tMs ? timesMs.length - 1 : timesMs.length;
    return count === 1 ? values[0]! : { times_ms: timesMs.slice(0, count), values: values.slice(0, count) };
  }

  #silencesWith({ items, neurons }: NewSilence): Silence[] {
    const before = this.#silences
      .map((silence) => (silence.endMs === undefined ? { ...silence, endMs: this.#tMs } : silence))
      .filter(({ startMs, endMs }) => startMs < endMs!);
    return items.length === 0
      ? before
      : [...before, { items, neurons, startMs: this.#tMs, endMs: undefined }];
  }

  /** As `silence` of the document. */
  #itemsOf(silences: readonly Silence[]): object[] {
    return silences.flatMap(({ items, startMs, endMs }): object[] => {
      if (startMs === 0 && endMs === undefined) return items as object[];
      const selector = items.length === 1 ? items[0]! : items;
      return [{ node_set: selector, start_ms: startMs, ...(endMs !== undefined && { end_ms: endMs }) }];
    });
  }
}

/** Input events on average. Those at given times are few. */
function eventsBetween(fromMs: number, toMs: number, { inputs }: ConditionProtocol): number {
  const [startStep, endStep] = [stepAt(fromMs), stepAt(toMs)];
  return inputs.reduce((sum, { neurons, train }) => {
    if (train.kind === 'spikes') return sum;
    const ofPart = { ...train, startStep: Math.max(train.startStep, startStep) };
    return sum + expectedEvents({ neurons, train: ofPart }, endStep);
  }, 0);
}

function bytesOfSilence({ items }: NewSilence): number {
  return JSON.stringify(items).length + SILENCE_BYTES;
}

function courseOf(input: InputDocument): Course | undefined {
  const { module, rate_hz: rate, scale = 1 } = input as RatedInput;
  // Rates of a pattern differ between the neurons of the input.
  if (module !== 'poisson' || 'rates' in input) return undefined;
  if (typeof rate === 'number') return { timesMs: [0], values: [rate], scale };
  const { times_ms: timesMs, values } = rate as { times_ms: readonly number[]; values: readonly number[] };
  return { timesMs: [...timesMs], values: [...values], scale };
}

function silencesOf(
  { silence, duration_ms: endMs }: ExperimentDocument,
  protocol: ConditionProtocol,
): Silence[] {
  const isTimed = (item: unknown): item is { node_set: SetSelector; start_ms: number; end_ms: number } =>
    isObject(item) && 'node_set' in item;
  const items = silence.filter((item) => !isTimed(item)) as SetSelector[];
  const { silenced: neurons, silencedWindows = [] } = protocol;
  const windows = silence.filter(isTimed).map((item, at): Silence => ({
    items: [item.node_set],
    neurons: silencedWindows[at]!.neurons,
    startMs: item.start_ms,
    endMs: item.end_ms === endMs ? undefined : item.end_ms,
  }));
  return items.length === 0 ? windows : [{ items, neurons, startMs: 0, endMs: undefined }, ...windows];
}

/** Bytes that rates which begin at a time take in a document. */
function bytesOf(rates: Readonly<Record<string, number>>, tMs: number): number {
  return Object.values(rates).reduce((sum, rateHz) => sum + `${tMs},${rateHz},`.length, 0);
}

function stepAt(ms: number): number {
  return Math.round(ms * STEPS_PER_MS);
}

function full(what: string): CodedError {
  return new CodedError(
    'SESSION_FULL',
    `After this step the document of the session would ${what}. The session stays where it is; its document can be read.`,
  );
}
