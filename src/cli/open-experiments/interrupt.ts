const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;
type InterruptSignal = keyof typeof SIGNALS;

/** Ctrl-C, or a request to end, as an AbortSignal. The second one ends the process at once, as it does by default. */
export class Interrupt {
  readonly #controller = new AbortController();
  #received: InterruptSignal = 'SIGINT';

  constructor() {
    for (const signal of Object.keys(SIGNALS) as InterruptSignal[]) process.once(signal, this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** As shells report it: 128 and the number of the signal. */
  get exitStatus(): number {
    return 128 + SIGNALS[this.#received];
  }

  /** Nothing is under way any more that could be ended cleanly. */
  end(): void {
    for (const signal of Object.keys(SIGNALS)) process.removeListener(signal, this.#abort);
  }

  readonly #abort = (received: NodeJS.Signals): void => {
    this.end();
    this.#received = received as InterruptSignal;
    this.#controller.abort(new Error(received));
  };
}
