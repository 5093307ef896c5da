/** How much of something bounded is taken, by each client and by all. */
export class ClientShares {
  readonly #ofClients = new Map<string, number>();
  #ofAll = 0;

  get ofAll(): number {
    return this.#ofAll;
  }

  of(client: string): number {
    return this.#ofClients.get(client) ?? 0;
  }

  /** @returns what gives it back; may be called more than once */
  take(client: string, amount: number): () => void {
    this.#add(client, amount);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(client, -amount);
      isTaken = false;
    };
  }

  #add(client: string, amount: number): void {
    this.#ofAll += amount;
    const own = this.of(client) + amount;
    if (own > 0) this.#ofClients.set(client, own);
    else this.#ofClients.delete(client);
  }
}

/**
 * Places of all that a client may take, which has some of them already: the last quarter is kept for clients that have
 * nothing, so that a few clients never take all places.
 */
export function placesFor(own: number, places: number): number {
  return own === 0 ? places : places - Math.floor(places / 4);
}
