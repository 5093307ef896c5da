/**
 * Travels with a run that is handed to a worker, in memory that both threads share. The run ahead in a worker can still
 * be cancelled: the first thread to change the ticket decides, so no run is both started and cancelled. When a worker
 * ends, the tickets of its runs show which one it was computing.
 */
export type Ticket = Int32Array<SharedArrayBuffer>;

const HANDED = 0;
const BEGUN = 1;
const ENDED = 2;
const TAKEN_BACK = 3;

/** A new one each time a run is handed over: a worker that is being stopped may still read the old ticket. */
export function newTicket(): Ticket {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Called by the worker. False if the run was cancelled. */
export function begin(ticket: Ticket): boolean {
  return Atomics.compareExchange(ticket, 0, HANDED, BEGUN) === HANDED;
}

/** Called by the worker, before its answer leaves. */
export function end(ticket: Ticket): void {
  Atomics.store(ticket, 0, ENDED);
}

/** @returns whether no worker has begun the run, and none will */
export function takeBack(ticket: Ticket): boolean {
  return Atomics.compareExchange(ticket, 0, HANDED, TAKEN_BACK) === HANDED;
}

/** Whether a worker is computing the run, or was when it ended. */
export function isUnderWay(ticket: Ticket): boolean {
  return Atomics.load(ticket, 0) === BEGUN;
}
