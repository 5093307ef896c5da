/**
 * Standard output and standard error that hold nothing up. Node writes to a pipe, a file and a terminal while everything
 * else waits, so a reader that stalls would stall the service. Here a write never waits: what the other side does not
 * take is kept up to a limit, and whole writes beyond it are dropped and counted.
 */
import { fstatSync, write } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { withTimeout } from '../with-timeout.js';

/** Bytes that wait where the other side takes no more; beyond, lines are lost. */
const LONGEST_BACKLOG_BYTES = 2 ** 20;
/** How soon a full disk is tried again. */
const RETRY_MS = 250;
/** For the last lines to leave before the process ends. */
const FLUSH_WITHIN_MS = 500;

type Written = (error?: Error | null) => void;

export class NonBlockingStream extends Writable {
  readonly isTTY: boolean;
  #dropped = 0;
  readonly #writeOut: (chunk: Buffer, written: Written) => void;

  constructor(readonly fd: number) {
    super({ decodeStrings: true });
    this.isTTY = isatty(fd);
    const kind = fstatSync(fd);
    this.#writeOut = kind.isFIFO() || kind.isSocket() ? toPipe(fd, () => this.#dropped++) : toFile(fd);
  }

  /** Writes that were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes the whole chunk or nothing of it, at once. */
  override write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    if (this.writableLength + chunk.length > LONGEST_BACKLOG_BYTES) {
      this.#dropped++;
      const written = rest.at(-1);
      if (typeof written === 'function') process.nextTick(written);
      return true;
    }
    return super.write(chunk, ...(rest as [BufferEncoding]));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: Written): void {
    this.#writeOut(chunk, written);
  }

  /** Resolves once everything has left, or cannot leave in time. */
  async flush(): Promise<void> {
    if (this.writableLength === 0) return;
    const written = new Promise<void>((resolve) => super.write('', () => resolve()));
    await withTimeout(FLUSH_WITHIN_MS, written, () => undefined);
  }
}

/** The system takes from a non-blocking pipe what fits, and libuv waits for the rest beside the event loop. */
function toPipe(fd: number, onLost: () => void) {
  const socket = new Socket({ fd, readable: false, writable: true });
  let isGone = false;
  // The reader has closed the stream. That must not end the service.
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

/** A thread of libuv's pool waits for the file. What a full disk does not take is tried again, from where it ended. */
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
 * Puts streams that never wait in the place of process.stdout and process.stderr, for everybody who writes there: the
 * log, Node's warnings, workers. Nobody may have used the others before: Node makes a pipe block as soon as somebody
 * does, for everybody who has it open.
 */
export function replaceStandardStreams(): NonNullable<typeof streams> {
  if (streams !== undefined) return streams;
  streams = { stdout: new NonBlockingStream(1), stderr: new NonBlockingStream(2) };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true });
  }
  return streams;
}

/** Lines of the log and of standard error that were lost. */
export function droppedWrites(): number {
  return (streams?.stdout.dropped ?? 0) + (streams?.stderr.dropped ?? 0);
}

/** To be awaited before the process ends by process.exit; takes half a second at most. */
export async function flushStandardStreams(): Promise<void> {
  await Promise.all([streams?.stdout.flush(), streams?.stderr.flush()]);
}
