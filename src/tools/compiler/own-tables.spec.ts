/** Files as laboratories write them, each read as CSV, Parquet and Feather. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  Binary,
  Bool,
  type DataType,
  DateMillisecond,
  Decimal,
  Float32,
  Float64,
  Int64,
  Utf8,
} from 'apache-arrow';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { writeFeather } from '../../../test/support/feather.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import type { Brain } from './brain.js';
import { ownTables } from './dataset.js';
import { buildConnectome } from './build-connectome.js';
import { silent } from './progress.js';
import { readTables } from './tables.js';

const FORMATS = ['csv', 'parquet', 'feather'] as const;
type Format = (typeof FORMATS)[number];
type ColumnType = 'text' | 'binary' | 'int64' | 'float32' | 'float64';
type Columns = Readonly<Record<string, readonly [ColumnType, readonly unknown[]]>>;

const PARQUET_TYPES = {
  ...({ text: 'STRING', binary: 'BYTE_ARRAY', int64: 'INT64', float32: 'FLOAT', float64: 'DOUBLE' } as const),
};
const ARROW_TYPES: Readonly<Record<ColumnType, DataType>> = {
  text: new Utf8(),
  binary: new Binary(),
  int64: new Int64(),
  float32: new Float32(),
  float64: new Float64(),
};

/** A table in one of the formats; CSV has the texts that the values are written as. */
function written(name: string, format: Format, columns: Columns): string {
  const dir = mkdtempSync(join(tmpdir(), 'own-'));
  const path = join(dir, `${name}.${format}`);
  const entries = Object.entries(columns);
  if (format === 'feather') {
    const typed = entries.map(([column, [type, values]]) => [column, { type: ARROW_TYPES[type], values }]);
    return writeFeather(`${name}.feather`, Object.fromEntries(typed), 'lz4', 400, dir);
  }
  if (format === 'parquet') {
    const columnData = entries.map(([column, [type, data]]) => ({
      name: column,
      data: [...data],
      type: PARQUET_TYPES[type],
    }));
    writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData })));
    return path;
  }
  // As pandas writes floats.
  const text = (type: ColumnType, value: unknown) =>
    type.startsWith('float') && Number.isInteger(value) ? `${value}.0` : String(value);
  const rows = entries[0]![1][1].map((_, row) =>
    entries.map(([, [type, values]]) => text(type, values[row])),
  );
  writeFileSync(
    path,
    [entries.map(([column]) => column), ...rows].map((row) => `${row.join(',')}\n`).join(''),
  );
  return path;
}

function compiled(edges: string, neurons: string, minimumSynapses = 1): Promise<Brain> {
  const identity = { name: 'Mine', dataset: 'Mine', release: null, wiring: 'custom' } as const;
  return readTables('', silent, minimumSynapses, identity, ownTables(edges, neurons, new Map()));
}

const LARGE = ['720575940623000001', '720575940623000002'] as const;
const FLOAT_FAULT =
  /expected pre to be 64-bit integers or text, found "720575\d+(\.0)?": floats round ids of this size\.$/;

describe.each(FORMATS)('a network in %s', (format) => {
  const neurons = (ids: readonly string[]) => written('neurons', format, { id: ['text', ids] });
  const edges = (columns: Columns) => written('edges', format, columns);

  it.each(['float64', 'float32'] as const)('is refused with large ids as %s', async (type) => {
    const [pre, post] = LARGE.map(Number);
    const pairs = edges({ post: ['text', [LARGE[1]]], weight: ['int64', [6n]], pre: [type, [pre]] });
    await expect(compiled(pairs, neurons(LARGE))).rejects.toThrow(FLOAT_FAULT);
    const list = written('neurons', format, { id: [type, [pre, post]] });
    await expect(compiled(pairs, list)).rejects.toThrow(/expected id to be 64-bit integers or text/);
  });

  it.each(['7.2e17', '720575940623000000.0'])('is refused with the large id %s as text', async (id) => {
    const pairs = edges({ pre: ['text', [id]], post: ['text', [LARGE[1]]], weight: ['int64', [6n]] });
    const message = `edges.${format}, ${format === 'csv' ? 'line 2' : 'row 0'}: expected pre to be 64-bit integers or text, found "${id}": floats round ids of this size.`;
    await expect(compiled(pairs, neurons(LARGE))).rejects.toMatchObject({ code: 'TABLE_INVALID', message });
    await expect(compiled(pairs, neurons([id]))).rejects.toThrow('expected id to be 64-bit integers or text');
  });

  it('takes whole floats that are exact', async () => {
    const table = (type: 'float32' | 'float64', largest: number) =>
      compiled(
        edges({ pre: [type, [12, largest]], post: [type, [largest, 12]], weight: [type, [6, 1000]] }),
        written('neurons', format, { id: [type, [12, largest]] }),
      );
    const narrow = await table('float32', 2 ** 24 - 1);
    expect(narrow.neurons.ids).toEqual(['12', '16777215']);
    const wide = await table('float64', 2 ** 53 - 1);
    expect(wide.neurons.ids).toEqual(['12', '9007199254740991']);
    expect([...wide.connections.synapseCounts]).toEqual([6, 1000]);
    if (format !== 'csv') await expect(table('float32', 2 ** 24)).rejects.toThrow('64-bit integers or text');
    if (format !== 'csv') await expect(table('float64', 2 ** 53)).rejects.toThrow('64-bit integers or text');
  });

  it('gives fractions in floats of 32 bits the text that programs print', async () => {
    const type = [0.1, 2097152.5, 0.33333334, 3e-7];
    const list = written('neurons', format, { id: ['int64', [0n, 1n, 2n, 3n]], type: ['float32', type] });
    const pairs = edges({ pre: ['text', ['0']], post: ['text', ['1']], weight: ['int64', [6n]] });
    expect((await compiled(pairs, list)).neurons.labels.type).toEqual(type.map(String));
  });

  it.each([
    ['12.0', ' 12', '1e3'],
    ['1.2e1', '12 ', '1000.00'],
    ['12.', '\t12', '1E+03'],
  ])('reads %s, "%s" and %s as 12, 12 and 1000', async (id, padded, count) => {
    const pairs = edges({ pre: ['text', [id]], post: ['text', [padded]], weight: ['text', [count]] });
    const list = written('neurons', format, {
      id: ['text', [padded]],
      ...{ sign: ['text', ['-1.0']], x: ['text', [count]], y: ['text', [' 12']], z: ['text', ['12.0']] },
    } as Columns);
    const { neurons, connections } = await compiled(pairs, list);
    expect(neurons.ids).toEqual(['12']);
    expect([...connections.synapseCounts]).toEqual([1000]);
    expect([...neurons.signs['as given']!]).toEqual([-1]);
    expect([...neurons.positionsNm]).toEqual([1000, 12, 12]);
  });

  it.each([
    [-5, ': use the column sign'],
    [0.37, ': synapses are counts, not fractions'],
    [0, ''],
  ])('is refused with %s synapses', async (weight, hint) => {
    for (const type of ['float64', 'text'] as const) {
      const pairs = edges({
        ...{ pre: ['int64', [1n]], post: ['int64', [2n]] },
        weight: [type, [type === 'text' ? String(weight) : weight]],
      } as Columns);
      await expect(compiled(pairs, neurons(['1', '2']))).rejects.toThrow(
        new RegExp(
          `expected weight to be a whole number from 1 to 999999999, found "${weight}(\\.0)?"${hint}\\.$`,
        ),
      );
    }
  });
});

describe('a file whose fault is plain', () => {
  const PAIRS = 'pre,post,weight\n1,2,6\n';
  const bytes = (name: string, content: string | Buffer) => {
    const path = join(mkdtempSync(join(tmpdir(), 'own-')), name);
    writeFileSync(path, content);
    return path;
  };
  const list = bytes('neurons.csv', 'id\n1\n2\n');

  it.each<[string, string, string | Buffer, string]>([
    [
      'semicolons',
      'e.csv',
      PAIRS.replaceAll(',', ';'),
      'e.csv, line 1: expected a column pre, post, weight, found the columns "pre;post;weight": it is separated by semicolons, save it with commas.',
    ],
    [
      'semicolons between quoted names, as from write.csv2 in R',
      'e.csv',
      '"pre";"post";"weight"\n1;2;6\n',
      'e.csv, line 1: expected a comma after the closing quote, found ";\\"post\\";\\"weight\\"": it is separated by semicolons, save it with commas.',
    ],
    [
      'tabs between quoted names',
      'e.tsv',
      '""\t"pre"\t"post"\t"weight"\n"1"\t1\t2\t6\n',
      ': it is separated by tabs, save it with commas.',
    ],
    [
      'semicolons between names of which some are quoted',
      'e.csv',
      'pre;"post";"weight"\n1;2;6\n',
      ': it is separated by semicolons, save it with commas.',
    ],
    ['tabs', 'e.tsv', PAIRS.replaceAll(',', '\t'), 'it is separated by tabs, save it with commas.'],
    [
      'UTF-16',
      'e.csv',
      Buffer.from(`\ufeff${PAIRS}`, 'utf16le'),
      'expected CSV, found UTF-16: save the table as UTF-8.',
    ],
    [
      'UTF-16 without a mark',
      'e.csv',
      Buffer.from(PAIRS, 'utf16le'),
      'e.csv: expected CSV, found bytes of zero, as in UTF-16: save the table as UTF-8.',
    ],
    [
      'Latin-1',
      'e.csv',
      Buffer.from('pre,post,weight,note\n1,2,6,a\n1,2,6,"a\nb"\n2,1,6,für\n', 'latin1'),
      'e.csv, line 5: expected UTF-8, found another encoding, such as Latin-1: save the table as UTF-8.',
    ],
    [
      'Latin-1 in a last line without its end',
      'e.csv.gz',
      gzipSync(Buffer.from('pre,post,weight,note\n1,2,6,für', 'latin1')),
      'e.csv.gz, line 2: expected UTF-8, found another encoding, such as Latin-1: save the table as UTF-8.',
    ],
    [
      'a zip archive',
      'e.csv.zip',
      Buffer.from('PK\x03\x04\x14\x00'),
      'e.csv.zip: expected CSV, found a zip archive or an Excel file: unpack it, or save the sheet as CSV.',
    ],
    ['Excel', 'e.xlsx', Buffer.from('PK\x03\x04\x14\x00'), 'found a zip archive or an Excel file: unpack it'],
    [
      'bzip2',
      'e.csv.bz2',
      Buffer.from('BZh91AY&SY'),
      'found a bzip2 file: unpack it, or compress it with gzip.',
    ],
    ['xz', 'e.csv.xz', Buffer.from('fd377a585a00', 'hex'), 'found an xz file: unpack it'],
    ['Zstandard', 'e.csv.zst', Buffer.from('28b52ffd0458', 'hex'), 'found a Zstandard file: unpack it'],
    ['old Excel', 'e.xls', Buffer.from('d0cf11e0a1b1', 'hex'), 'found an Excel file: save the sheet as CSV.'],
    [
      'Parquet',
      'e.csv',
      Buffer.from('PAR1xxxxPAR1'),
      'found a Parquet file: its name has to end with .parquet.',
    ],
    [
      'Feather',
      'e.dat',
      Buffer.from('ARROW1\0\0'),
      'found a Feather file: its name has to end with .feather.',
    ],
    [
      'another case',
      'e.csv',
      'Pre,post , weight\n1,2,6\n',
      'found the columns "Pre,post , weight": rename "Pre" to pre, rename "post " to post, rename " weight" to weight.',
    ],
    [
      'an optional column in another case',
      'e.csv',
      'pre,post,weight,Sign\n1,2,6,-1\n',
      'e.csv, line 1: expected a column sign, found the columns "pre,post,weight,Sign": rename "Sign" to sign.',
    ],
    [
      'a column twice',
      'e.csv',
      'pre,post,weight,weight\n1,2,6,7\n',
      'e.csv, line 1: expected one column weight, found several.',
    ],
  ])('is refused for %s, with the remedy', async (_, name, content, message) => {
    await expect(compiled(bytes(name, content), list)).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it('is read if it is gzipped under another name', async () => {
    const { connections } = await compiled(bytes('e.csv', gzipSync(PAIRS)), list);
    expect([...connections.synapseCounts]).toEqual([6]);
  });

  it('is refused with a column twice in Feather', async () => {
    const column = { type: new Int64(), values: [1n] };
    const path = writeFeather('e.feather', { pre: column, post: column, weight: column, Pre: column });
    writeFileSync(path, readFileSync(path, 'latin1').replaceAll('Pre', 'pre'), 'latin1');
    await expect(compiled(path, list)).rejects.toThrow('e.feather: expected one column pre, found several.');
  });
});

/** Feather of polars 1.44 with string views: id 1 and 2, type A and "a type of more than twelve letters". */
const OF_POLARS =
  'H4sIAAAAAAACA81TvUoDQRD+9jzh1EPOaGFhsVjZChYpkycQ0lgHXFGIJsRFSWfhA/kI9w42llZWVmKRQji/mZvIcZCQ0jl2' +
  '5/b7mTl2kv5gcH5xCqQAvqqqOoC8O+7b2EHGPcWceE4k4yNswv0Mtackd8RcKA+4Q2j8EE+RqibOJkGwT2JdZs8lMpeIr0NN' +
  'gT115+r9pq4nvNbcIp9pz5tLgFT1Zr2lXlm3Q/3dG6ywrzVznj7IJ8Y/c52YDthl/5SaQhFnvRaxieVRWO618MXZW36yfNzQ' +
  'JLbQwprhluDrhvj7jbP0H/o4W9cv2knw4yt/O54GH6+Hdz4+htFD8KMQY5jer/bLfNCYj9xL928+MuEO71Ammuu3vpjv3XLZ' +
  'qvePfnuvcrX6d/kFEddlGjUDAAA=';
/** Parquet of DuckDB 1.5 with pages of version 2: pre 1 and 2, post 2 and 1, weight 6 and 7. */
const OF_DUCKDB =
  'H4sIAAAAAAACAwtwDDIUZRDVENXREWUR5RJlE2VjYBDxYWJgYGBhbBDgYGICMcEArzIWRqKU8SBMY5H0MWWQ4E0pTc5OSYov' +
  'Ts5IzU0EKhdlUWWSYC4oSlVVgbBZCvKLS0AcJiCHrTw1Mz2jRFWJQYxFUkbSRo1BBmiQKJckWIsokxiLmJeYnxqHjQQHzCYJ' +
  'DpjTxBg0sIgKCgIJhDlg6+AGhZFjEBPYIKhT4UYtYbSRYGEH6WBhg5iBxAPrFbvHKMaixiH2ipFBQ8MFGC4uTgplqUXFmfl5' +
  'CmWGeqZ6ZgoaSaWZOSkKBmaWycmWaZZJppqSNjIMDBDEEAJ0SgAwQgEdzVFc1QEAAA==';
/** Feather of Arrow 25 whose column is encoded in runs. */
const OF_ENCODED_RUNS =
  'H4sIAAAAAAACA91TSwrCMBB9bWMtkkUWIl268AKCB9ATCG7cCCJYcCFFlHo6D+CyR/EG+jIdNBb1AD6YTGamb36hs8VivhwD' +
  'd+IGwMGjB4sUHWS8EZGhDVoZT6Mn3aprcmkNct6H6ospO8qIklAOx4J+IzGHPnOk6EpWpzWj2Otc+R4p5bzZV8UJuEgNRNMn' +
  'Hy0+hD8K+P6bY1Wui3J7amxL6Yrf5/K9+rmv1H3lWAx0civZkRjpSWvIbnJGjO5mpbEYLxh8R9hbiOyDP2nlhe78lx23/Pdm' +
  'b9Kj5ZSpTOaa2djNJNhZFBBr5bu3Hv/v/XMOMZN/4AEq7G5gCgMAAA==';

/**
 * Feather with Zstandard, as pandas writes it: each buffer is one frame with the length of its content. The frames are of
 * zlib in Node 24, at level 1, and the other bytes of apache-arrow 21. Sixty neurons have an id (int64), a type (string), a
 * class (large_string) and a side (dictionary of int8 and string).
 */
const OF_ZSTD =
  'H4sIAAAAAAACA5VVf0zUZhh+etcehStQ5JCip5564CGngOIEbQb+YGGT3BEx8UxmhHHHIGMJOS7BJSywBCdLjEMxwJIt8w+W+c8y' +
  'gm5jEfUWJEKAHctccAlLukUiyRbkx7HMzaWz7XdehUCyN02fvu/X98f3tH166Phx98lcQJZlOQjAAs04CFiPRPCgwQEownMz8CrQ' +
  'YMESBHg1ZzN4cGBJjg2AHYBHSYLeTGARA5PmUEasbpsI2ghu0K1RK+pC7auY46vsf21cJcioQKx2Gatfj30VqPNVB/y1b9YEtLjC' +
  'Qxm1Og9StKHRQoqvtu9hAOIa+45bY9/nCLYti0f8jggvlIZvEb+devH+iP8N8UvI/GeJH1xGYMRP08XoFfv4/75ERXmvkPCJET00' +
  'NbsjHkCcwUgzphg2Ns7MxSck8knrki0p61OFtA0brZs2b7Ft3bbdnp6xw5G5M8u5a3d2Tu6evXn7XtqfX3DgoEgqHLBLk7S/9OJI' +
  'bkHGvYfd+crJ2lHlL714qYqEz/982QogrH/+4RQahz/cklk/UsvVyYOFT/VHlevTL0OTj35fXHryd9O7t18+M9iVGVryuJfKQuES' +
  'd7gotJjvXswJLTjcC7bQvHCnfyjLNf/BMfE3vrl/cOP3c+eyxF/Zwv7vzK6598yihOZbSz+VF94K/3BEHlgc33tnYGFke/PAPOGl' +
  'Rs9PDcYN6Ltrjp+YLk5LdXzRNtwSjKNS+PelvMaC8dOuhq4fp6Z1l3TrVruNSyqwS5OGtVn4MyNdazSj7zeDXQxOMIAV+TiBelzA' +
  'NdyFhKcQKOSV1bX1BKf+shhySmtarw48CPNGZ4m35eP++3Mc7Tha0dR9Y+IPlrEXvX72Su/YDG2yiZ5AO3nLRZs0eWrB1zkUHOt7' +
  'OOo8dnusT+g+1dn0ke9S9nWnqboz/Uz1i+ve3Jzrzid7Ri8/9n5tebtCnAsaE7VTkxORsurc7cw+I/xDCet698cES1sdlf/0Hil/' +
  'rSP9lc8Njd/enDo9u7ux6+boL9OzfuKePE8X72SuvuHa9pmpnI0/fC3poF16JKzN2b0bUkeyqH9vxGJF8CgKjwMeRHUDz3XQggRV' +
  'MVhVD5SYk3xJR4lusSRvmGDRMl3jyfPxENTpDnpkWabJd/ngmWZfAeAl2s3DChaJSIUAGrzaOy+q65SgIWMh+Q21Xl+k7gVZlvWa' +
  'rqx7tX1RLOm7rI5F8RkAVXWVDQ2kzv1nGjqx8l5GIDUD79T7otpCqzFendeMZHVSTp07kk/QIBC9r/VqAVbV3JgIl5TCYQsFHFL/' +
  'af8BierFDNoGAAA=';

const unpacked = (name: string, content: string) => {
  const path = join(mkdtempSync(join(tmpdir(), 'own-')), name);
  writeFileSync(path, gunzipSync(Buffer.from(content, 'base64')));
  return path;
};

it('is read from Feather that is really compressed with Zstandard', async () => {
  const first = 720575940600000001n;
  const ids = [first, first + 1n];
  const edges = written('edges', 'feather', {
    ...({ pre: ['int64', ids], post: ['int64', ids.toReversed()], weight: ['int64', [6n, 7n]] } as const),
  });
  const { neurons, connections } = await compiled(edges, unpacked('n.feather', OF_ZSTD));
  const rows = Array.from({ length: 60 }, (_, i) => i);
  expect(neurons.ids).toEqual(rows.map((i) => String(first + BigInt(i))));
  expect(neurons.labels).toMatchObject({
    type: rows.map((i) => `type ${i % 7}`),
    class: rows.map((i) => `a class of neurons, number ${i % 5}`),
    side: rows.map((i) => (i % 2 === 0 ? 'left' : 'right')),
  });
  expect([...connections.synapseCounts]).toEqual([6, 7]);
});

it('is read as polars and DuckDB write it', async () => {
  const neurons = unpacked('n.feather', OF_POLARS);
  const { connections, ...brain } = await compiled(unpacked('e.parquet', OF_DUCKDB), neurons);
  expect([...connections.synapseCounts]).toEqual([6, 7]);
  expect(JSON.stringify(brain.neurons)).toContain('a type of more than twelve letters');
  await expect(compiled(unpacked('e.feather', OF_ENCODED_RUNS), neurons)).rejects.toThrow(
    'e.feather: expected columns of text and numbers, found one of type RunEndEncoded: save the table as Parquet or CSV.',
  );
});

it.each([
  ['date', new DateMillisecond(), 'Date64', { converted_type: 'TIMESTAMP_MILLIS' }, 'TIMESTAMP_MILLIS'],
  [
    'decimal',
    new Decimal(2, 10, 128),
    'Decimal',
    { converted_type: 'DECIMAL', precision: 10, scale: 2 },
    'DECIMAL',
  ],
] as const)(
  'is refused if it needs a column of another type: %s',
  async (_, type, name, parquetType, parquetName) => {
    const table = { id: { type: new Int64(), values: [1n] }, type: { type, values: [null] } };
    const feather = writeFeather('n.feather', table);
    const what = 'expected type to be text or numbers, found the type';
    await expect(compiled(feather, feather)).rejects.toThrow(`n.feather: ${what} ${name}: save it as text.`);
    const parquet = join(mkdtempSync(join(tmpdir(), 'own-')), 'n.parquet');
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 2 },
      { name: 'id', type: 'INT64', repetition_type: 'REQUIRED' },
      { name: 'type', type: 'INT64', repetition_type: 'OPTIONAL', ...parquetType },
    ];
    const columnData = [
      { name: 'id', data: [1n] },
      { name: 'type', data: [null] },
    ];
    writeFileSync(parquet, Buffer.from(parquetWriteBuffer({ columnData, schema })));
    await expect(compiled(parquet, parquet)).rejects.toThrow(
      `n.parquet: ${what} ${parquetName}: save it as text.`,
    );
  },
);

it.each<[string, Partial<SchemaElement>]>([
  ['64-bit integers', { type: 'INT64' }],
  ['16 bytes', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 }],
  ['bytes', { type: 'BYTE_ARRAY' }],
])('reads ids of decimals without a fraction, as Parquet stores them in %s', async (_, stored) => {
  const decimal = {
    converted_type: 'DECIMAL',
    precision: 18,
    scale: 0,
    repetition_type: 'OPTIONAL',
  } as const;
  const write = (columns: Readonly<Record<string, readonly unknown[]>>) => {
    const path = join(mkdtempSync(join(tmpdir(), 'own-')), 'table.parquet');
    const columnData = Object.entries(columns).map(([name, data]) => ({ name, data: [...data] }));
    const schema: SchemaElement[] = [
      { name: 'root', num_children: columnData.length },
      ...columnData.map(({ name }) => ({ name, ...stored, ...decimal })),
    ];
    writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, schema })));
    return path;
  };
  const [pre, post] = LARGE.map(BigInt);
  const edges = write({ pre: [pre, 127n], post: [post, 128n], weight: [6n, 300n] });
  const ids = [127n, 128n, pre, post];
  const { neurons, connections } = await compiled(edges, write({ id: ids, type: [0n, -128n, 12n, null] }));
  expect(neurons.ids).toEqual(ids.map(String));
  expect(neurons.labels.type).toEqual(['0', '-128', '12', '']);
  expect([...connections.synapseCounts]).toEqual([300, 6]);
});

it('reads a column of JSON in Parquet as text', async () => {
  const edges = written('edges', 'csv', {
    ...({ pre: ['text', ['1']], post: ['text', ['2']], weight: ['text', ['6']] } as const),
  });
  const path = join(mkdtempSync(join(tmpdir(), 'own-')), 'n.parquet');
  const columnData = [
    { name: 'id', data: ['1', '2', '3'], type: 'STRING' as const },
    { name: 'type', data: [['für', 1], null, 'LC4'], type: 'JSON' as const },
  ];
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData })));
  expect((await compiled(edges, path)).neurons.labels.type).toEqual(['["für",1]', '', '"LC4"']);
});

it.each(['x'.repeat(101), 'LC\t4'])('refuses a label that no selector can name: %j', async (type) => {
  const edges = written('edges', 'parquet', {
    ...({ pre: ['text', ['1']], post: ['text', ['2']], weight: ['text', ['6']] } as const),
  });
  const list = (labels: readonly string[]) =>
    written('neurons', 'parquet', { id: ['text', ['1', '2']], type: ['text', labels] });
  await expect(compiled(edges, list(['LC4', type]))).rejects.toThrow(
    'row 1: expected type to be at most 100 characters without control characters, found "',
  );
  const allowed = ['ü'.repeat(100), 'SMP:a'];
  expect((await compiled(edges, list(allowed))).neurons.labels.type).toEqual(allowed);
});

it('reads bytes as UTF-8, and refuses other bytes', async () => {
  const edges = written('edges', 'csv', {
    pre: ['text', ['1']],
    post: ['text', ['1']],
    weight: ['text', ['6']],
  });
  for (const format of ['parquet', 'feather'] as const) {
    const list = (bytes: Uint8Array) =>
      written('neurons', format, { id: ['text', ['1']], type: ['binary', [bytes]] });
    expect((await compiled(edges, list(Buffer.from('für')))).neurons.labels.type).toEqual(['für']);
    await expect(compiled(edges, list(Buffer.from('für', 'latin1')))).rejects.toThrow(
      `neurons.${format}, row 0: expected type to be UTF-8, found other bytes: save it as text.`,
    );
  }
});

it('has one digest, however its tables were written', async () => {
  const digestOf = async (edges: string, neurons: string) => {
    const content = buildConnectome(await compiled(edges, neurons), {
      signRule: 'as given',
      populations: { stimuli: [], channels: [] },
    });
    return openConnectome(encodeConnectome(content).buffer).digest;
  };
  const lines = (...texts: string[]) => texts.map((text) => `${text}\n`).join('');
  const csv = (name: string, text: string | Buffer) => {
    const path = join(mkdtempSync(join(tmpdir(), 'own-')), name);
    writeFileSync(path, text);
    return path;
  };
  const plain = await digestOf(
    csv('e.csv', lines('pre,post,weight,sign', '1,2,6,-1', '2,1,7,1')),
    csv('n.csv', lines('id,type', '1,A', '2,B')),
  );
  const others = [
    [
      csv('edges.gz', gzipSync('\ufeff"sign",weight,pre,post\r\n1,7,2,1\r\n-1,"6",1,2')),
      csv('neurons.csv', 'type,id\r\nB,2\r\n\r\nA,1.0\r\n'),
    ],
    ...FORMATS.map((format) => [
      written('pairs', format, {
        ...({ pre: ['int64', [1n, 2n, 9n]], post: ['int64', [2n, 1n, 1n]] } as const),
        ...({ weight: ['float64', [6, 7, 8]], sign: ['text', ['-1', '1', '1']] } as const),
      }),
      written('neurons', format, { id: ['text', ['1', '2']], type: ['text', ['A', 'B']] }),
    ]),
  ] as [string, string][];
  for (const [edges, neurons] of others) expect(await digestOf(edges, neurons)).toBe(plain);
  const weaker = csv('e.csv', lines('pre,post,weight,sign', '1,2,5,-1', '2,1,7,1'));
  expect(await digestOf(weaker, others[0]![1])).not.toBe(plain);
});

it('has one digest if its labels are numbers or truth values', async () => {
  const edges = written('edges', 'csv', {
    ...({ pre: ['text', ['1']], post: ['text', ['2']], weight: ['text', ['6']] } as const),
  });
  const csv = (name: string, ...lines: string[]) => {
    const path = join(mkdtempSync(join(tmpdir(), 'own-')), name);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    return path;
  };
  const digestOf = async (neurons: string) => {
    const brain = await compiled(edges, neurons);
    const options = { signRule: 'as given', populations: { stimuli: [], channels: [] } } as const;
    const { type, class: classes } = brain.neurons.labels;
    const { digest } = openConnectome(encodeConnectome(buildConnectome(brain, options)).buffer);
    return { digest, type, classes };
  };
  const plain = await digestOf(csv('n.csv', 'id,type,class', '1,12,TRUE', '2,,FALSE', '3,100000,'));
  expect([plain.type, plain.classes]).toEqual([
    ['12', '', '100000'],
    ['TRUE', 'FALSE', ''],
  ]);
  const ids = [1n, 2n, 3n];
  const [types, classes] = [
    [12, null, 100_000],
    [true, false, null],
  ];
  const feather = writeFeather('n.feather', {
    id: { type: new Int64(), values: ids },
    type: { type: new Float64(), values: types },
    class: { type: new Bool(), values: classes },
  });
  const parquet = join(mkdtempSync(join(tmpdir(), 'own-')), 'n.parquet');
  const columnData = [
    { name: 'id', data: ids, type: 'INT64' as const },
    { name: 'type', data: types, type: 'DOUBLE' as const },
    { name: 'class', data: classes, type: 'BOOLEAN' as const },
  ];
  writeFileSync(parquet, Buffer.from(parquetWriteBuffer({ columnData })));
  for (const other of [
    csv('of-pandas.csv', 'id,type,class', '1,12.0,True', '2,,False', '3,100000.0,'),
    csv('of-r.csv', '"id","type","class"', '1,12,TRUE', '2,NA,FALSE', '3,1e+05,NA'),
    csv('of-polars.csv', 'id,type,class', '1, 12.0 ,true', '2,,false', '3,100000.0,'),
    feather,
    parquet,
  ]) {
    expect(await digestOf(other)).toEqual(plain);
  }
});

it('keeps labels that only look like numbers', async () => {
  const labels = [
    '007',
    '1.10',
    '5E3',
    '+1',
    '.5',
    '1.',
    'truE',
    '12.0A',
    '720575940600000001',
    '1.5',
    '12345678901234567.0',
    '1e+400',
  ];
  const ids = labels.map((_, at) => String(at));
  const edges = written('edges', 'csv', {
    ...({ pre: ['text', ['0']], post: ['text', ['1']], weight: ['text', ['6']] } as const),
  });
  for (const format of FORMATS) {
    const list = written('neurons', format, { id: ['text', ids], type: ['text', labels] });
    expect((await compiled(edges, list)).neurons.labels.type).toEqual(labels);
  }
});

it('refuses connections of which no row is left, and warns of more than 1 %', async () => {
  const list = written('neurons', 'csv', { id: ['text', ['1', '2']] });
  const pairs = (known: number, unknown: number) => {
    const pre = [...Array<string>(known).fill('1'), ...Array<string>(unknown).fill('3')];
    const others = { post: ['text', pre.map(() => '2')], weight: ['text', pre.map(() => '1')] } as const;
    return written('edges', 'csv', { pre: ['text', pre], ...others });
  };
  await expect(compiled(pairs(0, 3), list)).rejects.toMatchObject({
    code: 'TABLE_INVALID',
    message:
      'edges.csv: expected rows whose two neurons are in neurons.csv, found none: the ids of one table are not those of the other.',
  });
  await expect(compiled(pairs(2, 0), list, 5)).rejects.toThrow(
    'edges.csv: expected pairs of neurons with 5 synapses or more, found at most 2: --minimum-synapses 2 keeps those.',
  );
  expect((await compiled(pairs(99, 1), list)).warnings).toEqual([]);
  expect((await compiled(pairs(98, 2), list)).warnings).toEqual([
    '2 % of the rows of edges.csv were left out, 2 of 100: they name root ids that neurons.csv lacks.',
  ]);
});

it.each(['type', 'class'] as const)('is refused with 65,537 values of %s, with the remedy', async (label) => {
  const table = (count: number) => {
    const ids = Array.from({ length: count }, (_, i) => String(i));
    return written('neurons', 'csv', { id: ['text', ids], [label]: ['text', ids.map((id) => `T${id}`)] });
  };
  const pairs = written('edges', 'csv', {
    pre: ['text', ['0']],
    post: ['text', ['1']],
    weight: ['text', ['1']],
  });
  const build = async (count: number) =>
    buildConnectome(await compiled(pairs, table(count)), {
      signRule: 'as given',
      populations: { stimuli: [], channels: [] },
    });
  expect((await build(65_536)).neuronIds).toHaveLength(65_536);
  await expect(build(65_537)).rejects.toMatchObject({
    code: 'TABLE_INVALID',
    message: expect.stringMatching(
      label === 'type'
        ? /^A connectome file has at most 65536 types, found 65537: leave the column type empty, or group the types\.$/
        : /at most 65536 classes, found 65537: leave the columns class and sub_class empty, or group the classes\.$/,
    ),
  });
});

it('sums 200,000 rows of one pair', async () => {
  const rows = 200_000;
  const list = written('neurons', 'csv', { id: ['text', ['1']] });
  const all = (text: string) => ['text', Array<string>(rows).fill(text)] as const;
  const pairs = written('edges', 'csv', { pre: all('1'), post: all('1'), weight: all('1') });
  await expect(compiled(pairs, list)).rejects.toThrow(
    'edges.csv: expected at most 8191 synapses from 1 to 1, found 200000.',
  );
});
