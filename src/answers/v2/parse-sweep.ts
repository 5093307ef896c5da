import { nearestNames } from '../../connectome/nearest-names.js';
import { describeValue, type CodedError } from '../../errors.js';
import { DecimalRange } from './decimal-range.js';
import type { EachAxis, ExperimentDocument, InputDocument, SetAxis, SweepAxis } from './document.js';
import { type NumberField, SWEPT_OF_DOCUMENT, SWEPT_OF_INPUT } from './fields.js';
import { checkNew } from './members.js';
import { invalid, memberOf, nameOf, type Place, refused, WHOLE } from './place.js';
import { numberIn } from './scalars.js';

type Inputs = ExperimentDocument['inputs'];

export interface ParsedSweep {
  readonly axes: readonly SweepAxis[];
  /** Of each parameter that is set, by its name. */
  readonly values: SweptValues;
}

export type SweptValues = ReadonlyMap<string, readonly number[]>;

/** An axis after the table's checks. */
interface GivenSet {
  readonly set: string;
  readonly values?: readonly number[];
  readonly from?: number;
  readonly to?: number;
  readonly step?: number;
}

type Given = GivenSet | EachAxis;

export const SILENCE = 'silence';

/** @throws CodedError INVALID_PARAMETER, before anything is expanded that has more conditions than allowed */
export function parseSweep(given: readonly Given[], inputs: Inputs, maximumConditions: number): ParsedSweep {
  const sweep = memberOf(WHOLE, 'sweep');
  const seen = new Map<string, number>();
  const pending = given.map((axis, i) => {
    const place = memberOf(sweep, i);
    const parameter = 'set' in axis ? axis.set : axis.as;
    const checked = 'set' in axis ? setAxis(axis, inputs, place) : eachAxis(axis, inputs, place);
    checkNew(seen, parameter, memberOf(place, 'set' in axis ? 'set' : 'as'), parameter);
    return checked;
  });
  const lengths = pending.map(({ length }) => length);
  const conditions = lengths.reduce((product, length) => product * length, 1n);
  if (conditions > maximumConditions) {
    throw tooManyConditions(
      maximumConditions,
      conditions,
      lengths.length > 1 ? lengths.map(describedCount).join(' x ') : '',
    );
  }
  const axes = pending.map(({ expand }) => expand());
  return { axes, values: new Map(axes.flatMap((axis) => ('set' in axis ? [[axis.set, axis.values]] : []))) };
}

/** @param factors where the number comes from; empty where it says so itself */
export function tooManyConditions(maximum: number, conditions: bigint, factors: string): CodedError {
  return invalid(
    memberOf(WHOLE, 'sweep'),
    `sweep must have at most ${maximum} conditions, got ${describedCount(conditions)}` +
      (factors === '' ? '.' : `: ${factors}.`),
  );
}

interface PendingAxis {
  /** At least so many conditions; the groups of an axis are known only with the neurons. */
  readonly length: bigint;
  readonly expand: () => SweepAxis;
}

function eachAxis(axis: EachAxis, inputs: Inputs, place: Place): PendingAxis {
  const names = Object.keys(inputs).map((name) => `inputs.${name}`);
  const here = memberOf(place, 'as');
  if (axis.as !== SILENCE && !names.includes(axis.as)) {
    throw refusedName(here, axis.as, [SILENCE, ...names], 'silence, or inputs.NAME of an input');
  }
  const input = axis.as === SILENCE ? undefined : inputs[axis.as.slice('inputs.'.length)];
  if (input?.module === 'spikes' && !Array.isArray(input.times_ms)) {
    throw refused(here, axis.as, 'an input whose times are one list, because the groups have other root ids');
  }
  return { length: 1n, expand: () => axis };
}

function setAxis(axis: GivenSet, inputs: Inputs, place: Place): PendingAxis {
  const field = sweptField(axis.set, inputs, memberOf(place, 'set'));
  const { values, from, to, step } = axis;
  const range = { from, to, step };
  const ranged = Object.entries(range).filter(([, value]) => value !== undefined);
  if (values !== undefined) {
    const [extra] = ranged;
    if (extra !== undefined) {
      throw invalid(
        memberOf(place, extra[0]),
        `${nameOf(place)} may have values, or from, to and step, got both.`,
      );
    }
    const list = memberOf(place, 'values');
    const checked = checkedValues(values, field, (i) => memberOf(list, i));
    return { length: BigInt(checked.length), expand: () => ({ set: axis.set, values: checked }) };
  }
  const missing = Object.entries(range).find(([, value]) => value === undefined);
  if (missing !== undefined) {
    const what = ranged.length === 0 ? 'values, or from, to and step' : missing[0];
    throw invalid(
      ranged.length === 0 ? place : memberOf(place, missing[0]),
      `${nameOf(place)} must have ${what}, got none.`,
    );
  }
  return rangeAxis(axis as Required<GivenSet>, field, place);
}

function rangeAxis(
  { set, from, to, step }: Required<GivenSet>,
  field: NumberField,
  place: Place,
): PendingAxis {
  const first = numberIn(field, from, memberOf(place, 'from')) as number;
  const last = numberIn(field, to, memberOf(place, 'to')) as number;
  if (last < first) throw refused(memberOf(place, 'to'), to, `at least from, which is ${first}`);
  const stepPlace = memberOf(place, 'step');
  if (!(step > 0)) throw refused(stepPlace, step, 'a number above 0');
  // So that a step near 0 is not taken for the multiple 0.
  const minimum = field.multipleOf ?? 0;
  const distance = numberIn({ ...field, minimum, maximum: Number.MAX_VALUE }, step, stepPlace) as number;
  const range = new DecimalRange(first, last, distance);
  return {
    length: range.length,
    expand: () => ({
      set,
      values: checkedValues(range.values(), field, () => stepPlace),
    }),
  } satisfies { length: bigint; expand: () => SetAxis };
}

function checkedValues(
  values: readonly number[],
  field: NumberField,
  placeOf: (i: number) => Place,
): number[] {
  const seen = new Map<string, number>();
  return values.map((value, i) => {
    const checked = numberIn(field, value, placeOf(i)) as number;
    checkNew(seen, String(checked), placeOf(i), value);
    return checked;
  });
}

/** @returns the field of a parameter that a sweep may set */
function sweptField(parameter: string, inputs: Inputs, place: Place): NumberField {
  const fields = new Map(Object.entries(SWEPT_OF_DOCUMENT));
  for (const [name, input] of Object.entries(inputs)) {
    for (const member of sweptMembers(input)) fields.set(`inputs.${name}.${member}`, SWEPT_OF_INPUT[member]!);
  }
  const field = fields.get(parameter);
  if (field !== undefined) return field;
  throw refusedName(
    place,
    parameter,
    [...fields.keys()],
    `one of ${[...Object.keys(SWEPT_OF_DOCUMENT), ...Object.keys(SWEPT_OF_INPUT).map((member) => `inputs.NAME.${member}`)].join(', ')} with the name of an input`,
  );
}

/** Given times have no rate. */
function sweptMembers(input: InputDocument): string[] {
  return Object.keys(SWEPT_OF_INPUT).filter(
    (member) => Object.hasOwn(input, member) || member === 'duration_ms',
  );
}

function refusedName(place: Place, name: string, names: readonly string[], allowed: string) {
  const near = nearestNames(name, names);
  return invalid(
    place,
    `${nameOf(place)} must be ${allowed}, got ${describeValue(name)}` +
      (near.length === 0 ? '.' : `; near: ${near.join(', ')}.`),
    near,
  );
}

/** Digits in full as long as somebody would read them. */
function describedCount(count: bigint): string {
  const digits = String(count);
  return digits.length <= 15 ? digits : `about 10^${digits.length - 1}`;
}
