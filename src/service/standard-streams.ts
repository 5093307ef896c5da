/**
 * Standard output and standard error that never block. Node writes to pipes, files and terminals synchronously, so a
 * slow reader would stop the service. Here unwritten bytes wait in memory up to a limit; writes beyond it are dropped
 * as a whole and counted.
 */
import { fstatSync, write } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { withTimeout } from '../workers/pool/with-timeout.js';

/** Limit of unwritten bytes; writes beyond it are lost. */
const MAX_BACKLOG_BYTES = 2 ** 20;
/** Pause before the next try after a full disk. */
const RETRY_MS = 250;
/** Time for the last lines before the process ends. */
const FLUSH_WITHIN_MS = 500;

type Written = (error?: Error | null) => void;

export class NonBlockingStream extends Writable {
  readonly isTTY: boolean;
  /** Number of lost writes. */
  dropped = 0;
  readonly #writeOut: (chunk: Buffer, written: Written) => void;

  constructor(readonly fd: number) {
    super({ decodeStrings: true });
    this.isTTY = isatty(fd);
    const kind = fstatSync(fd);
    this.#writeOut = kind.isFIFO() || kind.isSocket() ? toPipe(fd, () => this.dropped++) : toFile(fd);
  }

  /** Accepts the whole chunk or drops it, without waiting. */
  override write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    if (this.writableLength + chunk.length > MAX_BACKLOG_BYTES) {
      this.dropped++;
      const written = rest.at(-1);
      if (typeof written === 'function') process.nextTick(written);
      return true;
    }
    return super.write(chunk, ...(rest as [BufferEncoding]));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: Written): void {
    this.#writeOut(chunk, written);
  }

  /** Resolves after everything was written, or after the time limit. */
  async flush(): Promise<void> {
    if (this.writableLength === 0) return;
    const written = new Promise<void>((resolve) => super.write('', () => resolve()));
    await withTimeout(FLUSH_WITHIN_MS, written, () => undefined);
  }
}

/**
 * Writes to a pipe or socket. The system takes as much as fits; libuv waits for the rest outside of the event loop.
 */
function toPipe(fd: number, onLost: () => void) {
  const socket = new Socket({ fd, readable: false, writable: true });
  let isGone = false;
  // The reader closed the stream, which must not end the service.
  socket.on('error', () => (isGone = true));
  return (chunk: Buffer, written: Written): void => {
    if (isGone) {
      onLost();
      written();
      return;
    }
    socket.write(chunk, (error) => {
      if (error) onLost();
      written();
    });
  };
}

/** Writes to a file in a thread of libuv's pool. After a full disk it tries again from the first unwritten byte. */
function toFile(fd: number) {
  return function writeOut(chunk: Buffer, written: Written): void {
    write(fd, chunk, (error, bytes) => {
      const left = error ? chunk : chunk.subarray(bytes);
      if (left.length === 0) written();
      else if (error) setTimeout(writeOut, RETRY_MS, left, written).unref();
      else writeOut(left, written);
    });
  };
}

let streams: { readonly stdout: NonBlockingStream; readonly stderr: NonBlockingStream } | undefined;

/**
 * Replaces process.stdout and process.stderr with streams that never block, for all writers: the log, Node's warnings
 * and workers. Call this before anybody uses the originals: Node makes a pipe blocking on first use, for every
 * process that has it open.
 */
export function replaceStandardStreams(): NonNullable<typeof streams> {
  if (streams !== undefined) return streams;
  streams = { stdout: new NonBlockingStream(1), stderr: new NonBlockingStream(2) };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true });
  }
  return streams;
}

/** Number of lost lines on standard output and standard error. */
export function droppedWrites(): number {
  return (streams?.stdout.dropped ?? 0) + (streams?.stderr.dropped ?? 0);
}

/** Await this before process.exit; it takes half a second at most. */
export async function flushStandardStreams(): Promise<void> {
  await Promise.all([streams?.stdout.flush(), streams?.stderr.flush()]);
}
