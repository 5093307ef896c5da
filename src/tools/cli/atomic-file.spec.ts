import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smallConnectomeFile } from '../../../test/support/small-connectome.js';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { AtomicFile, checkWritable, writeAtomically } from './atomic-file.js';

describe('writeAtomically', () => {
  const dir = mkdtempSync(join(tmpdir(), 'atomic-file-'));
  const path = join(dir, 'out.connectome');
  const verify = async (file: string) => void openConnectome(await readConnectomeFile(file));
  const good = readFileSync(smallConnectomeFile());

  it('gives a file its name when it has been verified', async () => {
    const seen: string[] = [];
    await writeAtomically(path, good, async (unfinished) => {
      seen.push(...readdirSync(dir));
      await verify(unfinished);
    });
    expect(seen).toEqual([expect.stringMatching(/^out\.connectome\.\d+\.part$/)]);
    expect(readdirSync(dir)).toEqual(['out.connectome']);
  });

  it('leaves the old file if the new one arrives broken, as from a bad disk', async () => {
    writeFileSync(path, good);
    await expect(writeAtomically(path, good.subarray(0, -64), verify)).rejects.toMatchObject({
      code: 'CONNECTOME_INVALID',
    });
    expect(readFileSync(path).equals(good)).toBe(true);
    expect(readdirSync(dir)).toEqual(['out.connectome']);
  });

  it('removes what a killed process left, and nothing of others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'));
    const { pid } = spawnSync('true');
    const ofKilled = [`out.csv.${pid}.part`, `other.csv.${pid}.part`, `out.csv.${process.pid}0.part`];
    const others = [`out.csv.${process.ppid}.part`, 'out.csv.part'];
    for (const name of [...ofKilled, ...others]) {
      writeFileSync(join(folder, name), '');
      utimesSync(join(folder, name), 0, 0);
    }
    writeFileSync(join(folder, `out.csv.${pid}1.part`), 'just written');
    await writeAtomically(join(folder, 'out.csv'), 'x');
    const left = [...others, `other.csv.${pid}.part`, `out.csv.${pid}1.part`, 'out.csv'];
    expect(readdirSync(folder).sort()).toEqual(left.sort());
  });

  it('takes a dash for standard output, and says how to write there', async () => {
    await expect(writeAtomically('-', 'x')).rejects.toThrow(
      '- cannot be written: standard output is /dev/stdout.',
    );
  });

  it('leaves a link, and replaces the file that it leads to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'));
    const [file, link] = [join(folder, 'file'), join(folder, 'link')];
    writeFileSync(file, 'old');
    symlinkSync('file', link);
    await writeAtomically(link, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(readlinkSync(link)).toBe('file');
    expect(readdirSync(folder)).toEqual(['file', 'link']);
  });

  it('writes into a pipe instead of putting a file in its place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
    checkWritable(pipe);
    const read = reader.stdout.setEncoding('utf8').toArray();
    await writeAtomically(pipe, 'x'.repeat(50_000));
    expect((await read).join('')).toHaveLength(50_000);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(['pipe']);
  });

  it('makes no folder before the work, and says if it could not be made', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'));
    const file = join(folder, 'new', 'deep', 'x.svg');
    checkWritable(file);
    expect(readdirSync(folder)).toEqual([]);
    await writeAtomically(file, 'x');
    expect(existsSync(file)).toBe(true);
    expect(() => checkWritable(join(file, 'below', 'x.svg'))).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: expect.stringMatching(/below\/x\.svg cannot be written: ENOTDIR.*\.$/) as string,
      }),
    );
  });

  it('finds a folder that leads to nowhere before the work', () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'));
    symlinkSync('nowhere', join(folder, 'link'));
    for (const path of ['link/x.svg', 'link/new/deep/x.svg']) {
      expect(() => checkWritable(join(folder, path))).toThrow(/x\.svg cannot be written: E/);
    }
    expect(readdirSync(folder)).toEqual(['link']);
  });

  it('tells where a partial file is that cannot have its name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'));
    mkdirSync(join(folder, 'out.partial.csv'));
    const [file, lost] = ['out.csv', 'lost.csv'].map((name) => new AtomicFile(join(folder, name)));
    file!.write('x');
    expect(readFileSync(file!.finishPartial()!, 'utf8')).toBe('x');
    rmSync(lost!.unfinished);
    expect(() => lost!.finishPartial()).toThrow('lost.csv cannot be written: ENOENT');
  });

  it('says that a directory is no file', async () => {
    await expect(writeAtomically(dir, 'x')).rejects.toMatchObject({
      code: 'USAGE',
      message: `${dir} cannot be written: it is a directory.`,
    });
  });

  it('says why a file cannot be written', async () => {
    await expect(writeAtomically(join(path, 'below'), 'x')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/below cannot be written: E.*\.$/) as string,
    });
  });
});
