/**
 * The history of a session as a document, and its next step as a protocol. The timeline stores every change of rates
 * and silences. The document made of them gives the same trial, spike for spike.
 */
import { MAX_RATES } from '../document/parse-document.js';
import type { SetSelector } from '../../engine/connectome/set-selector.js';
import { CodedError } from '../../engine/errors.js';
import { equalsPacked, packed } from '../document/packed.js';
import { mapped } from '../../engine/mapped.js';
import { isTimed, MAX_SILENCES } from '../kinds/edits/silence.js';
import type { ConditionTrain } from '../kinds/input-kind.js';
import { stepsOf } from '../kinds/fields.js';
import type { InputDocument } from '../kinds/kind-schemas.js';
import { trainWork } from '../plan/prices.js';
import type { ExperimentLimits } from '../plan/experiment-limits.js';
import type { SessionPlan } from '../plan/session-plan.js';
import type { ConditionProtocol } from '../plan/trial.js';
import { refused } from '../../engine/schema/json-path.js';
import {
  MS_PER_SECOND,
  MAX_TRIAL_STEPS,
  MAX_RATE_HZ,
  type SilencedWindow,
  STEPS_PER_MS,
} from '../../engine/stimulus/protocol.js';
import { epochsIn, POISSON_RATES_HZ } from '../../engine/stimulus/trains.js';
import { MAX_SESSION_MS, MAX_STEP_MS } from './step.js';
import { own } from '../../engine/own.js';

/** The longest time that spikes of a silenced neuron need to arrive, rounded up. */
const MAX_DELAY_MS = 20;
/** Bytes of a silence without its selectors, and of other parts that grow with the document. */
const SILENCE_BYTES = 64;
const SPARE_BYTES = 256;

/** Limits of documents, which a growing session may reach. */
export type TimelineLimits = { readonly documentBytes: number } & Required<
  Pick<ExperimentLimits, 'brainSeconds' | 'inputEventsPerTrial' | 'inputEventsPerBrainSecond'>
>;

/** Neurons that are silenced for a period. */
interface Silence {
  /** Packed, because they cross threads with each document. */
  readonly items: readonly SetSelector[];
  readonly neurons: Uint32Array;
  readonly startMs: number;
  /** Undefined while it continues. */
  readonly endMs: number | undefined;
}

/** A silence that begins now. */
export interface NewSilence extends Pick<Silence, 'items' | 'neurons'> {
  /** Frees the memory of the neurons; call it if the step fails. */
  readonly forget?: () => void;
}

/** The next segment of the trial. Its protocol counts time from the start of the session and has the step's rates. */
type NextStep = ReturnType<Timeline['next']>;

/** The layers of a Poisson train. A train draws those that begin below its rate. */
const LAYERS = POISSON_RATES_HZ.map((toHz, layer) => ({ fromHz: POISSON_RATES_HZ[layer - 1] ?? 0, toHz }));

type RatedInput = InputDocument & { readonly rate_hz: unknown; readonly scale?: number };

export class Timeline {
  constructor(
    private readonly plan: SessionPlan,
    private readonly limits: TimelineLimits,
    private readonly now = startOf(plan),
  ) {}

  /** A copy that continues independently. It need not compute its start again. */
  copy(): Timeline {
    const courses = new Map([...this.now.courses].map(([name, course]) => [name, course.copy()]));
    return new Timeline(this.plan, this.limits, { ...this.now, courses });
  }

  /** Upper bound of the bytes of the document. */
  get documentBytes(): number {
    return this.now.bytes;
  }

  get tMs(): number {
    return this.now.tMs;
  }

  get ratesHz(): Record<string, number> {
    return Object.fromEntries([...this.now.courses].map(([name, { lastHz }]) => [name, lastHz]));
  }

  /** True if exactly these selectors are silenced now. */
  isSilencing(items: readonly SetSelector[]): boolean {
    const now = this.now.silences.filter(({ endMs = Infinity }) => endMs > this.now.tMs);
    const selectors = now.flatMap((silence) => silence.items);
    return now.every(({ endMs }) => endMs === undefined) && equalsPacked(selectors, items);
  }

  /** @throws CodedError INVALID_PARAMETER */
  checkRates(rates: Readonly<Record<string, number>> = {}): void {
    for (const [name, rateHz] of Object.entries(rates)) {
      const course = this.now.courses.get(name);
      if (course === undefined) {
        const names = [...this.now.courses.keys()];
        const allowed = `an object of rates of ${names.length === 0 ? 'no input: this session has none whose rate can be set' : names.join(', ')}`;
        throw refused(['rates_hz'], name, allowed, names);
      }
      const endMs = this.#endStepOf(name) / STEPS_PER_MS;
      if (endMs <= this.now.tMs && rateHz !== course.lastHz) {
        const allowed = `${course.lastHz}, its last rate, since this input ended at ${endMs} ms`;
        throw refused(['rates_hz', name], rateHz, allowed);
      }
      if (rateHz * course.scale > MAX_RATE_HZ) {
        const allowed = `at most ${MAX_RATE_HZ / course.scale}, since the input has a scale of ${course.scale}`;
        throw refused(['rates_hz', name], rateHz, allowed);
      }
    }
  }

  /** The end of the train of an input; that of the longest session if the document left it out. */
  #endStepOf(name: string): number {
    const { protocol, endless, document } = this.plan;
    if (endless.inputs.includes(name)) return MAX_TRIAL_STEPS;
    const { train } = protocol.inputs[Object.keys(document.inputs).indexOf(name)]!;
    return train.kind === 'spikes' ? MAX_TRIAL_STEPS : train.endStep;
  }

  /**
   * The trial from now to a time, and its expected number of input events. Its windows may include silences in the
   * past.
   * @param silenced neurons to silence from now on, instead of the current ones
   * @throws CodedError INVALID_PARAMETER; SESSION_FULL if the document would exceed a limit
   */
  next(toMs: number, rates: Readonly<Record<string, number>> = {}, silenced?: NewSilence) {
    this.checkRates(rates);
    const silences = silenced === undefined ? this.now.silences : this.#silencesWith(silenced);
    const { brainSeconds, documentBytes, inputEventsPerTrial, inputEventsPerBrainSecond } = this.limits;
    const longestMs = Math.min(MAX_SESSION_MS, brainSeconds * MS_PER_SECOND);
    if (toMs > longestMs) throw full(`last longer than ${longestMs} ms`);
    if (this.#itemsOf(silences).length > MAX_SILENCES) throw full(`have more than ${MAX_SILENCES} silences`);
    const entries = [...this.now.courses.values()].reduce((sum, { length }) => sum + length, 0);
    if (entries + Object.keys(rates).length > MAX_RATES) throw full(`have more than ${MAX_RATES} rates`);
    const bytes = this.now.bytes + bytesOf(rates, this.now.tMs) + (silenced ? bytesOfSilence(silenced) : 0);
    if (bytes + SPARE_BYTES > documentBytes) throw full(`take more than ${documentBytes} bytes`);
    const protocol = this.#protocol(toMs, rates, silences);
    const inputEvents = this.now.inputEvents + eventsBetween(this.now.tMs, toMs, protocol);
    const most = Math.max(inputEventsPerTrial, (inputEventsPerBrainSecond * toMs) / MS_PER_SECOND);
    if (inputEvents > most)
      throw full(`have ${Math.round(inputEvents)} input events; at most ${most} are allowed`);
    return {
      protocol,
      /** Expected number from the start of the session to the end of the step. */
      inputEvents,
      /** Events before the step that are drawn because the rate is raised: layers that it needs were last drawn before. */
      raisedEvents: this.#raisedEvents(protocol),
    };
  }

  #raisedEvents({ inputs }: ConditionProtocol): number {
    const startStep = stepsOf(this.now.tMs);
    const [{ startStep: drawnFrom } = { startStep }] = epochsIn(startStep, startStep + 1);
    let raised = 0;
    inputs.forEach(({ neurons, train }, at) => {
      // The price of a window that begins now has them.
      if (!isSteady(train) || train.startStep >= startStep) return;
      LAYERS.forEach(({ fromHz, toHz }, layer) => {
        if (train.rateHz <= fromHz) return;
        const steps = startStep - Math.max(drawnFrom, this.now.drawnTo[at]![layer]!);
        raised += neurons.length * (toHz - fromHz) * Math.max(0, steps);
      });
    });
    return raised / stepsOf(MS_PER_SECOND);
  }

  #protocol(
    toMs: number,
    rates: Readonly<Record<string, number>>,
    silences: readonly Silence[],
  ): ConditionProtocol {
    const { protocol } = this.plan;
    const names = Object.keys(this.plan.document.inputs);
    const inputs = protocol.inputs.map((input, at) => {
      const { train } = input;
      if (train.kind === 'spikes') return input;
      const name = names[at]!;
      const course = this.now.courses.get(name);
      const endStep = this.#endStepOf(name);
      if (train.kind === 'background' || course === undefined)
        return { ...input, train: { ...train, endStep } };
      const rateHz = (own(rates, name) ?? course.lastHz) * course.scale;
      return { ...input, train: { ...train, rateHz, endStep } };
    });
    const windows = silences.flatMap(({ neurons, startMs, endMs = Infinity }): SilencedWindow[] =>
      endMs + MAX_DELAY_MS <= this.now.tMs || startMs >= endMs
        ? []
        : [{ neurons, startStep: stepsOf(startMs), endStep: Math.min(stepsOf(endMs), MAX_TRIAL_STEPS) }],
    );
    const { silencedWindows: _, ...rest } = protocol;
    return {
      ...rest,
      inputs,
      silenced: new Uint32Array(0),
      ...(windows.length > 0 && { silencedWindows: windows }),
      durationSteps: stepsOf(toMs),
    };
  }

  /** Moves the current time to the end of a step. */
  advance(toMs: number, { inputEvents, protocol }: NextStep): void {
    const toStep = stepsOf(toMs);
    this.now.drawnTo = protocol.inputs.map(({ train }, at) =>
      LAYERS.map(({ fromHz }, layer) =>
        isSteady(train) && train.rateHz > fromHz && train.startStep < toStep
          ? toStep
          : this.now.drawnTo[at]![layer]!,
      ),
    );
    this.now.inputEvents = inputEvents;
    this.now.tMs = toMs;
  }

  /** Changes rates and silences from now on. The caller has checked the rates. */
  change(rates: Readonly<Record<string, number>> = {}, silenced?: NewSilence): void {
    for (const [name, rateHz] of Object.entries(rates)) {
      if (this.now.courses.get(name)!.set(this.now.tMs, rateHz)) {
        this.now.bytes += bytesOf({ [name]: rateHz }, this.now.tMs);
      }
    }
    if (silenced === undefined) return;
    this.now.silences = this.#silencesWith(silenced);
    this.now.bytes += bytesOfSilence(silenced);
  }

  /** The session so far as a document, packed for the thread that writes it. At time 0 it has no duration_ms. */
  document(): object {
    const { document, endless } = this.plan;
    const { duration_ms: _, ...rest } = document;
    return {
      ...rest,
      inputs: mapped(document.inputs, ({ duration_ms: windowMs, ...input }, name) => {
        const course = this.now.courses.get(name);
        const rated = { ...input, ...(course && { rate_hz: course.until(this.now.tMs) }) };
        return endless.inputs.includes(name) ? rated : { ...rated, duration_ms: windowMs };
      }),
      silence: this.#itemsOf(
        this.now.silences.filter(({ startMs }) => startMs === 0 || startMs < this.now.tMs),
      ),
      ...(this.now.tMs > 0 && { duration_ms: this.now.tMs }),
      reports: mapped(document.reports, ({ start_ms: _start, end_ms: _end, ...report }) => report),
    };
  }

  /** A document with these neurons silenced from now on. Planning it resolves the selectors; inputs do not matter. */
  documentSilencing(items: readonly SetSelector[]): object {
    const longestMs = Math.min(MAX_SESSION_MS, MS_PER_SECOND * this.limits.brainSeconds);
    const silence = this.#itemsOf(this.#silencesWith({ items, neurons: new Uint32Array(0) }));
    const duration_ms = Math.min(longestMs, this.now.tMs + MAX_STEP_MS);
    return { ...this.document(), inputs: {}, reports: {}, silence, duration_ms };
  }

  #silencesWith({ items, neurons }: NewSilence): Silence[] {
    const before = this.now.silences
      .map((silence) => ({ ...silence, endMs: Math.min(silence.endMs ?? Infinity, this.now.tMs) }))
      .filter(({ startMs, endMs }) => startMs < endMs);
    return items.length === 0
      ? before
      : [
          ...before,
          { items: packed(items) as SetSelector[], neurons, startMs: this.now.tMs, endMs: undefined },
        ];
  }

  /** The document's form of silences. */
  #itemsOf(silences: readonly Silence[]): object[] {
    return silences.flatMap(({ items, startMs, endMs }): object[] => {
      if (startMs === 0 && endMs === undefined) return items as object[];
      const selector = items.length === 1 ? items[0]! : items;
      return [{ node_set: selector, start_ms: startMs, ...(endMs !== undefined && { end_ms: endMs }) }];
    });
  }
}

/** The state of a session at its start. */
function startOf(plan: SessionPlan) {
  const { document, documentBytes, startMs, protocol } = plan;
  /** Rates over time of each input whose rate a step may set. */
  const courses: ReadonlyMap<string, RateCourse> = new Map(
    Object.entries(document.inputs).flatMap(([name, input]) => {
      const course = courseOf(input);
      return course === undefined ? [] : [[name, course] as const];
    }),
  );
  const drawnTo: readonly (readonly number[])[] = Object.keys(document.inputs).map((name, at) => {
    const { train } = protocol.inputs[at]!;
    const hasBegun = train.kind === 'poisson' && train.startStep < stepsOf(startMs);
    const course = hasBegun ? courses.get(name) : undefined;
    return LAYERS.map(({ fromHz }) => stepsOf(course?.lastAbove(fromHz, startMs) ?? 0));
  });
  return {
    tMs: startMs,
    courses,
    silences: silencesOf(plan),
    inputEvents: eventsBetween(0, startMs, protocol),
    /** The step up to which each layer of each input was drawn. The cursors of the layer point there. */
    drawnTo,
    bytes: documentBytes,
  };
}

/** Rates of an input over time; each holds until the time of the next one. */
interface Rates {
  readonly times_ms: readonly number[] | Float64Array;
  readonly values: readonly number[] | Float64Array;
}

const NO_RATES = { timesMs: new Float64Array(0), values: new Float64Array(0) };

class RateCourse {
  /** @param given rates of the document. There may be many, so they are never copied. */
  constructor(
    readonly scale: number,
    private readonly given: { readonly timesMs: Float64Array; readonly values: Float64Array },
    private readonly timesMs: number[] = [],
    private readonly values: number[] = [],
  ) {}

  static of({ times_ms: timesMs, values }: Rates, scale: number): RateCourse {
    if (ArrayBuffer.isView(timesMs))
      return new RateCourse(scale, { timesMs, values: values as Float64Array });
    return new RateCourse(scale, NO_RATES, Array.from(timesMs), Array.from(values));
  }

  copy(): RateCourse {
    return new RateCourse(this.scale, this.given, this.timesMs.slice(), this.values.slice());
  }

  get length(): number {
    return this.given.values.length + this.values.length;
  }

  get lastHz(): number {
    return (this.values.at(-1) ?? this.given.values.at(-1))!;
  }

  /** The last time, up to a time, at which the rate was above another one; 0 if it never was. */
  lastAbove(hz: number, endMs: number): number {
    let untilMs = endMs;
    for (const { timesMs, values } of [{ timesMs: this.timesMs, values: this.values }, this.given]) {
      for (let at = values.length - 1; at >= 0; at--) {
        if (timesMs[at]! < endMs && values[at]! * this.scale > hz) return untilMs;
        untilMs = Math.min(endMs, timesMs[at]!);
      }
    }
    return 0;
  }

  /**
   * Sets the rate from a time on, which is not before the last one.
   * @returns true if a rate was added
   */
  set(tMs: number, rateHz: number): boolean {
    if (this.timesMs.at(-1) === tMs) {
      this.timesMs.pop();
      this.values.pop();
    }
    if (this.lastHz === rateHz) return false;
    this.timesMs.push(tMs);
    this.values.push(rateHz);
    return true;
  }

  /**
   * Returns `rate_hz` of the document of a session that is at this time, for packedJson. A rate that was set at the current
   * time begins with the next step.
   */
  until(tMs: number): unknown {
    const isSetNow = tMs > 0 && this.timesMs.at(-1) === tMs;
    const count = this.values.length - (isSetNow ? 1 : 0);
    if (this.given.values.length + count === 1) return this.values[0] ?? this.given.values[0];
    const partsOf = (given: Float64Array, own: number[]) => [given, new Float64Array(own).subarray(0, count)];
    return {
      times_ms: partsOf(this.given.timesMs, this.timesMs),
      values: partsOf(this.given.values, this.values),
    };
  }
}

function isSteady(train: ConditionTrain): train is ConditionTrain & { kind: 'poisson'; rateHz: number } {
  return train.kind === 'poisson' && typeof train.rateHz === 'number';
}

/** Expected number of input events, without those at given times, which are few. */
function eventsBetween(fromMs: number, toMs: number, { inputs }: ConditionProtocol): number {
  const [startStep, endStep] = [stepsOf(fromMs), stepsOf(toMs)];
  return inputs.reduce((sum, input) => {
    if (input.train.kind === 'spikes') return sum;
    return sum + trainWork(input, endStep, startStep).inputEvents;
  }, 0);
}

function bytesOfSilence({ items }: NewSilence): number {
  return JSON.stringify(items).length + SILENCE_BYTES;
}

function courseOf(input: InputDocument): RateCourse | undefined {
  const { module, rate_hz: rate, scale = 1 } = input as RatedInput;
  // A pattern has different rates for each neuron, so a step cannot set one.
  if (module !== 'poisson' || 'rates' in input) return undefined;
  return RateCourse.of(typeof rate === 'number' ? { times_ms: [0], values: [rate] } : (rate as Rates), scale);
}

function silencesOf({ document: { silence }, protocol, endless }: SessionPlan): Silence[] {
  const items = silence.filter((item): item is SetSelector => !isTimed(item));
  const { silenced: neurons, silencedWindows = [] } = protocol;
  const windows = silence.filter(isTimed).map((item, at): Silence => ({
    items: [item.node_set],
    neurons: silencedWindows[at]!.neurons,
    startMs: item.start_ms,
    endMs: endless.silences[at]! ? undefined : item.end_ms!,
  }));
  if (items.length === 0) return windows;
  // One in the other form would stand in the document twice if a step ends both.
  const isItem = ({ items: [selector], startMs, endMs }: Silence) =>
    startMs === 0 && endMs === undefined && items.some((item) => equalsPacked(item, selector));
  return [{ items, neurons, startMs: 0, endMs: undefined }, ...windows.filter((each) => !isItem(each))];
}

/** Bytes of rates, with their start time, in a document. */
function bytesOf(rates: Readonly<Record<string, number>>, tMs: number): number {
  return Object.values(rates).reduce((sum, rateHz) => sum + `${tMs},${rateHz},`.length, 0);
}

function full(what: string): CodedError {
  return new CodedError(
    'SESSION_FULL',
    `After this step the document of the session would ${what}. The session stays where it is; its document can be read.`,
  );
}
