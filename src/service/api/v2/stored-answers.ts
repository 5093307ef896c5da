import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { AnswerHead, AnswerRequest } from '../../../experiments/formats/answer.js';
import { queueFull } from '../../../engine/errors.js';
import { type Bounds, ClientShares } from '../../../workers/queue/client-shares.js';
import { withTimeout } from '../../../workers/pool/with-timeout.js';
import { EQUAL_EXPERIMENTS, EQUAL_EXPERIMENTS_PER_CLIENT } from '../../limits/limits.js';
import type { Bytes } from './answer-bytes.js';
import type { PreparedExperiment } from './experiments.service.js';

/** A longer answer is not stored. */
const MAX_ANSWER_BYTES = 2 ** 18;
const MAX_STORED_BYTES = 32 * 2 ** 20;
/** Added to each answer for its key and its entry. */
const ENTRY_BYTES = 1_000;
/** After this time an experiment no longer waits for an equal one, whose client may read slowly. */
const MAX_WAIT_MS = 30_000;
const WAITING: Bounds = { ofClient: EQUAL_EXPERIMENTS_PER_CLIENT, ofAll: EQUAL_EXPERIMENTS };
const RETRY_AFTER_S = 5;

export interface StoredAnswer {
  readonly head: AnswerHead;
  readonly bytes: Buffer;
}

/** An experiment that is being computed. */
export interface PendingAnswer {
  /** Equal experiments wait no longer. */
  end(): void;
  /** Passes the bytes of the answer on, and stores them if the answer is complete and short. */
  storing(head: AnswerHead, bytes: Bytes): Bytes;
}

/**
 * Answers of experiments that have finished. An experiment that a whole class asks for is computed and charged once, and
 * its stored answer costs nothing. An answer is a function of the experiment's id, the order of its names and the request, so no answer is ever
 * out of date.
 */
@Injectable()
export class StoredAnswers {
  readonly #stored = new LRUCache<string, StoredAnswer>({
    maxSize: MAX_STORED_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
  });
  /** Experiments that are being computed; each promise resolves at the end, stored or not. */
  readonly #pending = new Map<string, Promise<void>>();
  readonly #planning = new Map<string, Promise<unknown>>();
  readonly #waiting = new ClientShares();

  /**
   * Plans equal experiments one after another. If a class begins the same experiment at once, only one request has a slot of
   * documents that wait. The others then wait for its answer.
   * @throws CodedError QUEUE_FULL if too many wait
   */
  async inTurn<Plan>(key: string, client: string, plan: () => Promise<Plan>): Promise<Plan> {
    const before = this.#planning.get(key);
    const leave = before && this.#wait(client);
    const planned = before === undefined ? plan() : before.then(leave, leave).then(plan);
    this.#planning.set(key, planned);
    try {
      return await planned;
    } finally {
      if (this.#planning.get(key) === planned) this.#planning.delete(key);
    }
  }

  /** True if an equal experiment is being computed. */
  isPending({ planned, wanted }: PreparedExperiment): boolean {
    return this.#pending.has(keyOf(planned, wanted));
  }

  /**
   * Waits for an equal experiment that is being computed.
   * @returns the stored answer; if there is none, the caller has to compute it and must call `end` in any case
   * @throws CodedError QUEUE_FULL if too many wait
   */
  async findOrBegin(prepared: PreparedExperiment, client: string): Promise<StoredAnswer | PendingAnswer> {
    const key = keyOf(prepared.planned, prepared.wanted);
    const untilMs = performance.now() + MAX_WAIT_MS;
    const leave = this.isPending(prepared) ? this.#wait(client) : undefined;
    for (let pending = this.#pending.get(key); pending !== undefined; pending = this.#pending.get(key)) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) break;
      await withTimeout(leftMs, pending, () => undefined);
    }
    leave?.();
    return this.#stored.get(key) ?? this.#begin(key);
  }

  #wait(client: string): () => void {
    return this.#waiting.admit(client, 1, WAITING, (waiting, whose) =>
      queueFull(`${waiting} experiments${whose} wait for equal ones`, RETRY_AFTER_S),
    );
  }

  /** The stored answer in one of other forms; undefined if there is none. */
  findForm({ planned }: PreparedExperiment, forms: readonly AnswerRequest[]): StoredAnswer | undefined {
    for (const form of forms) {
      const stored = this.#stored.get(keyOf(planned, form));
      if (stored !== undefined) return stored;
    }
    return undefined;
  }

  #begin(key: string): PendingAnswer {
    let resolve = (): void => undefined;
    const pending = new Promise<void>((done) => (resolve = done));
    if (!this.#pending.has(key)) this.#pending.set(key, pending);
    const end = () => {
      if (this.#pending.get(key) === pending) this.#pending.delete(key);
      resolve();
    };
    return { end, storing: (head, bytes) => this.#storing(key, head, bytes, end) };
  }

  async *#storing(key: string, head: AnswerHead, bytes: Bytes, end: () => void): Bytes {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of bytes) {
      length += piece.length;
      if (length <= MAX_ANSWER_BYTES) pieces.push(piece);
      else end();
      yield piece;
    }
    if (length <= MAX_ANSWER_BYTES) this.#stored.set(key, { head, bytes: Buffer.concat(pieces) });
    end();
  }
}

function keyOf({ id, order }: PreparedExperiment['planned'], wanted: AnswerRequest): string {
  return `${id} ${order} ${JSON.stringify(wanted)}`;
}
