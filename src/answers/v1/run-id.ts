import { hash } from 'node:crypto';
import { ENGINE_VERSION, type Experiment } from './experiment.js';

const ID_HEX_DIGITS = 32;

/**
 * The name of an experiment and so of its result: the first 32 hex digits of the SHA-256 of six lines, each
 * ended by a line feed. Equal requests have equal ids on every machine; a client can compute them itself.
 */
export function runId(
  connectomeDigest: string,
  { stimulus, durationMs, intensity, seed }: Experiment,
): string {
  const lines = [connectomeDigest, ENGINE_VERSION, stimulus, durationMs, intensity, seed];
  return hash('sha256', lines.map((line) => `${line}\n`).join('')).slice(0, ID_HEX_DIGITS);
}
