/**
 * Short forms for parts of a document: `LC4:left,LPLC2@100`, `10:200:10`, `DNp01/side`. The service validates the
 * resulting document.
 */
import { quoted } from './service-error.js';

const GROUP_LABELS: readonly string[] = ['neuron', 'type', 'side', 'super_class', 'class', 'sub_class'];

/** An invalid short form. The message is a sentence without its full stop. */
export class ShorthandError extends Error {
  override readonly name = 'ShorthandError';
}

/** Parts of a document in the notation of the command line's options. */
export interface Shorthand {
  /** `[NAME=]WHO[@HZ]` */
  readonly stimulate?: readonly string[] | undefined;
  /** `[NAME=]FILE` of a table of rates. */
  readonly rates?: readonly string[] | undefined;
  /** `START+LENGTH` in ms: one for all of `stimulate`, or one for each. */
  readonly window?: readonly string[] | undefined;
  readonly silence?: readonly string[] | undefined;
  /** `NAME=VALUE` of a constant of the network */
  readonly constant?: readonly string[] | undefined;
  /** `[NAME=]WHO>WHO*WEIGHT`: multiplies connections */
  readonly override?: readonly string[] | undefined;
  /** `signs[:SEED]`, `counts[:SEED]`, or a shuffle such as `targets[:SEED]` */
  readonly wiring?: string | undefined;
  /** `[NAME=]WHO[/LABEL,LABEL]` */
  readonly report?: readonly string[] | undefined;
  /** `[NAME=]WHO[@MS]`: membrane potentials, one every MS ms. */
  readonly membrane?: readonly string[] | undefined;
  /** `WHAT=VALUES` */
  readonly sweep?: readonly string[] | undefined;
  /** `matched[:COUNT]`, `signs[:COUNT]`, `counts[:COUNT]`, or a shuffle such as `weights[:COUNT]` */
  readonly controls?: string | undefined;
  /** ms */
  readonly duration?: string | undefined;
  readonly trials?: string | undefined;
  readonly seed?: string | undefined;
  readonly name?: string | undefined;
  /** If given, the document gets a report of spikes, unless it has one. */
  readonly spikes?: string | undefined;
  /** If given together with `spikes`, another report with rates must exist. */
  readonly csv?: string | undefined;
  readonly table?: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Neurons with their rate, in `rates` of an input. */
export interface RateRow {
  readonly node_set: unknown;
  readonly rate_hz: unknown;
}

/** Default names. A report gets one if its selector has no characters that a name may have. */
const UNNAMED_INPUT = 'stimulus';
const UNNAMED_REPORT = 'report';
const UNNAMED_OVERRIDE = 'override';
const MAX_NAME_LENGTH = 64;
const EVERYBODY = '@all';

/**
 * Applies options to a document. Inputs, reports and silenced neurons are added. A sweep of the same parameter,
 * duration, trials, seed and name are replaced.
 * @param document not validated yet; a value that is no object is returned unchanged, and validation refuses it
 * @param tables rows of the files that `rates` names
 * @throws ShorthandError if an option is invalid
 */
export function withShorthand(
  document: unknown,
  options: Shorthand,
  tables: ReadonlyMap<string, readonly RateRow[]> = new Map(),
): unknown {
  if (!isObject(document)) return document;
  const inputs = inputsOf(document, options, tables);
  const sweep = sweepOf(document, options, inputs);
  const changed = {
    ...document,
    ...(options.name !== undefined && { name: options.name }),
    inputs,
    silence: silenceOf(document, options),
    constants: constantsOf(document, options),
    connection_overrides: overridesOf(document, options),
    ...(options.wiring !== undefined && { wiring: wiringIn(options.wiring) }),
    ...numberMember('duration_ms', 'duration', options.duration),
    ...numberMember('trials', 'trials', options.trials),
    ...numberMember('seed', 'seed', options.seed),
    reports: reportsOf(document, options),
    sweep,
    ...(options.controls !== undefined && { controls: controlsOf(options.controls, sweep) }),
  };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
}

/** The files that `rates` names. */
export function filesOfRates({ rates = [] }: Shorthand): string[] {
  return rates.map((text) => namedIn(text).rest);
}

function inputsOf(
  given: Json,
  { stimulate = [], rates = [], window = [] }: Shorthand,
  tables: ReadonlyMap<string, readonly RateRow[]>,
): unknown {
  if (window.length > 1 && window.length !== stimulate.length) {
    throw new ShorthandError(
      `--window should be given once, or once for each --stimulate, found ${window.length} for ${stimulate.length}`,
    );
  }
  if (window.length > 0 && stimulate.length === 0) {
    throw new ShorthandError('--window is the window of --stimulate, which is missing');
  }
  const stimulated = stimulate.map((text, at): Addition => {
    const { name, rest } = namedIn(text);
    const { who, number } = numberedIn(rest);
    const value = {
      node_set: selectorOf(who),
      ...(number !== undefined && { rate_hz: number }),
      ...windowIn(window.length > 1 ? window[at] : window[0]),
    };
    return { option: 'stimulate', name, unnamed: UNNAMED_INPUT, value };
  });
  const rated = rates.map((text): Addition => {
    const { name, rest: file } = namedIn(text);
    return { option: 'rates', name, unnamed: UNNAMED_INPUT, value: { rates: tables.get(file) } };
  });
  return withAdded(given['inputs'], [...stimulated, ...rated]);
}

function windowIn(text: string | undefined): Json {
  if (text === undefined) return {};
  const parts = /^([^+]+)\+([^+]+)$/.exec(text);
  if (parts === null) throw malformed('window', 'START+LENGTH in ms such as 200+300', text);
  return { delay_ms: numberIn('window', parts[1]!), duration_ms: numberIn('window', parts[2]!) };
}

function reportsOf(document: Json, { report = [], membrane = [], spikes, csv, table }: Shorthand): unknown {
  const given = withAdded(document['reports'], [...report.map(reportIn), ...membrane.map(membraneIn)]);
  const reports = entriesOf(given);
  if (spikes === undefined || reports === undefined) return given;
  if ([...reports.values()].some((each) => isObject(each) && each['type'] === 'spikes')) return given;
  if (reports.size === 0 && csv !== undefined && table === undefined) {
    throw new ShorthandError(
      '--csv writes rates, and with --spikes alone the spikes are all that is reported: add --report, such as --report @MN9',
    );
  }
  const value = { node_set: EVERYBODY, type: 'spikes' };
  return withAdded(given, [{ option: 'spikes', name: undefined, unnamed: 'spikes', value }]);
}

function reportIn(text: string): Addition {
  const { name, rest: timed } = namedIn(text);
  const { rest, ...window } = reportWindowIn(timed);
  const { who, groupBy } = groupedIn(rest);
  const value = {
    node_set: selectorOf(who),
    ...(groupBy.length > 0 && { group_by: groupBy }),
    ...window,
  };
  return { option: 'report', name, unnamed: nameFrom(who), value };
}

function membraneIn(text: string): Addition {
  const { name, rest } = namedIn(text);
  const { who, number } = numberedIn(rest);
  const value = {
    node_set: selectorOf(who),
    type: 'membrane',
    ...(number !== undefined && { dt_ms: number }),
  };
  return { option: 'membrane', name, unnamed: nameFrom(`membrane ${who}`), value };
}

function sweepOf(given: Json, { sweep = [] }: Shorthand, inputs: unknown): unknown {
  const axes = listOf(given['sweep']);
  if (sweep.length === 0 || axes === undefined) return given['sweep'];
  const names = isObject(inputs) ? Object.keys(inputs) : [];
  const added = sweep.map((text) => axisIn(text, names));
  const parameterOf = (axis: unknown) => (isObject(axis) ? (axis['set'] ?? axis['as']) : undefined);
  const parameters = added.map(parameterOf);
  return [...axes.filter((axis) => !parameters.includes(parameterOf(axis))), ...added];
}

/** Controls of another wiring, except shuffles. */
const OF_WIRING: Readonly<Record<string, Json>> = Object.assign(Object.create(null), {
  signs: { signs: 'sampled' },
  counts: { counts: 'resampled' },
});

/** Matched controls take the place of the groups of the sweep. */
function controlsOf(text: string, sweep: unknown): Json {
  const [form, count] = kindIn('controls', text, 'KIND or KIND:COUNT such as matched:1000');
  const swept = (listOf(sweep) ?? []).map((axis) => String((isObject(axis) && axis['as']) || ''));
  const isSwept = (member: string) => swept.some((as) => as.split('.', 1)[0] === member);
  const member = ['silence', 'connection_overrides'].find(isSwept) ?? 'inputs';
  const kind = form === 'matched' ? { [member]: form } : wiringOf(form);
  return { ...kind, ...numberMember('count', 'controls', count) };
}

function wiringIn(text: string): Json {
  const [form, seed] = kindIn('wiring', text, 'KIND or KIND:SEED such as targets:1');
  return { ...wiringOf(form), ...numberMember('seed', 'wiring', seed) };
}

function wiringOf(form: string): Json {
  return OF_WIRING[form] ?? { shuffle: form };
}

function kindIn(option: string, text: string, form: string): [kind: string, number: string | undefined] {
  const [kind, number, ...rest] = text.split(':');
  if (rest.length > 0) throw malformed(option, form, text);
  return [kind!, number];
}

function constantsOf(given: Json, { constant = [] }: Shorthand): unknown {
  const added = constant.map((text): Addition => {
    const { name, rest } = namedIn(text);
    if (name === undefined) throw malformed('constant', 'NAME=VALUE such as synapse_mv=0.3', text);
    return { option: 'constant', name, unnamed: name, value: numberIn('constant', rest) };
  });
  return withAdded(given['constants'], added);
}

function overridesOf(given: Json, { override = [] }: Shorthand): unknown {
  const added = override.map((text): Addition => {
    const { name, rest } = namedIn(text);
    const parts = /^([^>]+)>([^>]+)\*(-?[\d.]+)$/.exec(rest);
    if (parts === null) throw malformed('override', 'WHO>WHO*WEIGHT such as LC4>DNp01*0.5', text);
    const [, source, target, weight] = parts as unknown as [string, string, string, string];
    const value = {
      source: selectorOf(source),
      target: selectorOf(target),
      weight: numberIn('override', weight),
    };
    return { option: 'override', name, unnamed: UNNAMED_OVERRIDE, value };
  });
  return withAdded(given['connection_overrides'], added);
}

function silenceOf(given: Json, { silence = [] }: Shorthand): unknown {
  const selectors = listOf(given['silence']);
  if (silence.length === 0 || selectors === undefined) return given['silence'];
  return [...selectors, ...silence.flatMap(selectorsOf)];
}

function axisIn(text: string, inputs: readonly string[]): Json {
  const parts = /^([^=]+)=(.+)$/s.exec(text);
  if (parts === null) throw malformed('sweep', 'WHAT=VALUES such as rate=10:200:10', text);
  const [, what, values] = parts as unknown as [string, string, string];
  if (what === 'silence' || GROUP_OF_OVERRIDE.test(what)) return eachIn(values, what);
  const stimulated = /^(?:(.+)\.)?stimulate$/.exec(what);
  if (stimulated !== null) return eachIn(values, `inputs.${inputOf(stimulated[1], inputs, text)}`);
  return { set: parameterIn(what, inputs, text), ...valuesOf(values) };
}

/** Members that a sweep over groups of neurons may set. */
const GROUP_OF_OVERRIDE = /^connection_overrides\..+\.(source|target)$/;

/** Names of the members of an input in --sweep. */
const INPUT_MEMBERS = new Map([
  ['rate', 'rate_hz'],
  ['scale', 'scale'],
  ['delay', 'delay_ms'],
  ['window', 'duration_ms'],
]);

function parameterIn(what: string, inputs: readonly string[], text: string): string {
  if (what === 'duration') return 'duration_ms';
  const parts = /^(?:([^.]+)\.)?(rate|scale|delay|window)$/.exec(what);
  // `seed` and names of the document stay. So do wrong names, which validation refuses.
  if (parts === null) return what;
  return `inputs.${inputOf(parts[1], inputs, text)}.${INPUT_MEMBERS.get(parts[2]!)!}`;
}

function inputOf(name: string | undefined, inputs: readonly string[], text: string): string {
  if (name !== undefined) return name;
  if (inputs.length === 1) return inputs[0]!;
  throw new ShorthandError(
    inputs.length === 0
      ? `--sweep ${text} needs an input: --stimulate, or inputs in the document`
      : `--sweep ${text} should name one of the inputs ${inputs.join(', ')}, such as ${inputs[0]!}.${text}`,
  );
}

/**
 * The values of a sweep: `from:to:step`, or a list.
 * @throws ShorthandError if a value is not a number
 */
export function valuesOf(text: string): Json {
  const range = text.split(':');
  if (range.length === 3) {
    const [from, to, step] = range.map((part) => numberIn('sweep', part));
    return { from, to, step };
  }
  return { values: text.split(',').map((part) => numberIn('sweep', part)) };
}

/** An axis of groups of neurons: `WHO/BY`, or `responders:TOP/BY`. */
function eachIn(text: string, as: string): Json {
  const { who, groupBy } = groupedIn(text);
  const responders = /^responders(?::(.*))?$/.exec(who);
  const each =
    responders === null
      ? selectorOf(who)
      : {
          responders_of: 'baseline',
          ...(responders[1] !== undefined && { top: numberIn('sweep', responders[1]) }),
        };
  return { each, ...(groupBy.length > 0 && { group_by: groupBy }), as };
}

/** `NAME=` at the beginning. No name of a set or a type has an equals sign. */
function namedIn(text: string): { readonly name?: string; readonly rest: string } {
  const parts = /^([A-Za-z0-9_.-]+)=(.+)$/s.exec(text);
  return parts === null ? { rest: text } : { name: parts[1]!, rest: parts[2]! };
}

/**
 * `@NUMBER` at the end. Any other @ belongs to the name of a set, such as @sugar.
 * @throws ShorthandError if a unit follows the number
 */
function numberedIn(text: string): { readonly who: string; readonly number?: number } {
  const [, value, unit] = /@(\d+(?:\.\d*)?|\.\d+)\s*(hz|ms)$/i.exec(text) ?? [];
  if (value !== undefined) {
    throw new ShorthandError(
      `${quoted(text)} must end with a number without a unit: write ${value}, not ${value}${unit}`,
    );
  }
  const [, who, number] = /^(.+?)(?:@(\d+(?:\.\d*)?|\.\d+))?$/s.exec(text)!;
  return { who: who!, ...(number !== undefined && { number: Number(number) }) };
}

/** `@START+LENGTH` in ms at the end. */
function reportWindowIn(text: string): Json & { readonly rest: string } {
  const parts = /^(.+)@(\d+(?:\.\d*)?)\+(\d+(?:\.\d*)?)$/s.exec(text);
  if (parts === null) return { rest: text };
  const [, rest, start, length] = parts as unknown as [string, string, string, string];
  // Times are multiples of 0.1 ms; a sum of doubles may not be, so it is rounded.
  return { rest, start_ms: Number(start), end_ms: Math.round(10 * (Number(start) + Number(length))) / 10 };
}

/** `/LABEL,LABEL` at the end. Any other slash belongs to the name of a set, such as @channel/escape. */
function groupedIn(text: string): { readonly who: string; readonly groupBy: readonly string[] } {
  const slash = text.lastIndexOf('/');
  const labels = slash < 0 ? [] : text.slice(slash + 1).split(',');
  const isGrouped = labels.length > 0 && labels.every((label) => GROUP_LABELS.includes(label));
  return isGrouped ? { who: text.slice(0, slash), groupBy: labels } : { who: text, groupBy: [] };
}

/**
 * One selector; commas unite several names.
 * @throws ShorthandError
 */
export function selectorOf(text: string): unknown {
  const selectors = selectorsOf(text);
  return selectors.length === 1 ? selectors[0] : selectors;
}

/**
 * Names separated by commas. A text that begins like JSON is JSON, for labels and for names with commas.
 * @throws ShorthandError if such a text is not valid JSON
 */
export function selectorsOf(text: string): unknown[] {
  if (!/^[[{]/.test(text)) return text.split(',').map((name) => name.trim());
  try {
    return [JSON.parse(text) as unknown];
  } catch (error) {
    throw new ShorthandError(`${quoted(text)} is no selector: ${(error as Error).message}`);
  }
}

/** Reduces a selector to the characters that may stand in a name. */
function nameFrom(who: string): string {
  const name = who.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return name.slice(0, MAX_NAME_LENGTH) || UNNAMED_REPORT;
}

/** A named value that an option adds to an object of the document. */
interface Addition {
  readonly option: string;
  readonly name: string | undefined;
  /** The name if there is no other, with a number if it is taken. */
  readonly unnamed: string;
  readonly value: unknown;
}

/**
 * @param given an object of the document; another value is returned unchanged, and validation refuses it
 * @throws ShorthandError if two options have the same name, because the first would be lost
 */
function withAdded(given: unknown, additions: readonly Addition[]): unknown {
  const entries = entriesOf(given);
  if (additions.length === 0 || entries === undefined) return given;
  const added = new Set<string>();
  for (const { option, unnamed, value, name = freeName(unnamed, entries) } of additions) {
    if (added.has(name)) {
      throw new ShorthandError(`--${option} should have each name once, found ${quoted(name)} twice`);
    }
    added.add(name);
    entries.set(name, value);
  }
  return Object.fromEntries(entries);
}

/** The name, with a number appended if it is taken. */
function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) {
    const suffix = String(number);
    free = name.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
  }
  return free;
}

function numberMember(member: string, option: string, text: string | undefined): Json {
  return text === undefined ? {} : { [member]: numberIn(option, text) };
}

/** @param form the right one, with an example */
function malformed(option: string, form: string, text: string): ShorthandError {
  return new ShorthandError(`--${option} should be ${form}, found ${quoted(text)}`);
}

/** @throws ShorthandError */
function numberIn(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new ShorthandError(`--${option} should have a number, found ${quoted(text)}`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns undefined for a value without members, which validation refuses */
function entriesOf(value: unknown): Map<string, unknown> | undefined {
  if (value === undefined) return new Map();
  return isObject(value) ? new Map(Object.entries(value)) : undefined;
}

/** @returns undefined for a value other than a list, which validation refuses */
function listOf(value: unknown): readonly unknown[] | undefined {
  return value === undefined ? [] : Array.isArray(value) ? value : undefined;
}
