import { type CodedError } from '../../errors.js';
import { getOrInsert } from '../../get-or-insert.js';
import { allowedBy } from '../../schema/allowed-values.js';
import { checked, checkOf } from '../../schema/check.js';
import { completed } from '../../schema/completed.js';
import { invalid, refused } from '../../schema/json-path.js';
import { listOf, type Schema } from '../../schema/json-schema.js';
import {
  axisKindOf,
  type GivenAxis,
  type NumberChecks,
  parameterOf,
  type SweepAxis,
} from '../kinds/axis-kinds.js';
import type { CheckedDocument } from './document.js';

/** Values of each parameter that is set, by its name. */
export type SweptValues = ReadonlyMap<string, readonly number[]>;

/** @throws CodedError INVALID_PARAMETER, before anything is expanded that has more conditions than allowed */
export function parseSweep(
  given: readonly GivenAxis[],
  document: Pick<CheckedDocument, 'inputs'>,
  maximumConditions: number,
): { readonly axes: readonly SweepAxis[]; readonly values: SweptValues } {
  const seen = new Map<string, number>();
  const pending = given.map((axis, i) => {
    const path = ['sweep', i];
    const kind = axisKindOf(axis);
    const parsed = kind.parsed(axis, { inputs: document.inputs, document, path, checksOf });
    const parameter = parameterOf(axis);
    const before = seen.get(parameter);
    if (before !== undefined) {
      const different = `different from all other items of the list; item ${before} is the same`;
      throw refused([...path, kind.parameter], parameter, different);
    }
    seen.set(parameter, i);
    return parsed;
  });
  const lengths = pending.map(({ length }) => length);
  const conditions = lengths.reduce((product, length) => product * length, 1n);
  if (conditions > maximumConditions) {
    const factors = lengths.length > 1 ? lengths.map(describedCount).join(' x ') : '';
    throw tooManyConditions(maximumConditions, conditions, factors);
  }
  const axes = pending.map(({ expand }) => expand());
  const values = axes.flatMap((axis) => {
    const own = axisKindOf(axis).valuesOf?.(axis);
    return own === undefined ? [] : [[parameterOf(axis), own] as const];
  });
  return { axes, values: new Map(values) };
}

const knownChecks = new Map<Schema, NumberChecks>();

/** Compiles the checks of a parameter when it is first swept. */
function checksOf(schema: Schema): NumberChecks {
  return getOrInsert(knownChecks, schema, () => {
    const { type, multipleOf = type === 'integer' ? 1 : undefined } = schema;
    const list = listOf(undefined, schema, { uniqueItems: true });
    const step = {
      type,
      ...(multipleOf === undefined ? { exclusiveMinimum: 0 } : { multipleOf, minimum: multipleOf }),
      allowed: `${allowedBy({ type, multipleOf })} above 0`,
    };
    const [checkValue, checkValues, checkStep] = [checkOf(schema), checkOf(list), checkOf(step)];
    return {
      value: (value, path) => checked(checkValue, completed(schema, value), path) as number,
      values: (values, path) => checked(checkValues, completed(list, values), path) as readonly number[],
      // A step near 0 is not taken for the multiple 0.
      step: (value, path) => completed(schema, checked(checkStep, value, path)) as number,
    };
  });
}

/** @param factors where the number comes from; empty where it says so itself */
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

/** Digits in full as long as somebody would read them. */
function describedCount(count: bigint): string {
  const digits = String(count);
  return digits.length <= 15 ? digits : `about 10^${digits.length - 1}`;
}
