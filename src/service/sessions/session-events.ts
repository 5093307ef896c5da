/** The steps of a session as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { Readable } from 'node:stream';
import type { Observable } from 'rxjs';

/** A comment at this interval keeps proxies from closing a connection without steps. */
const ALIVE_EVERY_MS = 15_000;
/** Events that a watcher may leave unread. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** @param json one line */
export function serverSentEvent(name: string, json: string | Uint8Array): Buffer {
  const data = typeof json === 'string' ? Buffer.from(json) : json;
  return Buffer.concat([Buffer.from(`event: ${name}\ndata: `), data, Buffer.from('\n\n')]);
}

/** The stream of one watcher. It closes if the watcher does not read, so that unread steps take no memory. */
export class SessionEvents extends Readable {
  readonly #subscription: { unsubscribe(): void };
  readonly #timer: NodeJS.Timeout;

  /** @param events emits the events that each watcher of the session gets, and completes when the session ends */
  constructor(first: Buffer, events: Observable<Buffer>) {
    super({ highWaterMark: MAX_UNREAD_BYTES });
    this.push(first);
    this.#timer = setInterval(() => this.#send(Buffer.from(':\n\n')), ALIVE_EVERY_MS).unref();
    this.#subscription = events.subscribe({
      next: (event) => this.#send(event),
      complete: () => {
        // The watcher may read the end much later, and nothing may follow it.
        clearInterval(this.#timer);
        this.push(null);
      },
    });
  }

  override _read(): void {
    // Events come by themselves.
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#subscription.unsubscribe();
    clearInterval(this.#timer);
    callback(error);
  }

  #send(event: Buffer): void {
    if (this.readableLength + event.length > MAX_UNREAD_BYTES) this.destroy();
    else this.push(event);
  }
}
