import { hash } from 'node:crypto';
import { ENGINE_VERSION, type Experiment } from './experiment.js';
import { FIELD_NAMES } from './fields.js';

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
