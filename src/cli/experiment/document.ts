import {
  filesOfRates,
  selectorOf,
  ShorthandError,
  withShorthand,
  type RateRow,
  type Shorthand,
} from '#client';
import { readFileSync } from 'node:fs';
import { parseDocument } from '../../experiments/document/parse-document.js';
import { CodedError, describeValue } from '../../errors.js';
import { refuseRepeatedMember } from '../../repeated-member.js';
import { readTable } from '../../compiler/read-table.js';
import { type Terminal, UsageError } from '../command.js';

const STANDARD_INPUT = '-';
/** Limits of this machine. A service allows fewer conditions in one request, and a connectome may have more groups. */
export const DOCUMENT_LIMITS = { conditions: 20_000, ids: Infinity };

/**
 * The document of a file, with what the options change or add. It is not checked.
 * @param path `-` for standard input; undefined for a document that the options alone say
 * @throws UsageError where it cannot be read, or an option cannot; CodedError TABLE_INVALID where a table cannot
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
 * The document as text, short as it was written.
 * @throws CodedError INVALID_PARAMETER for a fault that needs no model to be found
 */
export function documentText(document: unknown): string {
  parseDocument(document, DOCUMENT_LIMITS, []);
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Rows of a table with a column rate_hz, and node_set, whose cells are names or JSON, or root_id. */
async function rowsOf(file: string, progress: Terminal['progress']): Promise<RateRow[]> {
  const rows: RateRow[] = [];
  let neurons = 'node_set';
  const columns = (found: readonly string[]) => {
    if (!found.includes(neurons) && found.includes('root_id')) neurons = 'root_id';
    return [neurons, 'rate_hz'];
  };
  await readTable(file, columns, progress, (row) => {
    const [text, rate] = [row.text(0), row.text(1)];
    const rateHz = Number(rate);
    if (rate.trim() === '' || !Number.isFinite(rateHz)) throw row.fault(1, 'a number');
    if (text === '') throw row.fault(0, 'a selector');
    try {
      // A name may have a comma.
      const selector = /^[[{]/.test(text) ? selectorOf(text) : text;
      rows.push({ node_set: neurons === 'root_id' ? { root_id: text } : selector, rate_hz: rateHz });
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
