import { ShorthandError, withShorthand, type Shorthand } from '#client';
import { readFileSync } from 'node:fs';
import { parseDocument } from '../../experiments/document/parse-document.js';
import { CodedError, describeValue } from '../../errors.js';
import { refuseRepeatedMember } from '../../repeated-member.js';
import { UsageError } from '../command.js';

const STANDARD_INPUT = '-';
/** Limits of this machine. A service allows fewer conditions in one request, and a connectome may have more groups. */
export const DOCUMENT_LIMITS = { conditions: 20_000, ids: Infinity };

/**
 * The document of a file, with what the options change or add. It is not checked.
 * @param path `-` for standard input; undefined for a document that the options alone say
 * @throws UsageError where it cannot be read, or an option cannot
 */
export function documentOf(path: string | undefined, options: Shorthand, readInput: () => string): unknown {
  const document = path === undefined ? {} : readJson(path, readInput);
  try {
    return withShorthand(document, options);
  } catch (error) {
    throw error instanceof ShorthandError ? new UsageError(error.message) : error;
  }
}

/**
 * The document as text, short as it was written.
 * @throws CodedError INVALID_PARAMETER for a fault that needs no model to be found
 */
export function documentText(document: unknown): string {
  parseDocument(document, DOCUMENT_LIMITS, []);
  return `${JSON.stringify(document, null, 2)}\n`;
}

function readJson(path: string, readInput: () => string): unknown {
  const name = path === STANDARD_INPUT ? 'Standard input' : path;
  let text = '';
  try {
    text = path === STANDARD_INPUT ? readInput() : readFileSync(path, 'utf8');
    // A byte order mark, as some editors write it, is no JSON.
    const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    refuseRepeatedMember(text);
    return document;
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { message } = error as Error;
    throw new UsageError(
      error instanceof SyntaxError
        ? `${name} should hold a document as JSON, found ${describeValue(text)}: ${message}`
        : `${name} cannot be read: ${message}`,
    );
  }
}
