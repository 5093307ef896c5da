/** Reads a list of driver lines: a table with the columns line and type, and source if there is one. */
import { DriverLines, type LabelledType } from '../../../experiments/figures/driver-lines.js';
import type { Progress } from '../../compiler/progress.js';
import { readTable } from '../../compiler/read-table.js';
import { tableFault } from '../../compiler/table-row.js';

const SEPARATOR = ';';

/** @throws CodedError TABLE_INVALID */
export async function readDriverLines(path: string, progress: Progress): Promise<DriverLines> {
  const rows: LabelledType[] = [];
  let hasSource = false;
  const { file } = await readTable(
    path,
    (found) => {
      hasSource = found.includes('source');
      return ['line', 'type', ...(hasSource ? ['source'] : [])];
    },
    progress,
    (row) => {
      const line = row.text(0).trim();
      if (line === '') throw row.fault(0, 'the name of a line');
      const source = hasSource ? row.text(2).trim() : '';
      for (const part of row.text(1).split(SEPARATOR)) {
        const type = part.trim();
        // Published lists name lines whose cell types are not known.
        if (type !== '') rows.push({ line, type, source });
      }
    },
  );
  if (rows.length === 0) throw tableFault(file, null, 'expected a row with a type, found none');
  return new DriverLines(rows);
}
