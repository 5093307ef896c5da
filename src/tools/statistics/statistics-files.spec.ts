import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { smallBrain } from '../../../test/support/small-brain.js';
import { CodedError } from '../../engine/errors.js';
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

  it.each(['groups.csv.gz', 'pairs.csv.gz'])('refuse %s with another row', async (file) => {
    const edit = (text: string) => text.replace('1,1,', '2,1,');
    expect(await failureOf((dir) => change(dir, file, edit))).toMatch(
      new RegExp(
        `^${file} was altered: statistics.json gives the SHA-256 "[0-9a-f]{64}", it has [0-9a-f]{64}`,
      ),
    );
  });

  it('refuse a missing, foreign or cut file', async () => {
    expect(await failureOf((dir) => rmSync(join(dir, 'pairs.csv.gz')))).toMatch(
      /^expected a file at .*pairs.csv.gz, found none; npm run model:statistics makes it/,
    );
    expect(await failureOf((dir) => writeFileSync(join(dir, 'pairs.csv.gz'), 'text'))).toMatch(
      /^pairs.csv.gz was altered/,
    );
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
