import { finite } from '../../engine/finite.js';

interface Waiting {
  readonly amount: number;
  readonly begin: () => void;
}

interface Turn {
  /** Amount that the client has begun in this turn. */
  begun: number;
  /** Work for later turns, in order. */
  readonly waiting: Waiting[];
}

/**
 * Spreads the work of a client over turns of the event loop. If hundreds of requests or answers of one client were handled
 * in one turn, runs and health checks of others would wait for all of them.
 */
export class ClientTurns {
  readonly #turns = new Map<string, Turn>();
  #isScheduled = false;

  /**
   * @param amountOfTurn amount of one client in one turn; a larger piece of work has a turn of its own
   * @param schedule calls the next turn, never at once
   */
  constructor(
    private readonly amountOfTurn: number,
    private readonly schedule: (next: () => void) => void = setImmediate,
  ) {}

  /** True if work waits for a later turn. */
  get areWaiting(): boolean {
    for (const { waiting } of this.#turns.values()) if (waiting.length > 0) return true;
    return false;
  }

  /** Begins the work now if it fits into this turn, else in a later one, after earlier work of the client. */
  begin(client: string, amount: number, begin: () => void): void {
    finite(amount);
    const turn = this.#turns.get(client) ?? { begun: 0, waiting: [] };
    this.#turns.set(client, turn);
    this.#schedule();
    if (turn.waiting.length === 0 && this.#fits(turn, amount)) {
      turn.begun += amount;
      begin();
    } else {
      turn.waiting.push({ amount, begin });
    }
  }

  /** Resolves when the client may do work of this amount. */
  turn(client: string, amount: number): Promise<void> {
    return new Promise((resolve) => this.begin(client, amount, resolve));
  }

  #fits({ begun }: Turn, amount: number): boolean {
    return begun === 0 || begun + amount <= this.amountOfTurn;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.schedule(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isScheduled = false;
    const begun: (() => void)[] = [];
    for (const [client, turn] of this.#turns) {
      const { waiting } = turn;
      if (waiting.length === 0) {
        this.#turns.delete(client);
        continue;
      }
      turn.begun = 0;
      let count = 0;
      for (; count < waiting.length && this.#fits(turn, waiting[count]!.amount); count++) {
        turn.begun += waiting[count]!.amount;
      }
      for (const { begin } of waiting.splice(0, count)) begun.push(begin);
      this.#schedule();
    }
    // Last, because work may begin further work.
    for (const begin of begun) begin();
  }
}
