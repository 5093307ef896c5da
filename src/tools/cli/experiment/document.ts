import {
  filesOfRates,
  selectorOf,
  ShorthandError,
  withShorthand,
  type RateRow,
  type Shorthand,
} from '#client';
import { readFileSync } from 'node:fs';
import { parseDocument } from '../../../experiments/document/parse-document.js';
import { CodedError, describeValue } from '../../../engine/errors.js';
import { refuseRepeatedMember } from '../../../engine/schema/json-text.js';
import { readTable } from '../../compiler/read-table.js';
import { type Terminal, UsageError } from '../command.js';

const STANDARD_INPUT = '-';
/** Limits for experiments on this machine. A service allows fewer conditions in one request. */
export const DOCUMENT_LIMITS = { conditions: 20_000, ids: Infinity };

/**
 * Reads a document and applies the options to it. The result is not validated yet.
 * @param path `-` for standard input; undefined if only the options describe the document
 * @throws UsageError if the document or an option is unreadable
 * @throws CodedError TABLE_INVALID if a table of rates is unreadable
 */
export async function documentOf(
  path: string | undefined,
  options: Shorthand,
  { readInput, progress }: Pick<Terminal, 'readInput' | 'progress'>,
): Promise<unknown> {
  const document = path === undefined ? {} : readJson(path, readInput);
  const tables = new Map<string, readonly RateRow[]>();
  try {
    for (const file of filesOfRates(options)) tables.set(file, await rowsOf(file, progress));
    return withShorthand(document, options, tables);
  } catch (error) {
    throw error instanceof ShorthandError ? new UsageError(error.message) : error;
  }
}

/**
 * The document as JSON, without defaults.
 * @throws CodedError INVALID_PARAMETER for a fault that can be found without a model
 */
export function documentText(document: unknown): string {
  parseDocument(document, DOCUMENT_LIMITS, []);
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Reads a table with the column rate_hz and either node_set (names or JSON) or root_id. */
async function rowsOf(file: string, progress: Terminal['progress']): Promise<RateRow[]> {
  const rows: RateRow[] = [];
  let neurons = 'node_set';
  const columns = (found: readonly string[]) => {
    if (!found.includes(neurons) && found.includes('root_id')) neurons = 'root_id';
    return [neurons, 'rate_hz'];
  };
  await readTable(file, columns, progress, (row) => {
    const [text, rateHz] = [row.text(0), row.finiteNumber(1)];
    if (text === '') throw row.fault(0, 'a selector');
    if (neurons === 'root_id') {
      rows.push({ node_set: { root_id: String(row.id(0)) }, rate_hz: rateHz });
      return;
    }
    try {
      // selectorOf would split a name that contains a comma.
      const selector = /^[[{]/.test(text) ? selectorOf(text) : text;
      rows.push({ node_set: selector, rate_hz: rateHz });
    } catch {
      throw row.fault(0, 'a selector');
    }
  });
  return rows;
}

function readJson(path: string, readInput: () => string): unknown {
  const name = path === STANDARD_INPUT ? 'Standard input' : path;
  let text = '';
  try {
    text = path === STANDARD_INPUT ? readInput() : readFileSync(path, 'utf8');
    // Some editors write a byte order mark, which JSON.parse refuses.
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
