import { createHash, hash } from 'node:crypto';
import type { Connectome } from '../../connectome/connectome.js';
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

/**
 * The digest of a connectome whose outputs of some neurons are cut: of its own digest and the ids of these neurons,
 * so that no run of the one is ever taken for a run of the other. Without such neurons it is the connectome's own.
 * @param silenced indices of neurons, in any order
 */
export function digestWithout(connectome: Connectome, silenced: Uint32Array): string {
  if (silenced.length === 0) return connectome.digest;
  const sum = createHash('sha256').update(`${connectome.digest}\nsilenced\n`);
  for (const i of Uint32Array.from(new Set(silenced)).sort()) sum.update(`${connectome.neuronId(i)}\n`);
  return sum.digest('hex');
}
