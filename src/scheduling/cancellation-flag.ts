/**
 * State of a task that was handed to a worker, in memory that both threads share. What is queued ahead in
 * a worker can still be withdrawn: the first thread to change the flag decides, so nothing is both started and
 * withdrawn. When a worker ends, its flags show what it was computing.
 */
export type CancellationFlag = Int32Array<SharedArrayBuffer>;

const HANDED = 0;
const BEGUN = 1;
const ENDED = 2;
const WITHDRAWN = 3;

/** Flags share memory, as making and forgetting a buffer takes longer than a message; none is used twice. */
const FLAGS_IN_BUFFER = 1024;
let buffer = new SharedArrayBuffer(0);
let usedBytes = 0;

/** A new one each time something is handed over: a worker that is being stopped may still read the old flag. */
export function newCancellationFlag(): CancellationFlag {
  const { BYTES_PER_ELEMENT: bytes } = Int32Array;
  if (usedBytes === buffer.byteLength) {
    buffer = new SharedArrayBuffer(FLAGS_IN_BUFFER * bytes);
    usedBytes = 0;
  }
  const flag = new Int32Array(buffer, usedBytes, 1);
  usedBytes += bytes;
  return flag;
}

/** Called by the worker. False if it was withdrawn. */
export function begin(flag: CancellationFlag): boolean {
  return Atomics.compareExchange(flag, 0, HANDED, BEGUN) === HANDED;
}

/** Called by the worker, before its answer leaves. */
export function end(flag: CancellationFlag): void {
  Atomics.store(flag, 0, ENDED);
}

/** @returns whether no worker has begun it, and none will */
export function withdraw(flag: CancellationFlag): boolean {
  return Atomics.compareExchange(flag, 0, HANDED, WITHDRAWN) === HANDED;
}

/** Tells whether a worker is computing it, or was when it ended. */
export function isUnderWay(flag: CancellationFlag): boolean {
  return Atomics.load(flag, 0) === BEGUN;
}
