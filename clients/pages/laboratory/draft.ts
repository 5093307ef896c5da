/**
 * Contents of the form of the laboratory, and the document that they stand for. The form has controls for what most
 * experiments need. Other members of a document are kept in `rest`, so that nothing is lost in the form.
 */
import { DOCUMENT } from '../../../src/experiments/document/document.js';
import { poisson } from '../../../src/experiments/kinds/inputs/poisson.js';
import { isList, isMembers, type Json, type Members } from './json.js';

/** Numbers are the text of their control; empty stands for a member that is left out. */
export interface Draft {
  readonly name: string;
  readonly inputs: readonly InputDraft[];
  readonly silence: readonly (string | Members)[];
  readonly durationMs: string;
  readonly trials: string;
  readonly seed: string;
  readonly reports: readonly ReportDraft[];
  readonly axes: readonly AxisDraft[];
  readonly rest: Members;
}

/** One selector, or a list of them, which are united. A list of one is another document than that one alone. */
export type Selector = string | Members | readonly (string | Members)[];

export interface InputDraft {
  readonly name: string;
  readonly neurons: Selector;
  readonly rateHz: string;
  readonly delayMs: string;
  readonly windowMs: string;
  readonly rest: Members;
}

export interface ReportDraft {
  readonly name: string;
  readonly neurons: Selector;
  readonly type: string;
  /** Labels, separated by commas. */
  readonly groupBy: string;
  readonly rest: Members;
}

export type AxisDraft = SetAxisDraft | EachAxisDraft;

export interface SetAxisDraft {
  readonly kind: 'set';
  readonly parameter: string;
  /** `10, 50, 100`, or `10:200:10` from, to and step. */
  readonly values: string;
}

export interface EachAxisDraft {
  readonly kind: 'each';
  /** Empty where the groups are those that responded in the baseline. */
  readonly neurons: Selector;
  /** Largest number of groups of responders. Undefined where the neurons are selected. */
  readonly top: string | undefined;
  readonly groupBy: string;
  readonly as: string;
}

const { duration_ms, trials, seed } = DOCUMENT.properties;
const DEFAULT_RATE_HZ = String(poisson.schema.properties.rate_hz.default);
export const DEFAULT_TOP = '200';

export const EMPTY_DRAFT: Draft = {
  name: '',
  inputs: [],
  silence: [],
  durationMs: String(duration_ms.default),
  trials: String(trials.default),
  seed: String(seed.default),
  reports: [],
  axes: [],
  rest: {},
};

export function newInput(name: string, neurons: Selector): InputDraft {
  return { name, neurons, rateHz: DEFAULT_RATE_HZ, delayMs: '', windowMs: '', rest: {} };
}

export function newReport(name: string, neurons: Selector): ReportDraft {
  return { name, neurons, type: 'rate', groupBy: 'side', rest: {} };
}

/** The document that the form stands for. Text that is no number stays, for the service to name it. */
export function documentOf(draft: Draft): Members {
  const silenced = draft.silence.length > 0 && { silence: draft.silence };
  const reported = draft.reports.length > 0 && { reports: byName(draft.reports.map(reportOf)) };
  const swept = draft.axes.length > 0 && { sweep: draft.axes.map(axisOf) };
  const { node_sets: nodeSets, ...rest } = draft.rest;
  return {
    ...(draft.name !== '' && { name: draft.name }),
    ...(nodeSets !== undefined && { node_sets: nodeSets }),
    ...(draft.inputs.length > 0 && { inputs: byName(draft.inputs.map(inputOf)) }),
    ...silenced,
    ...numbers({ duration_ms: draft.durationMs, trials: draft.trials, seed: draft.seed }),
    ...reported,
    ...swept,
    ...rest,
  };
}

function inputOf({ name, neurons, rateHz, delayMs, windowMs, rest }: InputDraft): [string, Members] {
  const times = numbers({ rate_hz: rateHz, delay_ms: delayMs, duration_ms: windowMs });
  return [name, { node_set: neurons, ...times, ...rest }];
}

function reportOf({ name, neurons, type, groupBy, rest }: ReportDraft): [string, Members] {
  return [
    name,
    {
      node_set: neurons,
      ...(type !== 'rate' && { type }),
      ...(groupBy !== '' && { group_by: groupBy.split(',') }),
      ...rest,
    },
  ];
}

function axisOf(axis: AxisDraft): Members {
  if (axis.kind === 'set') return { set: axis.parameter, ...valuesOf(axis.values) };
  const each =
    axis.top === undefined ? axis.neurons : { responders_of: 'baseline', ...numbers({ top: axis.top }) };
  return { each, group_by: axis.groupBy === '' ? [] : axis.groupBy.split(','), as: axis.as };
}

function valuesOf(text: string): Members {
  const range = text.split(':').map((part) => part.trim());
  if (range.length === 3) {
    const [from, to, step] = range.map(numberOf);
    return { from: from!, to: to!, step: step! };
  }
  return {
    values: text
      .split(/[,\s]+/)
      .filter(Boolean)
      .map(numberOf),
  };
}

function byName(entries: readonly [string, Members][]): Members {
  return Object.fromEntries(entries);
}

function numbers(texts: Readonly<Record<string, string>>): Members {
  return Object.fromEntries(
    Object.entries(texts)
      .filter(([, text]) => text.trim() !== '')
      .map(([name, text]) => [name, numberOf(text)]),
  );
}

function numberOf(text: string): Json {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

/** @returns nothing where the document has a shape that the form cannot show */
export function draftOf(document: Json): Draft | undefined {
  try {
    return readDraft(document);
  } catch (error) {
    if (error instanceof NotShown) return undefined;
    throw error;
  }
}

class NotShown extends Error {}

function readDraft(document: Json): Draft {
  const members = new Reader(document);
  return {
    name: members.text('name') ?? '',
    inputs: members.entries('inputs').map(([name, input]) => readInput(name, input)),
    silence: members.selectors('silence'),
    durationMs: members.text('duration_ms') ?? EMPTY_DRAFT.durationMs,
    trials: members.text('trials') ?? EMPTY_DRAFT.trials,
    seed: members.text('seed') ?? EMPTY_DRAFT.seed,
    reports: members.entries('reports').map(([name, report]) => readReport(name, report)),
    axes: (members.list('sweep') ?? []).map(readAxis),
    rest: members.rest(),
  };
}

function readInput(name: string, input: Json): InputDraft {
  const members = new Reader(input);
  // A pattern has no neurons of its own, which the form would ask for.
  if (members.peek('rates') !== undefined) throw new NotShown();
  const isPoisson = members.peek('module') === undefined || members.peek('module') === 'poisson';
  return {
    name,
    neurons: members.selector('node_set'),
    rateHz: members.text('rate_hz') ?? (isPoisson ? DEFAULT_RATE_HZ : ''),
    delayMs: members.text('delay_ms') ?? '',
    windowMs: members.text('duration_ms') ?? '',
    rest: members.rest(),
  };
}

function readReport(name: string, report: Json): ReportDraft {
  const members = new Reader(report);
  return {
    name,
    neurons: members.selector('node_set'),
    type: members.text('type') ?? 'rate',
    groupBy: members.labels('group_by') ?? '',
    rest: members.rest(),
  };
}

function readAxis(axis: Json): AxisDraft {
  const members = new Reader(axis);
  const read = members.peek('each') === undefined ? readSetAxis(members) : readEachAxis(members);
  // An axis has no room for more than the form shows of it.
  if (Object.keys(members.rest()).length > 0) throw new NotShown();
  return read;
}

function readSetAxis(members: Reader): SetAxisDraft {
  const parameter = members.text('set') ?? '';
  const values = members.list('values');
  if (values !== undefined) return { kind: 'set', parameter, values: values.map(textOf).join(', ') };
  const range = ['from', 'to', 'step'].map((name) => members.text(name));
  if (range.some((part) => part === undefined)) throw new NotShown();
  return { kind: 'set', parameter, values: range.join(':') };
}

function readEachAxis(members: Reader): EachAxisDraft {
  const each = members.peek('each');
  const isOfResponders = isMembers(each) && Object.hasOwn(each, 'responders_of');
  const shared = {
    kind: 'each',
    groupBy: members.labels('group_by') ?? 'neuron',
    as: members.text('as') ?? '',
  } as const;
  if (!isOfResponders) return { ...shared, neurons: members.selector('each'), top: undefined };
  members.take('each');
  const responders = new Reader(each);
  if (responders.text('responders_of') !== 'baseline') throw new NotShown();
  const top = responders.text('top') ?? DEFAULT_TOP;
  if (Object.keys(responders.rest()).length > 0) throw new NotShown();
  return { ...shared, neurons: [], top };
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new NotShown();
}

/** Tells a selector from a list inside a list, which the form cannot show. */
function isShownSelector(value: Json): value is string | Members {
  return typeof value === 'string' || isMembers(value);
}

/** Takes the members of an object one by one; `rest` has those that were not taken. */
class Reader {
  readonly #members: Map<string, Json>;

  constructor(value: Json) {
    if (!isMembers(value)) throw new NotShown();
    this.#members = new Map(Object.entries(value));
  }

  peek(name: string): Json | undefined {
    return this.#members.get(name);
  }

  take(name: string): Json | undefined {
    const value = this.#members.get(name);
    this.#members.delete(name);
    return value;
  }

  /** null is the end of the trial, as it is where the member is left out. */
  text(name: string): string | undefined {
    const value = this.take(name) ?? undefined;
    return value === undefined ? undefined : textOf(value);
  }

  list(name: string): readonly Json[] | undefined {
    const value = this.take(name);
    if (value !== undefined && !isList(value)) throw new NotShown();
    return value;
  }

  entries(name: string): [string, Json][] {
    const value = this.take(name) ?? {};
    if (!isMembers(value)) throw new NotShown();
    return Object.entries(value);
  }

  selectors(name: string): readonly (string | Members)[] {
    const selectors = this.list(name) ?? [];
    if (!selectors.every(isShownSelector)) throw new NotShown();
    return selectors;
  }

  selector(name: string): Selector {
    const value = this.peek(name) ?? [];
    if (isList(value)) return this.selectors(name);
    this.take(name);
    if (!isShownSelector(value)) throw new NotShown();
    return value;
  }

  labels(name: string): string | undefined {
    return this.list(name)?.map(textOf).join(',');
  }

  rest(): Members {
    return Object.fromEntries(this.#members);
  }
}
