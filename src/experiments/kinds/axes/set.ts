import { MAX_LABEL_LENGTH } from '../../../engine/connectome/selector-schema.js';
import { listed, MAX_NAMED } from '../../../engine/connectome/set-selector.js';
import { listOf, number, object, printable, type Static } from '../../../engine/schema/json-schema.js';
import { patternOf, SWEPT_OF_DOCUMENT } from '../fields.js';
import type { AxisKind } from '../axis-kind.js';
import { sweptNumbers } from '../edit-kinds.js';
import { SWEPT_MEMBERS } from '../input-kinds.js';

/** All parameters that a sweep may set. NAME is a name of the document. */
const PARAMETERS = [
  ...Object.keys(SWEPT_OF_DOCUMENT),
  ...Object.keys(SWEPT_MEMBERS).map((member) => `inputs.NAME.${member}`),
  ...Object.keys(sweptNumbers()),
];
/** The same, for messages. */
export const SWEPT_PARAMETERS = PARAMETERS.join(', ');

const PARAMETER = printable(`One of ${SWEPT_PARAMETERS}.`, MAX_LABEL_LENGTH, {
  examples: ['inputs.sugar.rate_hz'],
  publishes: { pattern: patternOf(PARAMETERS) },
});
const VALUES = listOf(
  'Values of the parameter, each within its bounds.',
  number('A value of the swept parameter.'),
  { minItems: 1, uniqueItems: true, examples: [[10, 50, 100]] },
);
const COMPONENT = { component: 'SweepOfValues' };
const SCHEMA = object(
  'A parameter that takes several values in turn: either values, or from, to and step.',
  {
    set: PARAMETER,
    'values?': VALUES,
    'from?': number('First value.', { examples: [10] }),
    'to?': number('Last value, included if a step hits it.', { examples: [200] }),
    'step?': number('Distance of two values, above 0.', {
      examples: [10],
      publishes: { exclusiveMinimum: 0 },
    }),
  },
  {
    ...COMPONENT,
    publishes: {
      minProperties: 2,
      maxProperties: 4,
      dependentRequired: { from: ['to', 'step'], to: ['from', 'step'], step: ['from', 'to'] },
    },
  },
);
/** `from`, `to` and `step` have become values. */
const COMPLETE = object(
  'A parameter that takes several values in turn.',
  { set: PARAMETER, values: VALUES },
  COMPONENT,
);

export type GivenSetAxis = Static<typeof SCHEMA>;

export type SetAxis = Static<typeof COMPLETE>;

/** An axis of values: a number of the document takes one value after the other. */
export const set = {
  schema: SCHEMA,
  complete: COMPLETE,
  parameter: 'set',
  planned: (_, axis) => ({ kind: 'values', name: axis.set, values: axis.values }),
  columnsOf: (axis) => [
    {
      column: { name: axis.set, type: 'double' },
      valueIn: (parameters) => parameters[axis.set] as number,
    },
  ],
  numbersOf: ({ values }) => values,
  words({ values }, name, unit) {
    const numbers =
      values.length <= MAX_NAMED
        ? `is ${listed(values.map(String), MAX_NAMED)}`
        : `takes ${values.length} values from ${Math.min(...values)} to ${Math.max(...values)}`;
    return `as the ${name} ${numbers} ${unit}`.trimEnd();
  },
} satisfies AxisKind<GivenSetAxis, SetAxis>;
