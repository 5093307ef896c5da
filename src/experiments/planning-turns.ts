import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Environment } from '../config/environment.js';
import { CodedError, queueFull } from '../errors.js';
import { clientOf } from '../http/client-address.js';
import { whenGone } from '../http/client-gone.js';
import type { InParts } from '../parts.js';
import { othersServed, withPauses } from '../pauses.js';
import { RoundRobin } from '../pool/round-robin.js';

/** Documents that may wait for each experiment that may be under way: planned in a moment, but each takes memory. */
const WAITING_FOR_EACH = 8;
const RETRY_AFTER_S = 1;

/**
 * Checks and plans documents on the main thread, one after another, one of each client in turn. Everything else that
 * has arrived is served between two documents, and within one that takes long.
 */
@Injectable()
export class PlanningTurns {
  readonly #waiting = new RoundRobin<() => Promise<void>>();
  #isPlanning = false;

  constructor(private readonly environment: Environment) {}

  /**
   * @param planning is begun when it is its turn
   * @throws CodedError QUEUE_FULL, RUN_CANCELLED, and what planning throws
   */
  async take<T>(request: FastifyRequest, planning: InParts<T>): Promise<T> {
    const client = clientOf(request);
    this.#checkRoom(client);
    return new Promise((resolve, reject) => {
      const turn = () => {
        stopListening();
        return withPauses(planning).then(resolve, reject);
      };
      this.#waiting.add(client, turn);
      const stopListening = whenGone(request, () => {
        this.#waiting.delete(client, turn);
        reject(new CodedError('RUN_CANCELLED', 'The client has gone.'));
      });
      if (!this.#isPlanning) void this.#plan();
    });
  }

  async #plan(): Promise<void> {
    this.#isPlanning = true;
    while (this.#waiting.size > 0) {
      await othersServed();
      await this.#waiting.take()?.();
    }
    this.#isPlanning = false;
  }

  /** @throws CodedError QUEUE_FULL */
  #checkRoom(client: string): void {
    const { EXPERIMENTS_AT_ONCE, EXPERIMENTS_PER_CLIENT } = this.environment;
    const ofAll = EXPERIMENTS_AT_ONCE * WAITING_FOR_EACH;
    const ofClient = EXPERIMENTS_PER_CLIENT * WAITING_FOR_EACH;
    if (this.#waiting.size >= ofAll) throw queueFull(`${ofAll} documents wait to be planned`, RETRY_AFTER_S);
    if (this.#waiting.sizeOf(client) >= ofClient) {
      throw queueFull(`${ofClient} documents of this client wait to be planned`, RETRY_AFTER_S);
    }
  }
}
