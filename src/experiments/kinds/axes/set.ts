import { MAXIMUM_LABEL_LENGTH } from '../../../connectome/selector-schema.js';
import { invalid, type JsonPath, nameOf, refused } from '../../../schema/json-path.js';
import { listOf, number, object, printable, type Schema, type Static } from '../../../schema/json-schema.js';
import { refusedName } from './refused-name.js';
import { DecimalRange } from '../../document/decimal-range.js';
import { SWEPT_OF_DOCUMENT } from '../../document/fields.js';
import type { AxisContext, AxisKind } from '../axis-kinds.js';
import { sweepRefusal, sweptNumbers } from '../edit-kinds.js';
import { inputKindOf, SWEPT_MEMBERS, sweptMembersOf } from '../input-kinds.js';

function sweptNumber(description: string, ...examples: number[]) {
  return number(description, examples.length > 0 ? { examples } : {});
}

/** Names of all parameters; NAME stands for any name of the document. */
function parameters(): string[] {
  const ofInput = Object.keys(SWEPT_MEMBERS).map((member) => `inputs.NAME.${member}`);
  return [...Object.keys(SWEPT_OF_DOCUMENT), ...ofInput, ...Object.keys(sweptNumbers())];
}

const SCHEMA = object('A parameter that takes several values in turn: either values, or from, to and step.', {
  set: printable(`One of ${parameters().join(', ')}.`, MAXIMUM_LABEL_LENGTH, {
    examples: ['inputs.sugar.rate_hz'],
  }),
  'values?': listOf(
    'Values of the parameter, each within its bounds.',
    sweptNumber('A value of the swept parameter.'),
    { minItems: 1, uniqueItems: true, examples: [[10, 50, 100]] },
  ),
  'from?': sweptNumber('First value.', 10),
  'to?': sweptNumber('Last value, included if a step hits it.', 200),
  'step?': sweptNumber('Distance of two values, above 0.', 10),
});

/** A parameter with the values that it takes in turn; `from`, `to` and `step` are written out. */
export interface SetAxis {
  readonly set: string;
  readonly values: readonly number[];
}

/** A number of the document that takes values in turn. */
export const set = {
  schema: SCHEMA,
  parameter: 'set',
  parsed({ set, values, from, to, step }, { path, checksOf, ...named }) {
    const field = checksOf(sweptSchema(set, named, [...path, 'set']));
    const range = Object.entries({ from, to, step });
    const given = range.find(([, value]) => value !== undefined);
    if (values !== undefined) {
      if (given === undefined) {
        const checked = field.values(values, [...path, 'values']);
        return { length: BigInt(checked.length), expand: () => ({ set, values: checked }) };
      }
      const both = `${nameOf(path)} may have values, or from, to and step, got both.`;
      throw invalid([...path, given[0]], both);
    }
    if (given === undefined) {
      throw invalid(path, `${nameOf(path)} must have values, or from, to and step, got none.`);
    }
    const missing = range.find(([, value]) => value === undefined);
    if (missing !== undefined) {
      throw invalid([...path, missing[0]], `${nameOf(path)} must have ${missing[0]}, got none.`);
    }
    const first = field.value(from, [...path, 'from']);
    const last = field.value(to, [...path, 'to']);
    if (last < first) throw refused([...path, 'to'], to, `at least from, which is ${first}`);
    const decimals = new DecimalRange(first, last, field.step(step, [...path, 'step']));
    const expand = () => {
      const reached = decimals.values();
      if (new Set(reached).size === reached.length) return { set, values: reached };
      throw refused([...path, 'step'], step, 'so large that each value differs from the one before');
    };
    return { length: decimals.length, expand };
  },
  valuesOf: (axis) => axis.values,
  planned: (_, axis) => ({ kind: 'values', name: axis.set, values: axis.values }),
  columnsOf: (axis) => [
    {
      column: { name: axis.set, type: 'double' },
      valueIn: (parameters) => parameters[axis.set] as number,
    },
  ],
} satisfies AxisKind<Static<typeof SCHEMA>, SetAxis>;

/** @throws CodedError INVALID_PARAMETER where the parameter is none that a sweep may set */
function sweptSchema(
  parameter: string,
  { inputs, document }: Pick<AxisContext, 'inputs' | 'document'>,
  path: JsonPath,
): Schema {
  const schemas = new Map<string, Schema>(
    Object.entries({ ...SWEPT_OF_DOCUMENT, ...sweptNumbers(document) }),
  );
  for (const [name, input] of Object.entries(inputs)) {
    for (const [member, schema] of Object.entries(sweptMembersOf(inputKindOf(input)))) {
      schemas.set(`inputs.${name}.${member}`, schema);
    }
  }
  const schema = schemas.get(parameter);
  const [, name = '', member = ''] = /^inputs\.([^.]+)\.(.+)$/.exec(parameter) ?? [];
  const input = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  const allowedHere = input && inputKindOf(input).sweepRequirement?.(input, member);
  if (allowedHere !== undefined) throw refused(path, parameter, allowedHere);
  if (schema !== undefined) return schema;
  const reason = sweepRefusal(parameter);
  if (reason !== undefined) throw invalid(path, `${nameOf(path)} cannot be ${parameter}: ${reason}.`);
  const allowed = `one of ${parameters().join(', ')} with the name of an input or an override`;
  throw refusedName(path, parameter, [...schemas.keys()], allowed);
}
