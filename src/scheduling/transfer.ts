import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Outcome } from './task.js';

/** Copying less takes less time than transferring it. */
const LEAST_BYTES = 4096;

/**
 * A result as a worker hands it to Piscina: its memory is transferred, not copied, unless it is little.
 * @param arrays the result's; no other array may use their memory
 */
export function transfer<Result>(
  result: Result,
  arrays: readonly (ArrayBufferView | undefined)[],
): Outcome<Result> {
  const outcome: Outcome<Result> = { ok: true, result };
  const given = arrays.filter((array) => array !== undefined).map(({ buffer }) => buffer);
  const buffers = new Set(given.filter(({ byteLength }) => byteLength >= LEAST_BYTES));
  // Piscina reads these two members in the worker; its types know single transferables only.
  return move({
    [transferableSymbol]: [...buffers],
    [valueSymbol]: outcome,
  } as never) as unknown as Outcome<Result>;
}
