import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { smallBrain } from '../../../test/support/small-brain.js';
import { CodedError } from '../../errors.js';
import { encodeStatistics, readStatistics } from './statistics-files.js';
import { measureStatistics } from './measure-statistics.js';

const STATISTICS = measureStatistics(
  smallBrain(
    [
      { id: 'a1', type: 'A, the "first"', class: 'x', positionNm: [1000, 2000, 3000] },
      { id: 'a2', type: 'A, the "first"', class: 'x', positionNm: [3000, 2000, 3000] },
      { id: 'b', type: 'B’', side: 'right', predictedSign: -1, correctedSign: 1 },
    ],
    [
      ['a1', 'a1', 7],
      ['a1', 'a2', 8],
      ['a1', 'b', 9],
      ['a2', 'b', 5],
      ['b', 'a1', 6],
    ],
  ),
);

function written(): string {
  const dir = mkdtempSync(join(tmpdir(), 'statistics-'));
  for (const [file, content] of encodeStatistics(STATISTICS)) writeFileSync(join(dir, file), content);
  return dir;
}

const change = (dir: string, file: string, edit: (text: string) => string) => {
  const path = join(dir, file);
  const bytes = readFileSync(path);
  const text = file.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
  const edited = edit(text);
  expect(edited).not.toBe(text);
  writeFileSync(path, file.endsWith('.gz') ? gzipSync(edited) : edited);
};

const withLine = (number: number, line: string) => (text: string) =>
  text
    .split('\n')
    .map((each, i) => (i === number - 1 ? line : each))
    .join('\n');

async function failureOf(edit: (dir: string) => void): Promise<string> {
  const dir = written();
  edit(dir);
  const error: unknown = await readStatistics(dir).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CodedError);
  expect((error as CodedError).code).toBe('STATISTICS_INVALID');
  return (error as CodedError).message;
}

describe('statistics on disk', () => {
  it('are read as they were written, with the files among the sources', async () => {
    const read = await readStatistics(written());
    expect({ groups: read.groups, pairs: read.pairs, provenance: read.provenance }).toEqual({
      groups: STATISTICS.groups,
      pairs: STATISTICS.pairs,
      provenance: STATISTICS.provenance,
    });
    expect(read.sources.map(({ file }) => file)).toEqual(['groups.csv.gz', 'pairs.csv.gz', 'hand.csv']);
  });

  it('are tables that people can read', () => {
    const files = encodeStatistics(STATISTICS);
    const lines = (file: string) => gunzipSync(files.get(file)!).toString().split('\n');
    expect(lines('groups.csv.gz')).toEqual([
      'type,side,super_class,class,sub_class,cells,predicted_sign,corrected_sign,self_connections,' +
        'self_synapses,output_percent,input_percent,position_um,position_spread_um',
      // a1 has two outputs and two inputs besides the one to itself, a2 one and one.
      '"A, the ""first""",left,central,x,,2,1,1,1,7,133 67,100 100,2 2 3,1 0 0 0 0 0',
      'B’,right,central,,,1,-1,1,0,0,,,0 0 0,',
      '',
    ]);
    expect(lines('pairs.csv.gz')).toEqual([
      'pre_step,post_step,connections,excess_synapses,missing_pre,missing_post,spread',
      ',,1,3,,,',
      ',1,2,4,,,',
      '1,,1,1,,,',
      '',
    ]);
  });

  it.each([
    [
      'groups.csv.gz',
      2,
      'A,up,central,x,,2,1,1,1,7,133 67,100 100,2 2 3,1 0 0 0 0 0',
      /^groups.csv.gz, line 2: expected side to be left, right, center or empty, found "up"/,
    ],
    [
      'groups.csv.gz',
      2,
      'A,left,central,x,,0,1,1,1,7,133 67,100 100,2 2 3,1 0 0 0 0 0',
      /line 2: expected cells to be a whole number from 1/,
    ],
    [
      'groups.csv.gz',
      2,
      'A,left,central,x,,2,+,1,1,7,133 67,100 100,2 2 3,1 0 0 0 0 0',
      /line 2: expected predicted_sign to be 1 or -1, found "\+"/,
    ],
    [
      'groups.csv.gz',
      2,
      'A,left,central,x,,2,1,1,3,15,133 67,100 100,2 2 3,1 0 0 0 0 0',
      /line 2: expected self_connections to be at most the 2 cells of the group, found "3"/,
    ],
    [
      'groups.csv.gz',
      2,
      'A,left,central,x,,2,1,1,1,4,133 67,100 100,2 2 3,1 0 0 0 0 0',
      /line 2: expected self_synapses to be 5 synapses or more/,
    ],
    [
      'groups.csv.gz',
      2,
      'A,left,central,x,,2,1,1,1,7,133,100 100,2 2 3,1 0 0 0 0 0',
      /line 2: expected output_percent to be 2 whole numbers of at most 7 digits with blanks between them, found "133"/,
    ],
    [
      'groups.csv.gz',
      3,
      'B,right,central,,,1,-1,1,0,0,100,,0 0 0,',
      /line 3: expected output_percent to be nothing, found "100"/,
    ],
    [
      'groups.csv.gz',
      3,
      'B,right,central,,,2,-1,1,0,0,100 100,100 100,0 0 0,0 0 0 0 0 0',
      /gives 3 neurons, the tables beside it have 4/,
    ],
    [
      'groups.csv.gz',
      3,
      'B,right,central,,,1,-1,1,0,0,,,0 9 0,',
      /^groups.csv.gz was altered: statistics.json gives the SHA-256 "[0-9a-f]{64}", it has [0-9a-f]{64}/,
    ],
    [
      'groups.csv.gz',
      3,
      'B,right,central,,,1,-1,1,0,0,,,0 2147484 0,',
      /line 3: expected position_um to be 3 whole numbers of at most 6 digits with blanks between them, found "0 2147484 0"/,
    ],
    [
      'groups.csv.gz',
      2,
      'A,left,central,x,,2,1,1,1,7,133 67,100 100,2 2 3,-960456 0 0 0 0 0',
      /line 2: expected position_spread_um to be 6 whole numbers of at most 5 digits/,
    ],
    [
      'pairs.csv.gz',
      2,
      ',,0,3,,,',
      /^pairs.csv.gz, line 2: expected connections to be a whole number from 1/,
    ],
    [
      'pairs.csv.gz',
      2,
      '2,,1,3,,,',
      /line 2: expected pre_step to be steps to one of 2 groups, but it leads to 2/,
    ],
    [
      'pairs.csv.gz',
      3,
      ',,2,4,,,',
      /line 3: expected post_step to be steps to a later one of 2 groups, but it leads to 0/,
    ],
    [
      'pairs.csv.gz',
      2,
      ',,3,3,,,',
      /line 2: expected connections to be at most the 2 pairs of different cells/,
    ],
    [
      'pairs.csv.gz',
      4,
      '1,,1,8187,,,',
      /line 4: expected excess_synapses to be at most 8186 for each of 1 connections/,
    ],
    ['pairs.csv.gz', 3, ',1,2,4,1,,', /line 3: expected missing_pre to be so few/],
    ['pairs.csv.gz', 3, ',1,2,4,,1,', /line 3: expected missing_post to be so few/],
    // Two connections from or to one cell of a group of two: one of them would be from that cell to itself.
    [
      'pairs.csv.gz',
      2,
      ',,2,3,,1,',
      /line 2: expected missing_post to be so few that the other cells have room/,
    ],
    [
      'pairs.csv.gz',
      2,
      ',,2,3,1,,',
      /line 2: expected missing_pre to be so few that the other cells have room/,
    ],
    ['pairs.csv.gz', 2, ',,1,3,,,6', /line 2: expected spread to be a number below 6/],
    [
      'pairs.csv.gz',
      4,
      '1,,1,1,,,\n,1,1,1,,,',
      /line 5: expected connections to be absent, as statistics.json gives 3 rows/,
    ],
    ['pairs.csv.gz', 4, '', /expected 3 rows, found 2/],
  ])('refuse %s with line %i as %s', async (file, line, text, message) => {
    expect(await failureOf((dir) => change(dir, file, withLine(line, text)))).toMatch(message);
  });

  it('refuse a missing, foreign or cut file', async () => {
    expect(await failureOf((dir) => rmSync(join(dir, 'pairs.csv.gz')))).toMatch(
      /^expected a file at .*pairs.csv.gz, found none; npm run model:statistics makes it/,
    );
    expect(await failureOf((dir) => writeFileSync(join(dir, 'pairs.csv.gz'), 'text'))).toMatch(/gzip/);
    expect(
      await failureOf((dir) => {
        const path = join(dir, 'groups.csv.gz');
        writeFileSync(path, readFileSync(path).subarray(0, -12));
      }),
    ).toMatch(/groups.csv.gz.*truncated/);
    expect(
      await failureOf((dir) =>
        change(dir, 'statistics.json', (text) => text.replace('"format": 1', '"format": 2')),
      ),
    ).toMatch(/statistics.json: format must be 1, got 2/);
    expect(
      await failureOf((dir) =>
        change(dir, 'statistics.json', (text) =>
          text.replace('"minimumSynapses": 5', '"minimumSynapses": 4'),
        ),
      ),
    ).toMatch(/5 synapses or more, found minimumSynapses 4/);
  });
});
