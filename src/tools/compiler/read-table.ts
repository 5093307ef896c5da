/** Reads a table row by row. The file name decides the format. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { SourceFile } from '../../engine/connectome/connectome.js';
import { readCsv } from './csv.js';
import { openFeather } from './feather.js';
import { openParquet } from './parquet.js';
import type { Progress } from './progress.js';
import { chosenColumns, type ColumnarFile, type ColumnChoice, tableFault, TableRow } from './table-row.js';

/**
 * @param path a .parquet, .feather, .ftr or .arrow file; any other name is CSV, which may be gzipped
 * @param onRow called for each row, with the columns in the order in which they were chosen
 * @returns the file with the SHA-256 of its bytes
 * @throws CodedError TABLE_INVALID
 */
export async function readTable(
  path: string,
  columns: ColumnChoice,
  progress: Progress,
  onRow: (row: TableRow) => void,
): Promise<SourceFile> {
  const format = /\.(parquet|feather|ftr|arrow)$/i.exec(path)?.[1]!.toLowerCase();
  if (format === undefined) {
    return { file: basename(path), sha256: await readCsv(path, columns, progress, onRow) };
  }
  await readColumns(path, format === 'parquet' ? openParquet : openFeather, columns, progress, onRow);
  return sourceOf(path);
}

async function readColumns(
  path: string,
  open: (path: string) => Promise<ColumnarFile>,
  columns: ColumnChoice,
  progress: Progress,
  onRow: (row: TableRow) => void,
): Promise<void> {
  const file = basename(path);
  const table = await open(path);
  try {
    const found = table.columns.map(({ name }) => name);
    const names = chosenColumns(file, null, columns, found);
    const chosen = names.map((name) => table.columns[found.indexOf(name)]!);
    for (const { name, otherType } of chosen) {
      if (otherType === undefined) continue;
      const what = `expected ${name} to be text or numbers, found the type ${otherType}: save it as text`;
      throw tableFault(file, null, what);
    }
    const exactBelow = chosen.map((column) => column.exactBelow);
    const row = new TableRow(file, 'row', names, exactBelow);
    progress.begin(`Reading ${file}`, table.rowCount, 'items');
    const parts = table.parts(names);
    const nextPart = () =>
      parts.next().catch((error: Error) => {
        const what = `cannot be read from here on: the file is damaged (${error.message})`;
        throw tableFault(file, `row ${rowCount}`, what);
      });
    let rowCount = 0;
    for (let part = await nextPart(); part.done !== true; part = await nextPart()) {
      row.columns = part.value.values;
      for (let index = 0; index < part.value.rowCount; index++) {
        row.index = index;
        row.at = rowCount + index;
        onRow(row);
      }
      rowCount += part.value.rowCount;
      progress.reached(rowCount);
    }
    if (rowCount === 0) throw tableFault(file, null, 'expected rows, found none');
  } finally {
    await table.close();
  }
}

/** The file with the SHA-256 of its bytes. */
export async function sourceOf(path: string): Promise<SourceFile> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return { file: basename(path), sha256: hash.digest('hex') };
}
