import { FIELD_NAMES, FIELDS, type FieldName, type QUERY_FIELDS, type ValueOf } from './fields.js';

/**
 * What a client asks for, complete and valid, with the names of the API and in the order of FIELDS. Equal experiments
 * have equal results. No number is -0.
 */
export type Experiment = { readonly [Name in FieldName]: ValueOf<(typeof FIELDS)[Name]> };

export type View = ValueOf<(typeof QUERY_FIELDS)['view']>;

/** The experiment of a valid request: missing fields get their defaults. */
export function experimentOf(request: Partial<Experiment>): Experiment {
  const complete = FIELD_NAMES.map((name) => {
    const value = request[name] ?? FIELDS[name].default;
    // Adding 0 turns -0 into 0, so that equal requests have equal ids.
    return [name, typeof value === 'number' ? value + 0 : value];
  });
  return Object.fromEntries(complete) as unknown as Experiment;
}

export const DEFAULT_EXPERIMENT = experimentOf({});

/** Changes whenever any result may change; part of every run's id. */
export const ENGINE_VERSION = '2';
