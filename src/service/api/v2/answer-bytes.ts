import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { expectedErrorOf, internalError } from '../http/error-of.js';
import { ErrorResponse } from '../http/error-response.dto.js';

const log = new Logger('experiments');

/** An answer up to this length has a Content-Length, and its failure a status. */
export const HELD_BYTES = 1024 * 1024;

/** Bytes as they are made: the next piece is made when somebody asks for it. */
export type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

/** An answer that is complete, or one that is longer or takes longer than anybody wants to hold. */
export type HeldAnswer = { readonly whole: Buffer } | { readonly stream: Bytes };

/**
 * Collects the beginning of an answer. One that ends within the limit has a length, and a failure until then has a
 * status.
 */
export async function holdBeginning(bytes: Bytes, limitBytes: number): Promise<HeldAnswer> {
  const held: Uint8Array[] = [];
  let length = 0;
  while (length <= limitBytes) {
    const next = await bytes.next();
    if (next.done === true) return { whole: Buffer.concat(held, length) };
    held.push(next.value);
    length += next.value.length;
  }
  return { stream: following(Buffer.concat(held, length), bytes) };
}

async function* following(beginning: Uint8Array, rest: Bytes): Bytes {
  yield beginning;
  yield* rest;
}

/**
 * Lets everything else have its turn before the next piece is made. Pieces are made without waiting for anything, so a
 * large answer to a fast reader would hold up all other requests until its end.
 */
export async function* inTurns(bytes: Bytes): Bytes {
  for await (const piece of bytes) {
    if (piece.length > 0) yield piece;
    await setImmediate();
  }
}

/** Adds a line of progress wherever nothing else has come for a while. */
export async function* withProgress(lines: Bytes, progress: () => Uint8Array, everyMs: number): Bytes {
  let next = lines.next();
  try {
    for (;;) {
      const line = await orAfter(everyMs, next);
      if (line === undefined) {
        yield progress();
      } else if (line.done === true) {
        return;
      } else {
        yield line.value;
        next = lines.next();
      }
    }
  } finally {
    await lines.return();
  }
}

/** @returns undefined where the promise takes longer; it goes on */
async function orAfter<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends lines that fail with a line that says why: their status has left long ago. */
export async function* withFailureLine(lines: Bytes): Bytes {
  try {
    for (;;) {
      const next = await lines.next().catch((thrown: unknown) => failureLine(thrown));
      if (next instanceof Uint8Array) {
        yield next;
        return;
      }
      if (next.done === true) return;
      // An error that is thrown here comes from the reader, who has left: nothing failed.
      yield next.value;
    }
  } finally {
    await lines.return();
  }
}

function failureLine(thrown: unknown): Uint8Array {
  const error = expectedErrorOf(thrown) ?? internalError(thrown);
  if (error.code === 'INTERNAL') {
    log.error(`An experiment failed: ${String((thrown as Error).stack ?? thrown)}`);
  }
  return Buffer.from(`${JSON.stringify(new ErrorResponse(error))}\n`);
}
