import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smallConnectomeFile } from '../../test/support/small-connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { writeWhole } from './write-whole.js';

describe('writeWhole', () => {
  const dir = mkdtempSync(join(tmpdir(), 'write-whole-'));
  const path = join(dir, 'out.connectome');
  const verify = async (file: string) => void openConnectome(await readConnectomeFile(file));
  const good = readFileSync(smallConnectomeFile());

  it('gives a file its name when it has been verified', async () => {
    const seen: string[] = [];
    await writeWhole(path, good, async (unfinished) => {
      seen.push(...readdirSync(dir));
      await verify(unfinished);
    });
    expect(seen).toEqual([expect.stringMatching(/^out\.connectome\.\d+\.part$/)]);
    expect(readdirSync(dir)).toEqual(['out.connectome']);
  });

  it('leaves the file that was there where the new one arrives broken, as from a bad disk', async () => {
    writeFileSync(path, good);
    await expect(writeWhole(path, good.subarray(0, -64), verify)).rejects.toMatchObject({
      code: 'CONNECTOME_INVALID',
    });
    expect(readFileSync(path).equals(good)).toBe(true);
    expect(readdirSync(dir)).toEqual(['out.connectome']);
  });

  it('says why a file cannot be written', async () => {
    await expect(writeWhole(join(path, 'below'), 'x')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/below cannot be written: E.*\.$/) as string,
    });
  });
});
