/** Checks the axes of a sweep and writes out their values. */
import { type CodedError, describeValue } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { allowedBy } from '../../engine/schema/allowed-values.js';
import { checked, checkOf } from '../../engine/schema/check.js';
import { completed } from '../../engine/schema/completed.js';
import { invalid, type JsonPath, nameOf, refused } from '../../engine/schema/json-path.js';
import { listOf, type Schema } from '../../engine/schema/json-schema.js';
import { nearestNames } from '../../engine/schema/nearest-names.js';
import type { EachAxis } from '../kinds/axes/each.js';
import { type GivenSetAxis, SWEPT_PARAMETERS } from '../kinds/axes/set.js';
import { axisKindOf, type GivenAxis, parameterOf, type SweepAxis } from '../kinds/axis-kinds.js';
import { sweepRefusal, sweptGroups, sweptNumbers } from '../kinds/edit-kinds.js';
import { inputKindOf, sweptMembersOf } from '../kinds/input-kinds.js';
import type { CheckedDocument } from './document.js';
import { SWEPT_OF_DOCUMENT } from '../kinds/fields.js';

/** The values of each swept parameter, by its name; undefined if it takes groups. */
export type SweptValues = ReadonlyMap<string, readonly number[] | undefined>;

type Swept = Pick<CheckedDocument, 'inputs'>;

/** A checked axis whose values are not written out yet, because there may be too many. */
interface PendingAxis {
  /** Number of values. An axis of groups counts as 1, because its groups are known only with the neurons. */
  readonly length: bigint;
  expand(): SweepAxis;
}

/** @throws CodedError INVALID_PARAMETER. Too large sweeps are refused before any values are written out. */
export function parseSweep(
  given: readonly GivenAxis[],
  document: Swept,
  maxConditions: number,
): { readonly axes: readonly SweepAxis[]; readonly values: SweptValues } {
  const parameters = given.map(parameterOf);
  const pending = given.map((axis, at) => {
    const path = ['sweep', at];
    const parsed = 'set' in axis ? pendingSet(axis, document, path) : pendingEach(axis, document, path);
    const before = parameters.indexOf(parameters[at]!);
    if (before === at) return parsed;
    const different = `different from all other items of the list; item ${before} is the same`;
    throw refused([...path, axisKindOf(axis).parameter], parameters[at], different);
  });
  const lengths = pending.map(({ length }) => length);
  const conditions = lengths.reduce((product, length) => product * length, 1n);
  if (conditions > maxConditions) {
    const factors = lengths.length > 1 ? lengths.map(describedCount).join(' x ') : '';
    throw tooManyConditions(maxConditions, conditions, factors);
  }
  const axes = pending.map((axis) => axis.expand());
  return {
    axes,
    values: new Map(axes.map((axis) => [parameterOf(axis), axisKindOf(axis).numbersOf?.(axis)])),
  };
}

function pendingEach(axis: EachAxis, document: Swept, path: JsonPath): PendingAxis {
  const here = [...path, 'as'];
  const inputs = new Map(Object.entries(document.inputs).map(([name, input]) => [`inputs.${name}`, input]));
  const names = [...sweptGroups(document), ...inputs.keys()];
  if (!names.includes(axis.as)) {
    throw refusedName(here, axis.as, names, `${sweptGroups().join(', ')}, or inputs.NAME of an input`);
  }
  const input = inputs.get(axis.as);
  const allowed = input && inputKindOf(input).groupsRequirement?.(input);
  if (allowed !== undefined) throw refused(here, axis.as, allowed);
  return { length: 1n, expand: () => axis };
}

function pendingSet(axis: GivenSetAxis, document: Swept, path: JsonPath): PendingAxis {
  const { set, values, from, to, step } = axis;
  const check = getOrInsert(knownChecks, sweptSchema(set, document, [...path, 'set']), newChecks);
  const range = Object.entries({ from, to, step });
  const given = range.find(([, value]) => value !== undefined);
  if (values !== undefined && given !== undefined) {
    throw invalid([...path, given[0]], `${nameOf(path)} may have values, or from, to and step, got both.`);
  }
  if (values !== undefined) {
    const list = check.values(values, [...path, 'values']);
    return { length: BigInt(list.length), expand: () => ({ set, values: list }) };
  }
  if (given === undefined) {
    throw invalid(path, `${nameOf(path)} must have values, or from, to and step, got none.`);
  }
  const missing = range.find(([, value]) => value === undefined);
  if (missing !== undefined) {
    throw invalid([...path, missing[0]], `${nameOf(path)} must have ${missing[0]}, got none.`);
  }
  const first = check.value(from, [...path, 'from']);
  const last = check.value(to, [...path, 'to']);
  if (last < first) throw refused([...path, 'to'], to, `at least from, which is ${first}`);
  const numbers = decimalRange(first, last, check.step(step, [...path, 'step']));
  return {
    length: numbers.length,
    expand() {
      const reached = numbers.values();
      if (new Set(reached).size === reached.length) return { set, values: reached };
      throw refused([...path, 'step'], step, 'so large that each value differs from the one before');
    },
  };
}

/** The schema of a swept parameter. @throws CodedError INVALID_PARAMETER if a sweep cannot set it */
function sweptSchema(parameter: string, document: Swept, path: JsonPath): Schema {
  const schemas = new Map<string, Schema>(
    Object.entries({ ...SWEPT_OF_DOCUMENT, ...sweptNumbers(document) }),
  );
  for (const [name, input] of Object.entries(document.inputs)) {
    const kind = inputKindOf(input);
    for (const [member, schema] of Object.entries(sweptMembersOf(kind))) {
      schemas.set(`inputs.${name}.${member}`, schema);
    }
    const member = parameter.startsWith(`inputs.${name}.`) && parameter.slice(`inputs.${name}.`.length);
    const allowed = member ? kind.sweepRequirement?.(input, member) : undefined;
    if (allowed !== undefined) throw refused(path, parameter, allowed);
  }
  const schema = schemas.get(parameter);
  if (schema !== undefined) return schema;
  const reason = sweepRefusal(parameter);
  if (reason !== undefined) throw invalid(path, `${nameOf(path)} cannot be ${parameter}: ${reason}.`);
  const allowed = `one of ${SWEPT_PARAMETERS} with the name of an input or an override`;
  throw refusedName(path, parameter, [...schemas.keys()], allowed);
}

/** The error for a parameter that cannot be swept. It suggests similar names. */
function refusedName(path: JsonPath, name: string, names: readonly string[], allowed: string): CodedError {
  const near = nearestNames(name, names);
  const hint = near.length === 0 ? '' : `; near: ${near.join(', ')}`;
  return invalid(path, `${nameOf(path)} must be ${allowed}, got ${describeValue(name)}${hint}.`, near);
}

/** Makes the checks of a swept number. They throw CodedError INVALID_PARAMETER. */
function newChecks(schema: Schema) {
  const { type, multipleOf = type === 'integer' ? 1 : undefined } = schema;
  const list = listOf(undefined, schema, { uniqueItems: true });
  const step = {
    type,
    ...(multipleOf === undefined ? { exclusiveMinimum: 0 } : { multipleOf, minimum: multipleOf }),
    allowed: `${allowedBy({ type, multipleOf })} above 0`,
  };
  const [checkValue, checkValues, checkStep] = [checkOf(schema), checkOf(list), checkOf(step)];
  return {
    value: (value: unknown, path: JsonPath) => checked(checkValue, completed(schema, value), path) as number,
    values: (values: readonly number[], path: JsonPath) =>
      checked(checkValues, completed(list, values), path) as readonly number[],
    // Checks the step as given, because completed() would round a step near 0 to 0.
    step: (value: unknown, path: JsonPath) => completed(schema, checked(checkStep, value, path)) as number,
  };
}

/** Compiling takes long, so the checks of a parameter are made on first use. */
const knownChecks = new Map<Schema, ReturnType<typeof newChecks>>();

/** @param factors the product that gives the number, in words; empty if there is only one factor */
export function tooManyConditions(
  maximum: number,
  conditions: bigint,
  factors: string,
  member: 'sweep' | 'controls' = 'sweep',
): CodedError {
  return invalid(
    [member],
    `${member} must have at most ${maximum} conditions, got ${describedCount(conditions)}` +
      (factors === '' ? '.' : `: ${factors}.`),
  );
}

/** All digits of a number, or a power of 10 if it has too many to read. */
function describedCount(count: bigint): string {
  const digits = String(count);
  return digits.length <= 15 ? digits : `about 10^${digits.length - 1}`;
}

/**
 * Numbers in equal steps, computed in decimal: 0.1, 0.2, 0.3 and not 0.30000000000000004.
 * @param from finite  @param to finite, not below from  @param step finite, above 0
 */
function decimalRange(from: number, to: number, step: number) {
  const parts = [from, to, step].map(decimalOf);
  const lowest = Math.min(...parts.map(({ exponent }) => exponent));
  const [first, last, distance] = parts.map(
    ({ digits, exponent }) => digits * 10n ** BigInt(exponent - lowest),
  );
  const length = (last! - first!) / distance! + 1n;
  return {
    /** Number of values. The last one is included if a step hits it. */
    length,
    /** All values. Check the length first. */
    values: () =>
      Array.from({ length: Number(length) }, (_, i) => Number(`${first! + BigInt(i) * distance!}e${lowest}`)),
  };
}

/** The shortest decimal that parses to the number: digits times 10^exponent. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa, exponent] = value.toExponential().split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  return { digits: BigInt(whole! + fraction), exponent: Number(exponent) - fraction.length };
}
