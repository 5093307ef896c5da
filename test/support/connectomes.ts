/**
 * Whole brains for tests, compiled once and stored. If the compiler, its data or the tables change, a file is
 * compiled again, so no test runs on an old one.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GOLDEN_TABLES_DIR, TABLES_DIR } from './requirements.js';

const CACHE_DIR = resolve('node_modules/.cache/connectomes');
const COMMANDS = resolve('dist/tools/cli/run.js');
const WAIT_MS = 100;

/**
 * The measured brains need describeWith(['tables'], …), that of the golden files ['golden']; the default one nothing.
 */
const SOURCES = {
  'measured-predicted': ['--tables', TABLES_DIR, '--signs', 'predicted'],
  'measured-corrected': ['--tables', TABLES_DIR, '--signs', 'corrected'],
  'measured-probabilities': ['--tables', TABLES_DIR, '--signs', 'corrected', '--sign-probabilities'],
  'golden-predicted': ['--tables', GOLDEN_TABLES_DIR, '--signs', 'predicted'],
  default: ['--statistics', resolve('data/cell-types')],
} as const;

/** @returns the path of a compiled connectome file, which is there when this resolves */
export async function connectomeFile(name: keyof typeof SOURCES): Promise<string> {
  if (!existsSync(COMMANDS)) throw new Error(`${COMMANDS} is missing: npm run build makes it`);
  const [, source] = SOURCES[name];
  const path = join(CACHE_DIR, `${name}-${keyOf(SOURCES[name], source)}.connectome`);
  mkdirSync(CACHE_DIR, { recursive: true });
  while (!existsSync(path)) {
    if (claim(`${path}.lock`)) {
      try {
        forgetOthers(name, path);
        await promisify(execFile)(process.execPath, [
          COMMANDS,
          'model-compile',
          ...SOURCES[name],
          '--out',
          path,
        ]);
      } finally {
        rmSync(`${path}.lock`, { force: true });
      }
    } else {
      await setTimeout(WAIT_MS);
    }
  }
  return path;
}

/** True for one process at a time; the claim of a process that has died counts for nothing. */
function claim(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(lock)) {
      rmSync(lock, { force: true });
    }
    return false;
  }
}

function isAlive(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    // Between its creation and its first byte the lock of a living process is empty.
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}

function forgetOthers(name: string, path: string): void {
  for (const file of readdirSync(CACHE_DIR)) {
    if (new RegExp(`^${name}-[0-9a-f]+\\.connectome$`).test(file) && join(CACHE_DIR, file) !== path) {
      rmSync(join(CACHE_DIR, file), { force: true });
    }
  }
}

function keyOf(args: readonly string[], source: string): string {
  const hash = createHash('sha256').update(args.join(' '));
  const compiler = ['dist/tools/compiler', 'dist/engine/connectome', 'dist/engine/stimulus', 'data'].flatMap(
    filesBelow,
  );
  for (const file of compiler.filter((each) =>
    /(compiler|connectome).*\.js$|philox\.js$|\.json$/.test(each),
  )) {
    hash.update(file).update(readFileSync(file));
  }
  for (const file of filesBelow(source)) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}`);
  }
  return hash.digest('hex').slice(0, 16);
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
