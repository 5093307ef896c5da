import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { CodedError } from '../../engine/errors.js';

/** After this time without a write, an unfinished file of a process that is gone is removed. */
const LEFT_OVER_MS = 3_600_000;

/**
 * Writes a whole file with AtomicFile.
 * @param verify checks the unfinished file before it gets its name; if it throws, an existing file stays unchanged
 * @returns the result of `verify`
 * @throws CodedError USAGE if the file cannot be written
 */
export async function writeAtomically<T = void>(
  path: string,
  content: Uint8Array | string,
  verify?: (unfinished: string) => Promise<T>,
): Promise<T> {
  const file = new AtomicFile(path, verify === undefined);
  try {
    file.write(content);
    const found = await verify?.(file.unfinished);
    file.finish();
    return found as T;
  } catch (error) {
    file.discard();
    throw error;
  }
}

/**
 * Finds a file that cannot be written before the work for it, and not after. A pipe is not tried, because its reader would
 * see the end. New folders are made with the file: until then, only the folder that will hold them is tried.
 * @throws CodedError USAGE
 */
export function checkWritable(path: string): void {
  const isTried = attempt(`${path} cannot be written`, () => {
    const folder = dirname(resolve(path));
    let existing = folder;
    // A link to nowhere is there, and no folder can be made in its place.
    while (lstatSync(existing, { throwIfNoEntry: false }) === undefined && dirname(existing) !== existing) {
      existing = dirname(existing);
    }
    if (existing !== folder) rmdirSync(mkdtempSync(join(existing, '.new-')));
    return existing !== folder || statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
  });
  if (!isTried) new AtomicFile(path).discard();
}

/** True if both paths lead to one existing file, also through links. */
export function isSameFile(a: string, b: string): boolean {
  try {
    const [one, other] = [statSync(a, { bigint: true }), statSync(b, { bigint: true })];
    return one.isFile() && one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false;
  }
}

/**
 * A file that is written under a temporary name and renamed when it is finished. The target of a symbolic link is
 * replaced, not the link. Pipes, terminals and devices such as /dev/null are written directly. All methods throw
 * CodedError USAGE if the file cannot be written.
 */
export class AtomicFile {
  /** Path of the file until it is finished. */
  readonly unfinished: string;
  readonly #target: string;
  readonly #descriptor: number;
  #isOpen = true;

  /** @param mayBeDevice whether pipes and devices are written directly */
  constructor(
    readonly path: string,
    mayBeDevice = true,
  ) {
    [this.#target, this.unfinished] = this.#attempt(() => {
      if (path === '-') throw new Error('standard output is /dev/stdout');
      mkdirSync(dirname(path), { recursive: true });
      const there = statSync(path, { throwIfNoEntry: false });
      if (there?.isDirectory() === true) throw new Error('it is a directory');
      if (there?.isFile() === false && mayBeDevice) return [path, path];
      const target = there === undefined ? path : realpathSync(path);
      removeLeftOvers(target);
      return [target, `${target}.${process.pid}.part`];
    });
    this.#descriptor = this.#attempt(() => openSync(this.unfinished, 'w'));
  }

  write(piece: Uint8Array | string): void {
    this.#attempt(() => writeFileSync(this.#descriptor, piece));
  }

  finish(): void {
    this.#finishAs(this.#target);
  }

  /**
   * Gives content that is only the beginning a name that says so: out.partial.csv for out.csv.
   * @returns that name, or the one that the file has if it cannot get that name; undefined for a pipe or device
   */
  finishPartial(): string | undefined {
    if (this.unfinished === this.#target) {
      this.#close();
      return undefined;
    }
    const { dir, name, ext } = parse(this.#target);
    const path = join(dir, `${name}.partial${ext}`);
    try {
      this.#finishAs(path);
      return path;
    } catch (error) {
      // Its content may have taken hours, so its user learns where it is.
      if (!existsSync(this.unfinished)) throw error;
      return this.unfinished;
    }
  }

  #finishAs(path: string): void {
    this.#close();
    if (this.unfinished !== this.#target) this.#attempt(() => renameSync(this.unfinished, path));
  }

  /** Removes the unfinished file; an earlier file stays. Does nothing to a finished file. */
  discard(): void {
    this.#close();
    if (this.unfinished !== this.#target) rmSync(this.unfinished, { force: true });
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #attempt<T>(work: () => T): T {
    return attempt(`${this.path} cannot be written`, work);
  }
}

/** Removes unfinished files of processes that were killed. Other machines may write in the same folder, so these are old. */
function removeLeftOvers(target: string): void {
  const folder = dirname(target);
  for (const name of readdirSync(folder)) {
    const [, pid] = name.startsWith(`${basename(target)}.`) ? (/\.(\d+)\.part$/.exec(name) ?? []) : [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > LEFT_OVER_MS) rmSync(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** @throws CodedError USAGE if `work` throws; its message is `failure`, then that of the error */
export function attempt<T>(failure: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CodedError('USAGE', `${failure}: ${(error as Error).message}.`);
  }
}
