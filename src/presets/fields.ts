/**
 * Every field of a run request of version 1, described once. Validation, OpenAPI, the echo in the response, the id of a
 * run, GET /api/v1/model, the log, the command line and the form and link of the page are generated from these tables.
 * docs/HACKING.md explains how to add a field.
 */
import { STIMULUS_IDS } from './populations.js';
import { MAXIMUM_INTENSITY } from '../stimulus/protocol.js';

interface FieldDescription {
  /** A few words, for lists. */
  readonly label: string;
  /** Meaning of the value, as a sentence. */
  readonly description: string;
}

/** One of a list of values. */
export interface ChoiceField<Value extends string | number> extends FieldDescription {
  readonly type: Value extends string ? 'string' : 'integer';
  readonly allowed: readonly Value[];
  readonly default: Value;
  readonly example: Value;
}

/** Any number within bounds, both included. */
export interface RangeField extends FieldDescription {
  readonly type: 'integer' | 'number';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly example: number;
}

export type Field = ChoiceField<string> | ChoiceField<number> | RangeField;

export type ValueOf<F extends Field> = F extends { readonly allowed: readonly (infer Value)[] }
  ? Value
  : number;

/** The body of POST /api/v1/run, in the order of the members in the response and of the lines from which an id is made. */
export const FIELDS = {
  stimulus: {
    type: 'string',
    allowed: [...STIMULUS_IDS, 'none'],
    default: 'sugar',
    label: 'Stimulus',
    description: 'Stimulus applied to the brain; none applies no stimulus.',
    example: 'loom',
  },
  duration_ms: {
    type: 'integer',
    allowed: [50, 100, 150, 200],
    default: 100,
    label: 'Simulated time',
    description: 'Simulated time in ms.',
    example: 100,
  },
  intensity: {
    type: 'number',
    minimum: 0,
    maximum: MAXIMUM_INTENSITY,
    default: 1,
    label: 'Strength of the stimulus',
    description: 'Strength of the stimulus, without unit; it scales the nominal rate of the input events.',
    example: 1,
  },
  seed: {
    type: 'integer',
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 42,
    label: 'Seed of the stimulus train',
    description: 'Seed of the random input events; the same seed gives the same run.',
    example: 42,
  },
} as const satisfies Readonly<Record<string, Field>>;

/** The query of POST /api/v1/run. It selects the members of the response and is not part of the experiment. */
export const QUERY_FIELDS = {
  view: {
    type: 'string',
    allowed: ['full', 'drive'],
    default: 'full',
    label: 'View',
    description: 'full contains everything; drive is the same run without frames and top_types.',
    example: 'drive',
  },
} as const satisfies Readonly<Record<string, Field>>;

export type FieldName = keyof typeof FIELDS;
export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];

/** The JSON Schema of a field: its type, the values that it may have and what they mean. */
export function schemaOf(field: Field) {
  const { type, description } = field;
  return 'allowed' in field
    ? { type, description, enum: [...field.allowed] }
    : { type, description, minimum: field.minimum, maximum: field.maximum };
}

/** Completes "FIELD must be ...". */
export function allowedValuesOf(field: Field): string {
  if ('allowed' in field) return `one of ${field.allowed.join(', ')}`;
  const kind = field.type === 'integer' ? 'an integer' : 'a number';
  return `${kind} from ${field.minimum} to ${field.maximum}`;
}

export function isAllowed(field: Field, value: unknown): boolean {
  if ('allowed' in field) return (field.allowed as readonly unknown[]).includes(value);
  return (
    typeof value === 'number' &&
    value >= field.minimum &&
    value <= field.maximum &&
    (field.type === 'number' || Number.isInteger(value))
  );
}
