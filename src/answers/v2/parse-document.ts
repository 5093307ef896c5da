import { nearestNames } from '../../connectome/nearest-names.js';
import type { ExperimentDocument, ReportDocument } from './document.js';
import {
  DOCUMENT,
  type EitherField,
  type Field,
  type ListField,
  type MapField,
  type NumberField,
  type ObjectField,
  type TaggedField,
  type TimesField,
} from './fields.js';
import { checkMembers, checkNew, isObject, isSet } from './members.js';
import { checkCircles } from './node-set-circles.js';
import { rootId, SelectorParser } from './parse-selector.js';
import { parseSweep, type ParsedSweep } from './parse-sweep.js';
import { invalid, memberOf, nameOf, type Place, refused, WHOLE } from './place.js';
import { numberIn, textIn } from './scalars.js';
import { checkWindows, completeInput, completeReport } from './windows.js';

export interface DocumentLimits {
  /** Of one sweep. */
  readonly conditions: number;
  /** Types and root ids in all selectors, and root ids of given times. */
  readonly ids: number;
}

/**
 * Checks a document and completes it: every default is written out, members stand in the order of the table of
 * fields, `from`, `to` and `step` become values. Names in node_sets, inputs and reports keep their order, except that
 * whole numbers come first, as in every object of JavaScript. A complete document stays as it is. What the neurons of a
 * model decide (unknown names, empty sets, the groups of a sweep) is checked later.
 *
 * @param value as JSON.parse gives it
 * @param channels ids of the channels of the model: by default each is a report
 * @throws CodedError INVALID_PARAMETER with the path of the first fault
 */
export function parseDocument(
  value: unknown,
  limits: DocumentLimits,
  channels: readonly string[],
): ExperimentDocument {
  const names = isObject(value) && isObject(value['node_sets']) ? Object.keys(value['node_sets']) : [];
  const selectors = new SelectorParser(new Set(names), limits.ids);
  const parsed = new Parser(selectors, limits).object(DOCUMENT, value, WHOLE) as unknown as Parsed;
  checkCircles(parsed.node_sets);
  const { sweep: axes, ...rest } = parsed;
  const draft = { ...rest, reports: parsed.reports ?? channelReports(channels) };
  const sweep = parseSweep(axes ?? [], draft.inputs, limits.conditions);
  checkWindows(draft, sweep.values);
  return completed(draft, sweep);
}

/** After the table's checks. Windows may still be without an end, axes without values. */
interface Parsed extends Omit<ExperimentDocument, 'reports' | 'sweep'> {
  readonly reports?: ExperimentDocument['reports'];
  readonly sweep?: Parameters<typeof parseSweep>[0];
}

function completed(
  draft: Omit<ExperimentDocument, 'sweep'>,
  { axes, values }: ParsedSweep,
): ExperimentDocument {
  const { on_missing: onMissing, inputs, reports, ...before } = draft;
  const { node_sets: nodeSets, silence, duration_ms: durationMs, trials, seed, ...name } = before;
  return {
    ...name,
    node_sets: nodeSets,
    inputs: mapped(inputs, (input, own) => completeInput(input, own, durationMs, values)),
    silence,
    duration_ms: durationMs,
    trials,
    seed,
    reports: mapped(reports, (report) => completeReport(report, durationMs, values)),
    ...(axes.length > 0 && { sweep: axes }),
    on_missing: onMissing,
  };
}

function mapped<T>(record: Readonly<Record<string, T>>, change: (value: T, name: string) => T) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

/** The channels by side: as version 1 has them, but for each side. */
function channelReports(channels: readonly string[]): Record<string, ReportDocument> {
  const reports = channels.slice(0, DOCUMENT.members.reports.maximumLength).map((id) => [
    id,
    {
      node_set: `@channel/${id}`,
      type: 'rate',
      group_by: ['side'],
      start_ms: 0,
      end_ms: null,
    } satisfies ReportDocument,
  ]);
  return Object.fromEntries(reports) as Record<string, ReportDocument>;
}

/** Checks values by the table of fields and writes its defaults out. */
class Parser {
  #givenTimeIds = 0;

  constructor(
    private readonly selectors: SelectorParser,
    private readonly limits: DocumentLimits,
  ) {}

  value(field: Field, value: unknown, place: Place): unknown {
    switch (field.kind) {
      case 'text':
        return textIn(field, value, place);
      case 'number':
        return numberIn(field, value, place);
      case 'choice':
        if (field.allowed.includes(value as string)) return value;
        throw refused(
          place,
          value,
          field.allowed.length === 1 ? `"${field.allowed[0]!}"` : `one of ${field.allowed.join(', ')}`,
          typeof value === 'string' ? nearestNames(value, field.allowed) : undefined,
        );
      case 'list':
        return this.#list(field, value, place);
      case 'map':
        return this.#map(field, value, place);
      case 'object':
        return this.object(field, value, place);
      case 'tagged':
        return this.#tagged(field, value, place);
      case 'either':
        return this.#either(field, value, place);
      case 'selector':
        return this.selectors.parse(value, place);
      case 'times':
        return this.#times(field, value, place);
    }
  }

  object({ members }: ObjectField, value: unknown, place: Place): Record<string, unknown> {
    if (!isObject(value)) throw refused(place, value, 'a JSON object');
    checkMembers(value, Object.keys(members), place);
    const entries = Object.entries(members).flatMap(([name, field]): [string, unknown][] => {
      const here = memberOf(place, name);
      if (isSet(value, name)) return [[name, this.value(field, value[name], here)]];
      if (field.default !== undefined) return [[name, structuredClone(field.default)]];
      if (field.optional === true) return [];
      throw invalid(here, `${nameOf(place)} must have the member ${name}: ${field.description}`);
    });
    return Object.fromEntries(entries);
  }

  #list({ of, minimumLength, maximumLength }: ListField, value: unknown, place: Place): unknown[] {
    const length = allowedLength(minimumLength, maximumLength);
    if (!Array.isArray(value) || value.length < minimumLength || value.length > maximumLength) {
      throw refused(place, value, length);
    }
    const seen = new Map<string, number>();
    return value.map((item: unknown, i) => {
      const here = memberOf(place, i);
      const parsed = this.value(of, item, here);
      checkNew(seen, JSON.stringify(parsed), here, item);
      return parsed;
    });
  }

  #map({ names, maximumLength, of }: MapField, value: unknown, place: Place): Record<string, unknown> {
    if (!isObject(value)) throw refused(place, value, 'a JSON object');
    const entries = Object.entries(value);
    if (entries.length > maximumLength) {
      throw invalid(
        place,
        `${nameOf(place)} may have at most ${maximumLength} members, got ${entries.length}.`,
      );
    }
    const pattern = new RegExp(names.pattern);
    return Object.fromEntries(
      entries.map(([name, each]) => {
        if (!pattern.test(name)) {
          throw refused(place, name, `an object whose names are ${names.allowed}`);
        }
        return [name, this.value(of, each, memberOf(place, name))];
      }),
    );
  }

  #tagged({ tag, defaultTag, variants }: TaggedField, value: unknown, place: Place): unknown {
    if (!isObject(value)) throw refused(place, value, 'a JSON object');
    const given = isSet(value, tag) ? value[tag] : defaultTag;
    if (typeof given !== 'string' || !Object.hasOwn(variants, given)) {
      const allowed = Object.keys(variants);
      throw refused(
        memberOf(place, tag),
        given,
        `one of ${allowed.join(', ')}`,
        typeof given === 'string' ? nearestNames(given, allowed) : undefined,
      );
    }
    const { members } = variants[given]!;
    const foreign = Object.keys(value).find(
      (name) =>
        !Object.hasOwn(members, name) &&
        Object.values(variants).some((other) => Object.hasOwn(other.members, name)),
    );
    if (foreign !== undefined) {
      const owners = Object.keys(variants).filter((name) => Object.hasOwn(variants[name]!.members, foreign));
      throw invalid(
        memberOf(place, foreign),
        `${nameOf(place)} may have ${foreign} only if ${tag} is ${owners.join(' or ')}, got ${given}.`,
      );
    }
    return this.object(variants[given]!, value, place);
  }

  #either({ member, having, otherwise }: EitherField, value: unknown, place: Place): unknown {
    const field = isObject(value) && isSet(value, member) ? having : otherwise;
    return this.value(field, value, place);
  }

  #times({ time, maximumLength }: TimesField, value: unknown, place: Place): unknown {
    if (Array.isArray(value)) {
      checkTimesCount(value.length, maximumLength, place);
      return this.#ascending(time, value, place);
    }
    if (!isObject(value)) {
      throw refused(place, value, 'a list of times, or an object with a list for each root id');
    }
    const entries = Object.entries(value).map(([id, times]): [string, readonly unknown[]] => {
      const here = memberOf(place, id);
      rootId(id, here);
      if (!Array.isArray(times)) throw refused(here, times, 'a list of times');
      return [id, times];
    });
    if (entries.length === 0) throw refused(place, value, 'a list for at least one root id');
    this.#givenTimeIds += entries.length;
    if (this.#givenTimeIds > this.limits.ids) {
      throw invalid(
        place,
        `The inputs of a document may have times for at most ${this.limits.ids} root ids, got more.`,
      );
    }
    checkTimesCount(
      entries.reduce((sum, [, times]) => sum + times.length, 0),
      maximumLength,
      place,
    );
    const byId = entries
      .map(([id, times]): [string, number[]] => [id, this.#ascending(time, times, memberOf(place, id))])
      .sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
    return Object.fromEntries(byId);
  }

  #ascending(time: NumberField, times: readonly unknown[], place: Place): number[] {
    const seen = new Map<string, number>();
    const parsed = times.map((each, i) => {
      const here = memberOf(place, i);
      const value = numberIn(time, each, here) as number;
      checkNew(seen, String(value), here, each);
      return value;
    });
    return parsed.sort((a, b) => a - b);
  }
}

function checkTimesCount(count: number, maximum: number, place: Place): void {
  if (count > maximum) throw invalid(place, `An input may have at most ${maximum} times, got ${count}.`);
}

function allowedLength(minimum: number, maximum: number): string {
  if (maximum === 0) return 'an empty list';
  if (maximum === Infinity) return `a list of ${minimum} or more items`;
  return minimum === 0 ? `a list of at most ${maximum} items` : `a list of ${minimum} to ${maximum} items`;
}
