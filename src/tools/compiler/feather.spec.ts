import { readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import {
  Bool,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  LargeUtf8,
  List,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from 'apache-arrow';
import { type FeatherColumn, writeFeather } from '../../../test/support/feather.js';
import { silent } from './progress.js';
import { readTable } from './read-table.js';
import type { TableRow } from './table-row.js';

const ROWS = 20_000;
/** Beyond 2^53, where doubles skip whole numbers. */
const LARGE = 720575940600000001n;

function columns(count = ROWS): Record<string, FeatherColumn> {
  const rows = Array.from({ length: count }, (_, i) => i);
  return {
    small: { type: new Int64(), values: rows.map((i) => BigInt(10_001 + i)) },
    large: { type: new Int64(), values: rows.map((i) => LARGE + BigInt(i)) },
    sparse: { type: new Int64(), values: rows.map((i) => (i % 3 === 0 ? null : BigInt(i))) },
    name: { type: new Utf8(), values: rows.map((i) => (i % 4 === 0 ? null : `T${i % 97}`)) },
    words: { type: new LargeUtf8(), values: rows.map((i) => (i % 7 === 0 ? null : `a class ${i % 89}`)) },
    score: { type: new Float64(), values: rows.map((i) => (i % 5 === 0 ? NaN : i / 4)) },
    flag: { type: new Bool(), values: rows.map((i) => i % 2 === 0) },
    label: {
      type: new Dictionary(new Utf8(), new Int16()),
      values: rows.map((i) => ['Traced', 'Orphan', null][i % 3]),
    },
    point: {
      type: new List(new Field('item', new Int64(), true)),
      values: rows.map((i) => (i % 6 === 0 ? null : [BigInt(i), 2n, 3n])),
    },
  };
}

async function rowsOf<T>(path: string, names: readonly string[], take: (row: TableRow) => T): Promise<T[]> {
  const taken: T[] = [];
  await readTable(path, names, silent, (row) => taken.push(take(row)));
  return taken;
}

describe('a Feather file', () => {
  it.each(['lz4', 'zstd', 'none'] as const)('gives back the values written with %s', async (compression) => {
    // Batches of 9,000 rows have buffers of more than one block, whose matches reach into the block before.
    const path = writeFeather('table.feather', columns(), compression, 9000);
    const found = await rowsOf(
      path,
      ['large', 'small', 'name', 'sparse', 'score', 'flag', 'label', 'point', 'words'],
      (row) => [row.at, row.id(0), row.id(1), ...[2, 3, 4, 5, 6, 7, 8].map((column) => row.text(column))],
    );
    expect(found).toEqual(
      Array.from({ length: ROWS }, (_, i) => [
        i,
        LARGE + BigInt(i),
        10_001 + i,
        i % 4 === 0 ? '' : `T${i % 97}`,
        i % 3 === 0 ? '' : String(i),
        i % 5 === 0 ? '' : String(i / 4),
        i % 2 === 0 ? 'TRUE' : 'FALSE',
        ['Traced', 'Orphan', ''][i % 3],
        i % 6 === 0 ? '' : `${i} 2 3`,
        i % 7 === 0 ? '' : `a class ${i % 89}`,
      ]),
    );
  });

  it.each([
    ...[new Int8(), new Int16(), new Int32(), new Int64()],
    ...[new Uint8(), new Uint16(), new Uint32(), new Uint64()],
  ])('gives the entries of a dictionary by indices of type %s', async (indices) => {
    // The types of Arrow do not know indices of 64 bits.
    const dictionary = (entries: DataType) => new Dictionary(entries, indices as Int32);
    const rows = Array.from({ length: 100 }, (_, i) => i);
    const [names, ids] = [
      rows.map((i) => (i % 5 === 0 ? null : `T${(i * i) % 11}`)),
      rows.map((i) => LARGE + BigInt(i % 13)),
    ];
    const path = writeFeather('table.feather', {
      name: { type: dictionary(new Utf8()), values: names },
      words: { type: dictionary(new LargeUtf8()), values: names },
      id: { type: dictionary(new Int64()), values: ids },
      small: { type: dictionary(new Int64()), values: ids.map((id) => id - LARGE) },
    });
    const found = await rowsOf(path, ['name', 'words', 'id', 'small'], (row) => [
      ...[row.text(0), row.text(1)],
      ...[row.id(2), row.id(3)],
    ]);
    expect(found).toEqual(rows.map((i) => [names[i] ?? '', names[i] ?? '', ids[i], i % 13]));
  });

  it('gives the items of a list from a dictionary, and refuses those with indices of 64 bits', async () => {
    const lists = (indices: DataType, values: readonly unknown[]) => {
      const items = new Field('item', new Dictionary(new Utf8(), indices as Int32), true);
      return writeFeather('table.feather', { sides: { type: new List(items), values } });
    };
    const path = lists(new Int16(), [['left', 'right'], null, ['right'], ['left']]);
    const found = await rowsOf(path, ['sides'], (row) => row.text(0));
    expect(found).toEqual(['left right', '', 'right', 'left']);
    await expect(rowsOf(lists(new Int64(), [null]), ['sides'], () => 0)).rejects.toThrow(
      'table.feather: expected sides to be text or numbers, found the type Dictionary: save it as text.',
    );
  });

  it('returns the file and the digest of its bytes', async () => {
    const path = writeFeather('table.feather', columns(10));
    const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(await readTable(path, ['small'], silent, () => {})).toEqual({ file: 'table.feather', sha256 });
  });

  it.each<[string, (row: TableRow) => unknown, string]>([
    [
      'no count',
      (row) => row.count(1),
      'row 0: expected score to be a whole number from 1 to 999999999, found ""',
    ],
    ['no id', (row) => row.id(0), 'row 0: expected name to be an id of 1 to 20 digits, found ""'],
  ])('names the row and the column of %s', async (_, take, what) => {
    const path = writeFeather('table.feather', columns(10));
    await expect(rowsOf(path, ['name', 'score'], take)).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: `table.feather, ${what}.`,
    });
  });

  it.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    [
      'a page instead of a table',
      () => Buffer.from('<html>not found</html>'),
      /another format or a truncated file/,
    ],
    ['an empty file', () => Buffer.alloc(0), /another format or a truncated file/],
    [
      'a file cut short',
      (bytes) => bytes.subarray(0, bytes.length - 100),
      /another format or a truncated file/,
    ],
    [
      'version 1 of the format',
      () => Buffer.from('FEA1....FEA1'),
      /expected Feather of version 2, found version 1/,
    ],
    [
      'an Arrow stream',
      (bytes) => bytes.subarray(8),
      /found an Arrow stream: save it with pyarrow\.feather\.write_feather/,
    ],
    [
      'a file with other bytes in its middle',
      (bytes) => Buffer.concat([bytes.subarray(0, 3000), Buffer.alloc(4000, 7), bytes.subarray(7000)]),
      /row 0: cannot be read from here on: the file is damaged|expected a Feather file, found a damaged one/,
    ],
  ])('refuses %s', async (_, change, message) => {
    const path = writeFeather('table.feather', columns(2000));
    writeFileSync(path, change(readFileSync(path)));
    await expect(rowsOf(path, ['small'], () => 0)).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('names a column that the file lacks, and a file that is not there', async () => {
    const path = writeFeather('table.feather', { a: columns(3)['small']! });
    await expect(rowsOf(path, ['b'], () => 0)).rejects.toMatchObject({
      message: 'table.feather: expected a column b, found the columns "a".',
    });
    await expect(rowsOf('/nowhere/x.feather', ['b'], () => 0)).rejects.toMatchObject({
      message: 'x.feather: expected a file at /nowhere/x.feather, found none.',
    });
  });
});
