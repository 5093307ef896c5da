import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment.js';
import { queueFull } from '../errors.js';
import { ClientShares } from '../http/client-shares.js';

/** An experiment takes seconds; asking more often does not help. */
const RETRY_AFTER_S = 5;

/** How many experiments are under way at once, of one client and of all: each holds memory until it is answered. */
@Injectable()
export class Admission {
  readonly #shares = new ClientShares();

  constructor(private readonly environment: Environment) {}

  /** Experiments under way. */
  get underWay(): number {
    return this.#shares.ofAll;
  }

  /**
   * @returns what ends the experiment; may be called more than once
   * @throws CodedError QUEUE_FULL
   */
  admit(client: string): () => void {
    const { EXPERIMENTS_AT_ONCE, EXPERIMENTS_PER_CLIENT } = this.environment;
    if (this.#shares.ofAll >= EXPERIMENTS_AT_ONCE) {
      throw queueFull(`${EXPERIMENTS_AT_ONCE} experiments are under way`, RETRY_AFTER_S);
    }
    if (this.#shares.of(client) >= EXPERIMENTS_PER_CLIENT) {
      throw queueFull(`${EXPERIMENTS_PER_CLIENT} experiments of this client are under way`, RETRY_AFTER_S);
    }
    return this.#shares.take(client, 1);
  }
}
