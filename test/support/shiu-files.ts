/** Small files in the form of those of Shiu et al. 2024, to be changed by a test before they are written. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';

export interface ShiuTable {
  /** The lines of the list of neurons. */
  lines: string[];
  columns: Record<string, unknown[]>;
  /** Types of columns that are not INT64. */
  types: Record<string, 'INT32' | 'DOUBLE' | 'STRING'>;
}

/** presynaptic and postsynaptic root id, synapses, sign */
export type ShiuPair = readonly [string, string, number, number];

export function shiuTable(ids: readonly string[], pairs: readonly ShiuPair[]): ShiuTable {
  const column = (valueOf: (pair: ShiuPair) => number | string) => pairs.map((pair) => BigInt(valueOf(pair)));
  return {
    lines: [',Completed', ...ids.map((id) => `${id},True`)],
    columns: {
      Presynaptic_ID: column(([pre]) => pre),
      Postsynaptic_ID: column(([, post]) => post),
      Presynaptic_Index: column(([pre]) => ids.indexOf(pre)),
      Postsynaptic_Index: column(([, post]) => ids.indexOf(post)),
      Connectivity: column(([, , synapses]) => synapses),
      Excitatory: column(([, , , sign]) => sign),
      'Excitatory x Connectivity': column(([, , synapses, sign]) => synapses * sign),
    },
    types: {},
  };
}

export function writeShiuFiles({ lines, columns, types }: ShiuTable): {
  connectivity: string;
  completeness: string;
} {
  const dir = mkdtempSync(join(tmpdir(), 'shiu-'));
  const files = { connectivity: join(dir, 'pairs.parquet'), completeness: join(dir, 'neurons.csv') };
  writeFileSync(files.completeness, lines.map((line) => `${line}\n`).join(''));
  const bytes = parquetWriteBuffer({
    columnData: Object.entries(columns).map(([name, data]) => ({ name, data, type: types[name] ?? 'INT64' })),
    // More than one row group and page, as in a large file.
    rowGroupSize: 3,
    pageSize: 16,
  });
  writeFileSync(files.connectivity, Buffer.from(bytes));
  return files;
}
