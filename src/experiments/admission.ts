import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment.js';
import { CodedError } from '../errors.js';

/** An experiment takes seconds; asking more often does not help. */
const RETRY_AFTER_S = 5;

/** How many experiments are under way at once, of one client and of all: each holds memory until it is answered. */
@Injectable()
export class Admission {
  readonly #ofClients = new Map<string, number>();
  #all = 0;

  constructor(private readonly environment: Environment) {}

  /** Experiments under way. */
  get underWay(): number {
    return this.#all;
  }

  /**
   * @returns what ends the experiment; may be called more than once
   * @throws CodedError QUEUE_FULL
   */
  admit(client: string): () => void {
    const { EXPERIMENTS_AT_ONCE, EXPERIMENTS_PER_CLIENT } = this.environment;
    const own = this.#ofClients.get(client) ?? 0;
    if (this.#all >= EXPERIMENTS_AT_ONCE) {
      throw queueFull(`${EXPERIMENTS_AT_ONCE} experiments are under way`, RETRY_AFTER_S);
    }
    if (own >= EXPERIMENTS_PER_CLIENT) {
      throw queueFull(`${EXPERIMENTS_PER_CLIENT} experiments of this client are under way`, RETRY_AFTER_S);
    }
    this.#all++;
    this.#ofClients.set(client, own + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all--;
      const left = this.#ofClients.get(client)! - 1;
      if (left > 0) this.#ofClients.set(client, left);
      else this.#ofClients.delete(client);
    };
  }
}

export function queueFull(what: string, retryAfterS: number): CodedError {
  return new CodedError('QUEUE_FULL', `The queue is full: ${what}; try again shortly.`, { retryAfterS });
}
