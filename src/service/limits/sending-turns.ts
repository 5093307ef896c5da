import { setImmediate } from 'node:timers/promises';

/** Bytes of one client that are sent in one turn of the event loop: about 1 ms of the main thread. */
const TURN_BYTES = 512 * 1024;

/**
 * Spreads the answers of a client over turns of the event loop. If hundreds of large ones were sent in one turn, runs and
 * health checks of others would wait for all of them.
 */
export class SendingTurns {
  /** Bytes by client that are sent in this turn. */
  readonly #sent = new Map<string, number>();
  #nextTurn: Promise<void> | undefined;

  /** @returns undefined if the answer may be sent now, else a promise that resolves when it may */
  take(client: string, bytes: number): Promise<void> | undefined {
    return this.#fits(client, bytes) ? undefined : this.#inLaterTurn(client, bytes);
  }

  /** @returns true if it fits into this turn, of which it is then a part */
  #fits(client: string, bytes: number): boolean {
    const sent = this.#sent.get(client) ?? 0;
    if (sent > 0 && sent + bytes > TURN_BYTES) return false;
    this.#sent.set(client, sent + bytes);
    void this.#turn();
    return true;
  }

  async #inLaterTurn(client: string, bytes: number): Promise<void> {
    do await this.#turn();
    while (!this.#fits(client, bytes));
  }

  #turn(): Promise<void> {
    this.#nextTurn ??= setImmediate().then(() => {
      this.#sent.clear();
      this.#nextTurn = undefined;
    });
    return this.#nextTurn;
  }
}
