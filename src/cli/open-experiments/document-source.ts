import { readFileSync } from 'node:fs';
import { parseDocument } from '../../answers/v2/parse-document.js';
import { describeValue } from '../../errors.js';
import { refuseRepeatedMember } from '../../repeated-member.js';
import { usageError } from '../experiment-usage.js';
import type { DocumentOptions } from './options.js';
import { withShorthand } from './shorthand.js';

const STANDARD_INPUT = '-';
/** Of a sweep. A service allows fewer in one request, and a connectome may have more groups. */
export const MAXIMUM_CONDITIONS = 20_000;
/** What HTTP bounds to protect a service has no limit here. */
export const DOCUMENT_LIMITS = { conditions: MAXIMUM_CONDITIONS, ids: Infinity };

/**
 * The document of a file, with what the options change or add. It is not checked.
 * @param path `-` for standard input; undefined for a document that the options alone say
 * @throws CodedError USAGE where it cannot be read, or an option cannot
 */
export function documentOf(path: string | undefined, options: DocumentOptions): unknown {
  return withShorthand(path === undefined ? {} : readJson(path), options);
}

/**
 * The document as text, short as it was written.
 * @throws CodedError INVALID_PARAMETER for a fault that needs no model to be found
 */
export function documentText(document: unknown): string {
  parseDocument(document, DOCUMENT_LIMITS, []);
  return `${JSON.stringify(document, null, 2)}\n`;
}

function readJson(path: string): unknown {
  const name = path === STANDARD_INPUT ? 'Standard input' : path;
  let text: string;
  try {
    // File descriptor 0 also reads pipes and terminals to their end.
    text = readFileSync(path === STANDARD_INPUT ? 0 : path, 'utf8');
  } catch (error) {
    throw usageError(`${name} cannot be read: ${(error as Error).message}`);
  }
  let document: unknown;
  try {
    // A byte order mark, as some editors write it, is no JSON.
    document = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw usageError(
      `${name} should hold a document as JSON, found ${describeValue(text)}: ${(error as Error).message}`,
    );
  }
  refuseRepeatedMember(text);
  return document;
}
