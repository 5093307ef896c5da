/** The signs of the compiled tables beside those of another program, which knows only the documents. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith, TABLES_DIR } from '../support/requirements.js';

/** With a cold cache both brains are compiled first. */
jest.setTimeout(300_000);

interface Row {
  readonly id: string;
  readonly source: string;
  readonly predicted: number;
  readonly corrected: number;
  readonly excites: number;
  readonly inhibits: number;
}

describeWith(['tables', 'python'], 'the signs that validation/signs_of_tables.py reads', () => {
  let rows: Row[];

  beforeAll(() => {
    const printed = execFileSync('python3', [resolve('validation/signs_of_tables.py'), TABLES_DIR], {
      encoding: 'utf8',
      maxBuffer: 2 ** 24,
    });
    rows = printed
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','))
      .map(([id, , source, predicted, corrected, excites, inhibits]) => ({
        id: id!,
        source: source!,
        predicted: Number(predicted),
        corrected: Number(corrected),
        excites: Number(excites),
        inhibits: Number(inhibits),
      }));
  });

  it.each(['predicted', 'corrected'] as const)('are those of the compiler, under %s', async (rule) => {
    const { neuronCount, neuronId, signs, metadata } = openConnectome(
      new Uint8Array(readFileSync(await connectomeFile(`measured-${rule}`))).buffer,
    );
    const expected = new Map(rows.map((row) => [row.id, row[rule]]));
    expect(expected.size).toBe(neuronCount);
    const different = Array.from({ length: neuronCount }, (_, i) => i).filter(
      (i) => expected.get(neuronId(i)) !== signs[i],
    );
    expect(different.map(neuronId)).toEqual([]);
    const remark = metadata.provenance.find((text) => text.startsWith('Signs of '))!;
    const said = (pattern: RegExp) =>
      [...remark.matchAll(pattern)].reduce((sum, [, n]) => sum + Number(n), 0);
    expect(said(/^Signs of (\d+) neurons under the rule/g)).toBe(neuronCount);
    expect(said(/inhibit: (\d+)/g)).toBe(rows.filter((row) => row[rule] < 0).length);
    expect(said(/excite: (\d+)/g)).toBe(rows.filter((row) => row[rule] > 0).length);
    // docs/wiring.md says that these would be excitatory if an empty nt_type were no transmitter.
    const byMean = said(/inhibit: \d+ \(\d+ by nt_type, (\d+) by the largest mean/g);
    expect(byMean).toBe({ predicted: 4889, corrected: 4884 }[rule]);
  });

  it('have the probabilities of the compiler, to a 255th where sums of doubles differ in their last bit', async () => {
    const { neuronCount, neuronId, signs, signProbabilities } = openConnectome(
      new Uint8Array(readFileSync(await connectomeFile('measured-probabilities'))).buffer,
    );
    const expected = new Map(rows.map((row) => [row.id, row]));
    let different = 0;
    let doubt = 0;
    for (let i = 0; i < neuronCount; i++) {
      const [excites, inhibits] = signProbabilities!.subarray(2 * i, 2 * i + 2);
      const row = expected.get(neuronId(i))!;
      expect(excites! + inhibits!).toBe(255);
      expect(Math.abs(excites! - row.excites)).toBeLessThanOrEqual(1);
      if (excites !== row.excites) different++;
      doubt += (signs[i]! > 0 ? inhibits! : excites!) / 255;
    }
    expect(different).toBeLessThan(100);
    // docs/wiring.md has the share of neurons whose sign a draw changes.
    const share = `${((100 * doubt) / neuronCount).toFixed(1)} %`;
    expect(readFileSync(resolve('docs/wiring.md'), 'utf8')).toContain(`changes the sign of ${share} of the`);
  });

  it('are as many by an empty nt_type as docs/wiring.md says', () => {
    const text = readFileSync(resolve('docs/wiring.md'), 'utf8').replaceAll('\n', ' ');
    const counted = (source: string) =>
      rows.filter((row) => row.source === source).length.toLocaleString('en');
    expect(text).toContain(`names it for ${counted('nt_type')} of the`);
    expect(text).toContain(`for ${counted('mean')} of them the table has mean probabilities`);
    expect(text).toContain(`${counted('none')} have no prediction at all`);
  });
});
