import type { CodedError } from '../../engine/errors.js';
import { finite } from '../../engine/finite.js';

/** Limits of a resource, for one client and for all. */
export interface Bounds {
  readonly ofClient: number;
  readonly ofAll: number;
}

/** How much of a limited resource is in use, by each client and in total. */
export class ClientShares {
  readonly #ofClients = new Map<string, number>();
  #ofAll = 0;

  get ofAll(): number {
    return this.#ofAll;
  }

  of(client: string): number {
    return this.#ofClients.get(client) ?? 0;
  }

  /** @returns a function that gives the amount back; further calls of it do nothing */
  take(client: string, amount: number): () => void {
    this.#add(client, finite(amount));
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(client, -amount);
      isTaken = false;
    };
  }

  /**
   * Takes an amount within the limits.
   * @param full makes the error of a refusal, from the amount in use and the words that name its users
   * @throws CodedError of full
   */
  admit(
    client: string,
    amount: number,
    { ofClient, ofAll }: Bounds,
    full: (held: number, whose: '' | ' of this client') => CodedError,
  ): () => void {
    const own = this.of(client);
    if (own + amount > ofClient) throw full(own, ' of this client');
    if (this.#ofAll + amount > limitFor(own, ofAll)) throw full(this.#ofAll, '');
    return this.take(client, amount);
  }

  #add(client: string, amount: number): void {
    this.#ofAll += amount;
    const own = this.of(client) + amount;
    if (own > 0) this.#ofClients.set(client, own);
    else this.#ofClients.delete(client);
  }
}

/**
 * The total at which a client is refused. The last quarter is reserved for clients that hold nothing, so a few
 * clients cannot exclude all others.
 * @param own amount that the client holds already
 */
export function limitFor(own: number, limit: number): number {
  return own === 0 ? limit : limit - Math.floor(limit / 4);
}

/** Work of each client, one piece after another; clients do not wait for each other. */
export class ClientLines {
  /** The end of the last piece of each line. */
  readonly #lastOf = new Map<string, Promise<unknown>>();

  /**
   * Begins when all earlier work in the same line is done.
   * @param line name of the line, such as a client
   */
  async afterOthers<T>(line: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#lastOf.get(line) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => undefined);
    this.#lastOf.set(line, settled);
    try {
      return await done;
    } finally {
      if (this.#lastOf.get(line) === settled) this.#lastOf.delete(line);
    }
  }
}
