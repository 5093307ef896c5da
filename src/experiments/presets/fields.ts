/**
 * Every field of a run request of version 1, described once. Validation, OpenAPI, the echo in the response, the id of a
 * run, GET /api/v1/model, the log, the command line and the form and link of the page are generated from these tables.
 * docs/HACKING.md explains how to add a field.
 */
import { STIMULUS_IDS } from './populations.js';
import { MAX_INTENSITY } from '../../engine/stimulus/protocol.js';
import type { Schema } from '../../engine/schema/json-schema.js';

/** The JSON Schema of a field, either a list of values or a number with bounds, and its label on the page. */
export interface Field extends Schema {
  readonly type: 'string' | 'integer' | 'number';
  /** A few words, for lists. */
  readonly label: string;
  readonly default: string | number;
}

export type ValueOf<F extends Field> = F extends { readonly enum: readonly (infer Value)[] } ? Value : number;

/** The fields of POST /api/v1/run. Responses, and the lines that are hashed into an id, have them in this order. */
export const FIELDS = {
  stimulus: {
    type: 'string',
    description: 'Stimulus applied to the brain; none applies no stimulus.',
    enum: [...STIMULUS_IDS, 'none'],
    default: 'sugar',
    examples: ['loom'],
    label: 'Stimulus',
  },
  duration_ms: {
    type: 'integer',
    description: 'Simulated time in ms.',
    enum: [50, 100, 150, 200],
    default: 100,
    examples: [100],
    label: 'Simulated time',
  },
  intensity: {
    type: 'number',
    description: 'Strength of the stimulus, without unit; it scales the nominal rate of the input events.',
    minimum: 0,
    maximum: MAX_INTENSITY,
    default: 1,
    examples: [1],
    label: 'Strength of the stimulus',
  },
  seed: {
    type: 'integer',
    description: 'Seed of the random input events; the same seed gives the same run.',
    minimum: 0,
    maximum: 2 ** 32 - 1,
    default: 42,
    examples: [42],
    label: 'Seed of the stimulus train',
  },
} as const satisfies Readonly<Record<string, Field>>;

/** The query of POST /api/v1/run. It selects members of the response and does not change the id. */
export const QUERY_FIELDS = {
  view: {
    type: 'string',
    description: 'full contains everything; drive is the same run without frames and top_types.',
    enum: ['full', 'drive'],
    default: 'full',
    examples: ['drive'],
    label: 'View',
  },
} as const satisfies Readonly<Record<string, Field>>;

export type FieldName = keyof typeof FIELDS;
export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];
