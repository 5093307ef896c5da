import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';

/** Rows of one table as texts, by its format. */
export const READERS: Record<'csv' | 'arrow' | 'parquet', (bytes: Buffer) => Promise<string[]>> = {
  csv: (bytes) => Promise.resolve(bytes.toString().split('\r\n').slice(1, -1)),
  arrow: (bytes) =>
    Promise.resolve(
      tableFromIPC(bytes)
        .toArray()
        .map((row: { toJSON(): object }) => Object.values(row.toJSON()).join(',')),
    ),
  parquet: async (bytes) => {
    const rows = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
    return rows.map((row) => Object.values(row).join(','));
  },
};
