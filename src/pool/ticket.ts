/**
 * Travels with a run or a trial that is handed to a worker, in memory that both threads share. What is queued ahead in
 * a worker can still be withdrawn: the first thread to change the ticket decides, so nothing is both started and
 * withdrawn. When a worker ends, its tickets show what it was computing.
 */
export type Ticket = Int32Array<SharedArrayBuffer>;

const HANDED = 0;
const BEGUN = 1;
const ENDED = 2;
const WITHDRAWN = 3;

/** A new one each time something is handed over: a worker that is being stopped may still read the old ticket. */
export function newTicket(): Ticket {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Called by the worker. False if it was withdrawn. */
export function begin(ticket: Ticket): boolean {
  return Atomics.compareExchange(ticket, 0, HANDED, BEGUN) === HANDED;
}

/** Called by the worker, before its answer leaves. */
export function end(ticket: Ticket): void {
  Atomics.store(ticket, 0, ENDED);
}

/** @returns whether no worker has begun it, and none will */
export function withdraw(ticket: Ticket): boolean {
  return Atomics.compareExchange(ticket, 0, HANDED, WITHDRAWN) === HANDED;
}

/** Whether a worker is computing it, or was when it ended. */
export function isUnderWay(ticket: Ticket): boolean {
  return Atomics.load(ticket, 0) === BEGUN;
}
