/** Fields that several parts of a document use. */
import { selector } from '../../engine/connectome/selector-schema.js';
import { integer, listOf, number, oneOf, type SchemaOf } from '../../engine/schema/json-schema.js';
import { MAX_TRIAL_STEPS, STEPS_PER_MS } from '../../engine/stimulus/protocol.js';

export const MAX_DURATION_MS = MAX_TRIAL_STEPS / STEPS_PER_MS;
export const TIME_STEP_MS = 1 / STEPS_PER_MS;

/** Times from the start of a trial. The last step begins at the maximum. */
export const MOMENT = { multipleOf: TIME_STEP_MS, minimum: 0, maximum: MAX_DURATION_MS - TIME_STEP_MS };
export const LENGTH = { multipleOf: TIME_STEP_MS, minimum: TIME_STEP_MS, maximum: MAX_DURATION_MS };

/** Rounds, because a multiple of 0.1 ms is not exact as a double. */
export function stepsOf(ms: number): number {
  return Math.round(ms * STEPS_PER_MS);
}

export function startMs(description: string) {
  return number(description, { ...MOMENT, default: 0, examples: [200] });
}

/** A time that may be null: until the end of the trial. */
export function untilEndMs(description: string): SchemaOf<number | null> {
  const { minimum, maximum } = LENGTH;
  return {
    ...number(description, {
      ...LENGTH,
      default: null,
      examples: [300],
      allowed: `a multiple of ${TIME_STEP_MS} from ${minimum} to ${maximum}, or null for the end of the trial`,
    }),
    type: ['number', 'null'],
  };
}

/** Members of the document that a sweep may set. */
export const SWEPT_OF_DOCUMENT = {
  duration_ms: integer('Simulated time of one trial in ms.', {
    minimum: 1,
    maximum: MAX_DURATION_MS,
    default: 1000,
    examples: [1000],
  }),
  seed: integer('Seed of the Poisson trains; the same seed gives the same trains.', {
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 42,
    examples: [42],
  }),
};

export const NODE_SET = {
  ...selector(
    'Selects neurons: a name or cell type, an object of labels and ids, or a list of these, which are united.',
  ),
  examples: ['@sugar'],
};

/** Names have no dot, because dots separate the parts of `inputs.NAME.rate_hz`. */
export const INPUT_NAME = {
  pattern: '^(?!__proto__$)[A-Za-z0-9_-]{1,64}$',
  allowed: '1 to 64 letters, digits, "_" or "-", and not __proto__',
};

export const GROUP_LABELS = ['neuron', 'type', 'side', 'super_class', 'class', 'sub_class'] as const;
export type GroupLabel = (typeof GROUP_LABELS)[number];

/** A list of labels by which neurons are grouped. */
export function groupBy(
  description: string,
  byDefault: readonly GroupLabel[] = [],
  maxItems: number = GROUP_LABELS.length,
) {
  return listOf(description, oneOf('A label; neurons with equal ones are a group.', GROUP_LABELS), {
    maxItems,
    uniqueItems: true,
    default: byDefault,
    ...(maxItems > 0 && { examples: [['type', 'side']] }),
  });
}

/** @returns a pattern of parameters of a sweep, in which NAME stands for the name of an input or an override */
export function patternOf(parameters: readonly string[]): string {
  const forms = parameters.map((each) =>
    each.replaceAll('.', '\\.').replaceAll('NAME', '[A-Za-z0-9_-]{1,64}'),
  );
  return `^(?:${forms.join('|')})$`;
}
