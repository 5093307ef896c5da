/** The published experiments, those of examples/ and of the lesson, which cost their clients nothing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { lessonDocuments } from '../../experiments/document/lesson.js';
import { parseDocument } from '../../experiments/document/parse-document.js';
import { experimentId } from '../../experiments/plan/experiment-head.js';

const FOLDER = new URL('../../../examples/', import.meta.url);
/** The documents are ours, so no limit has to refuse them. */
const NO_LIMITS = { ids: Infinity, conditions: Infinity };

/** @returns the ids on a connectome; only those of the lesson if this copy of the service lacks the folder */
export function exampleIds({ digest, metadata }: Connectome): ReadonlySet<string> {
  const channels = metadata.channels.map(({ id }) => id);
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((file) => file.endsWith('.json')) : [];
  const examples = files.map((file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as unknown);
  return new Set(
    [...examples, ...lessonDocuments()].map((document) =>
      experimentId(digest, parseDocument(document, NO_LIMITS, channels)),
    ),
  );
}
