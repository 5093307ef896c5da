import {
  closeSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CodedError } from '../errors.js';

/** In one piece, or in pieces where the whole would be too much for memory. */
export type FileContent = Uint8Array | string | Iterable<string>;

/**
 * Writes a file atomically: under a temporary name first, then renamed. A symbolic link stays a link, to the new file.
 * Pipes, terminals and devices such as /dev/null are written directly.
 * @param verify checks the file before it is renamed; if it throws, an existing file stays unchanged
 * @returns what verify found
 * @throws CodedError USAGE where it cannot be written
 */
export async function writeWhole<T = void>(
  path: string,
  content: FileContent,
  verify?: (unfinished: string) => Promise<T>,
): Promise<T> {
  const file = new WholeFile(path, verify === undefined);
  try {
    const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
    for (const piece of pieces) file.write(piece);
    file.close();
    const found = await verify?.(file.unfinished);
    file.finish();
    return found as T;
  } catch (error) {
    file.discard();
    throw error instanceof CodedError ? error : unwritable(path, error);
  }
}

/** A file that is written piece by piece, and is there when it is finished. */
export class WholeFile {
  /** Where it is written before it is finished. */
  readonly unfinished: string;
  readonly #target: string;
  readonly #descriptor: number;
  #isOpen = true;

  /**
   * @param mayBeDevice whether pipes and devices are written directly
   * @throws CodedError USAGE where it cannot be written; so do write() and finish()
   */
  constructor(
    private readonly path: string,
    mayBeDevice = true,
  ) {
    try {
      mkdirSync(dirname(path), { recursive: true });
      const there = statSync(path, { throwIfNoEntry: false });
      if (there?.isDirectory() === true) throw new Error('it is a directory');
      const isDevice = there?.isFile() === false && mayBeDevice;
      this.#target = there === undefined || isDevice ? path : realpathSync(path);
      this.unfinished = isDevice ? path : `${this.#target}.${process.pid}.part`;
      this.#descriptor = openSync(this.unfinished, 'w');
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  write(piece: Uint8Array | string): void {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    try {
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#descriptor, bytes, written);
      }
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  finish(): void {
    this.close();
    try {
      if (this.unfinished !== this.#target) renameSync(this.unfinished, this.#target);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** What was there before stays. */
  discard(): void {
    this.close();
    if (this.unfinished !== this.#target) rmSync(this.unfinished, { force: true });
  }
}

function unwritable(path: string, error: unknown): CodedError {
  return new CodedError('USAGE', `${path} cannot be written: ${(error as Error).message}.`);
}
