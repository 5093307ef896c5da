import { RoundRobin } from '../round-robin.js';

export interface LineTrial {
  readonly owner: string;
  /** Whether a worker is next: it has been to the GPU, simulated or not, or its worker has ended. */
  readonly isPrepared: boolean;
}

/**
 * Trials of one urgency that have no worker: those that wait, those that the GPU is simulating, and those that are back
 * from it, which are the next for the workers.
 */
export class TrialLine<T extends LineTrial> {
  readonly #waiting = new RoundRobin<T>();
  readonly #simulating = new Set<T>();
  readonly #prepared = new RoundRobin<T>();

  /** @param comesFirst whether every trial goes to the GPU before a worker gets it */
  constructor(private readonly comesFirst: () => boolean) {}

  get size(): number {
    return this.#waiting.size + this.#simulating.size + this.#prepared.size;
  }

  /** Trials that are next for the workers. */
  get prepared(): number {
    return this.#prepared.size;
  }

  add(trial: T): void {
    this.#waiting.add(trial.owner, trial);
  }

  /** A trial that a worker has had comes before all that its owner has waiting. */
  putBack(trial: T): void {
    (trial.isPrepared ? this.#prepared : this.#waiting).putBack(trial.owner, trial);
  }

  delete(trial: T): void {
    this.#waiting.delete(trial.owner, trial);
    this.#simulating.delete(trial);
    this.#prepared.delete(trial.owner, trial);
  }

  /** The next trial for a worker. */
  peek(): T | undefined {
    return this.#next.peek();
  }

  take(): T | undefined {
    return this.#next.take();
  }

  /** Trials that the GPU may take, in the order in which workers would. */
  candidates(count: number): T[] {
    const found: T[] = [];
    for (const trial of this.#waiting.inOrder()) {
      if (found.length === count) break;
      found.push(trial);
    }
    return found;
  }

  begin(trial: T): void {
    if (this.#waiting.delete(trial.owner, trial)) this.#simulating.add(trial);
  }

  /** @returns false for a trial that was deleted meanwhile */
  end(trial: T): boolean {
    if (!this.#simulating.delete(trial)) return false;
    this.#prepared.add(trial.owner, trial);
    return true;
  }

  get #next(): RoundRobin<T> {
    return this.#prepared.size > 0 || this.comesFirst() ? this.#prepared : this.#waiting;
  }
}
