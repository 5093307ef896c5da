/** The published experiments of examples/, which cost their clients nothing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { parseDocument } from '../../experiments/document/parse-document.js';
import { experimentId } from '../../experiments/plan/experiment-head.js';

const FOLDER = new URL('../../../examples/', import.meta.url);
/** The files are ours, so no limit has to refuse them. */
const NO_LIMITS = { ids: Infinity, conditions: Infinity };

/** @returns the ids of the published experiments on a connectome; none if this copy of the service lacks their folder */
export function exampleIds({ digest, metadata }: Connectome): ReadonlySet<string> {
  const channels = metadata.channels.map(({ id }) => id);
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((file) => file.endsWith('.json')) : [];
  return new Set(
    files.map((file) => {
      const document = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as unknown;
      return experimentId(digest, parseDocument(document, NO_LIMITS, channels));
    }),
  );
}
