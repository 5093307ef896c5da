import { hash } from 'node:crypto';
import { FIELD_NAMES, FIELDS, type FieldName, type QUERY_FIELDS, type ValueOf } from './fields.js';

/**
 * A request of a client, complete and valid, with the names of the API and in the order of FIELDS. Equal experiments have
 * equal results. No number is -0.
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

const ID_HEX_DIGITS = 32;

/**
 * The name of an experiment and so of its result: the first 32 hex digits of the SHA-256 of lines, each ended by a
 * line feed: the connectome's digest, the version of the engine, then every field. Equal requests have equal ids on
 * every machine; a client can compute them itself.
 */
export function runId(connectomeDigest: string, experiment: Experiment): string {
  const lines = [connectomeDigest, ENGINE_VERSION, ...FIELD_NAMES.map((name) => experiment[name])];
  return hash('sha256', lines.map((line) => `${line}\n`).join('')).slice(0, ID_HEX_DIGITS);
}
