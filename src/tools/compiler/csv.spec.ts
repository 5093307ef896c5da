import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { silent } from './progress.js';
import { readTable } from './read-table.js';
import type { TableRow } from './table-row.js';

const dir = mkdtempSync(join(tmpdir(), 'tables-'));

function write(bytes: Uint8Array): string {
  const path = join(dir, 'table.csv.gz');
  writeFileSync(path, bytes);
  return path;
}

/** Rows of a table as texts, each with the line it begins on. */
async function rowsOf(text: string, columns = ['a', 'b']): Promise<[number, ...string[]][]> {
  const rows: [number, ...string[]][] = [];
  await readTable(write(gzipSync(text)), columns, silent, (row) =>
    rows.push([row.at, ...columns.map((_, i) => row.text(i))]),
  );
  return rows;
}

/** Reads the only row of a table with the column n. */
async function taken<T>(field: string, take: (row: TableRow) => T): Promise<T> {
  let value: T;
  await readTable(write(gzipSync(`n,m\n${field},\n`)), ['n'], silent, (row) => (value = take(row)));
  return value!;
}

describe('a CSV file', () => {
  it.each([
    ['LF', 'a,b\n1,2\n3,4\n'],
    ['CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['a byte order mark', '\ufeffa,b\n1,2\n3,4\n'],
    ['no line break at the end', 'a,b\n1,2\n3,4'],
    ['quoted fields', '"a",b\n1,"2"\n"3","4"\n'],
    ['quoted fields and CRLF', 'a,"b"\r\n1,"2"\r\n"3",4\r\n'],
  ])('reads %s', async (_, text) => {
    expect(await rowsOf(text)).toEqual([
      [2, '1', '2'],
      [3, '3', '4'],
    ]);
  });

  it('finds columns by name, whatever their order and company', async () => {
    expect(await rowsOf('x,b,y,a\n1,2,3,4\n')).toEqual([[2, '4', '2']]);
  });

  it('takes quotes off: commas, doubled quotes and line breaks belong to the field', async () => {
    expect(await rowsOf('a,b\n"FB3,4D2",""\n"say ""x""","1\n2"\n5,"""6"""\n')).toEqual([
      [2, 'FB3,4D2', ''],
      [3, 'say "x"', '1\n2'],
      [5, '5', '"6"'],
    ]);
  });

  it('leaves quotes inside an unquoted field as they are', async () => {
    expect(await rowsOf('a,b\n5"2,x""y\n')).toEqual([[2, '5"2', 'x""y']]);
  });

  it('keeps empty fields, skips empty lines and counts them', async () => {
    expect(await rowsOf('a,b\n,\n\n\r\n1,\n')).toEqual([
      [2, '', ''],
      [5, '1', ''],
    ]);
  });

  it('reads UTF-8', async () => {
    expect(await rowsOf('a,b\noviDNb’,ß\n')).toEqual([[2, 'oviDNb’', 'ß']]);
  });

  it('returns the file and the digest of its bytes', async () => {
    const bytes = gzipSync('a\n1\n');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await readTable(write(bytes), ['a'], silent, () => {})).toEqual({ file: 'table.csv.gz', sha256 });
  });

  it('gives back any fields, however they are quoted and wherever the stream is cut', async () => {
    // A megabyte in front moves the cuts of the stream to varying places in the rows that matter.
    const field = fc.string({ unit: fc.constantFrom(...'ab,"\n\r’'), maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(field, field), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 0, max: 300 }),
        async (rows, padding) => {
          const quoted = (text: string) =>
            /["\n\r,]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text;
          const filler = `${'x'.repeat(99)},y\n`.repeat(2615) + `${'z'.repeat(padding)},\n`;
          const text = `a,b\n${filler}${rows.map((row) => row.map(quoted).join(',')).join('\n')}\n`;
          const read = await rowsOf(text);
          expect(read.slice(2616).map(([, ...texts]) => texts)).toEqual(rows);
        },
      ),
      { numRuns: 20, seed: 783 },
    );
  });
});

describe('a faulty table', () => {
  it.each([
    ['an empty file', '', 'table.csv.gz, line 1: expected a header with a, b, found an empty file.'],
    ['only a header', 'a,b\n', 'table.csv.gz, line 2: expected rows below the header, found none.'],
    ['a renamed column', 'a,c\n1,2\n', 'table.csv.gz, line 1: expected a column b, found the columns "a,c".'],
    ['a short row', 'a,b\n1,2\n3\n', 'table.csv.gz, line 3: expected 2 fields, found 1.'],
    ['a long row', 'a,b\n1,2,3\n', 'table.csv.gz, line 2: expected 2 fields, found 3.'],
    [
      'a quote that does not end',
      'a,b\n1,2\n3,"4\n5,6\n',
      'table.csv.gz, line 3: expected the closing quote of a field, found the end of the file.',
    ],
    [
      'text after a closing quote',
      'a,b\n"1"2,3\n',
      'table.csv.gz, line 2: expected a comma after the closing quote, found "2,3".',
    ],
    [
      'a row without end',
      `a,b\n1,"${'2\n'.repeat(600_000)}`,
      'table.csv.gz, line 2: expected a row of at most 1048576 bytes, found a longer one: a closing quote may be missing.',
    ],
  ])('%s is refused', async (_, text, message) => {
    await expect(rowsOf(text)).rejects.toMatchObject({ code: 'TABLE_INVALID', message });
  });

  it('names the line if a gzip stream breaks off', async () => {
    const whole = gzipSync(`a,b\n${'1,2\n'.repeat(200_000)}`, { level: 0 });
    const read = readTable(write(whole.subarray(0, 500_000)), ['a'], silent, () => {});
    await expect(read).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: expect.stringMatching(
        /^table\.csv\.gz, line 12\d{4}: expected more gzip data, found the end of the file: it is truncated\.$/,
      ),
    });
  });

  it('refuses an empty file, damaged gzip data, and a file that is no gzip', async () => {
    await expect(readTable(write(Buffer.alloc(0)), ['a'], silent, () => {})).rejects.toMatchObject({
      code: 'TABLE_INVALID',
    });
    await expect(readTable(write(Buffer.from('a,b\n1,2\n')), ['a'], silent, () => {})).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message:
        'table.csv.gz, line 1: expected gzip data, found "incorrect header check": the file is damaged.',
    });
    const damaged = gzipSync('a,b\n1,2\n');
    damaged[damaged.length - 6]! ^= 1;
    await expect(readTable(write(damaged), ['a'], silent, () => {})).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: expect.stringContaining('incorrect data check'),
    });
  });

  it('names a file that is not there and how to get it', async () => {
    await expect(readTable(join(dir, 'none.csv.gz'), ['a'], silent, () => {})).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message: `none.csv.gz: expected a file at ${join(dir, 'none.csv.gz')}, found none; npm run model:download fetches it.`,
    });
  });

  it('passes on the error of the reader of a row', async () => {
    const read = readTable(write(gzipSync('a\n1\n')), ['a'], silent, () => {
      throw new RangeError('mine');
    });
    await expect(read).rejects.toThrow(new RangeError('mine'));
  });
});

describe('a field', () => {
  it.each([
    '0',
    '1',
    '720575940596125868',
    '999999999',
    '1000000000',
    '123456789000000001',
    '999999999999999999',
  ])('is the root id %s', async (id) => {
    expect(await taken(id, (row) => row.rootId(0))).toBe(id);
  });

  it.each(['', '00', '012', '-1', '0x1', '1.5', '72057594059612586x', '1234567890123456789'])(
    'is no root id: "%s"',
    async (id) => {
      await expect(taken(id, (row) => row.rootId(0))).rejects.toMatchObject({
        code: 'TABLE_INVALID',
        message: `table.csv.gz, line 2: expected n to be a root id of 1 to 18 digits, found ${JSON.stringify(id)}.`,
      });
    },
  );

  it('is a count from 1 to 999999999', async () => {
    expect(await taken('1', (row) => row.count(0))).toBe(1);
    expect(await taken('999999999', (row) => row.count(0))).toBe(999_999_999);
    for (const text of ['', '0', 'five', '0x5', '1000000000']) {
      await expect(taken(text, (row) => row.count(0))).rejects.toMatchObject({
        message: `table.csv.gz, line 2: expected n to be a whole number from 1 to 999999999, found "${text}".`,
      });
    }
  });

  it('is a fraction, 0 if it is empty', async () => {
    expect(await taken('0.57', (row) => row.fraction(0))).toBe(0.57);
    expect(await taken('', (row) => row.fraction(0))).toBe(0);
    for (const text of ['-0.1', 'NaN', '0x1', '.']) {
      await expect(taken(text, (row) => row.fraction(0))).rejects.toMatchObject({ code: 'TABLE_INVALID' });
    }
  });
});
