import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Outcome } from './task.js';

/**
 * A result as a worker hands it to Piscina: its memory is transferred, not copied.
 * @param arrays the result's; no other array may use their memory
 */
export function transfer<Result>(
  result: Result,
  arrays: readonly (ArrayBufferView | undefined)[],
): Outcome<Result> {
  const outcome: Outcome<Result> = { ok: true, result };
  const buffers = new Set(arrays.filter((array) => array !== undefined).map(({ buffer }) => buffer));
  // Piscina reads these two members in the worker; its types know single transferables only.
  return move({
    [transferableSymbol]: [...buffers],
    [valueSymbol]: outcome,
  } as never) as unknown as Outcome<Result>;
}
