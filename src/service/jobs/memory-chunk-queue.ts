import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { failureOf } from '../../engine/errors.js';
import { Charges, FairQueue } from '../../workers/queue/fair-queue.js';
import { CHUNK_RETRY_MS, MAX_TRIES_OF_CHUNK } from '../../workers/pool/retries.js';
import type { ChunkQueue, ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';

/** Interval of checks for free workers while chunks wait. */
const LOOK_EVERY_MS = 20;

/** A queue of chunks within this process. */
export class MemoryChunkQueue implements ChunkQueue {
  readonly #log = new Logger('jobs');
  /** Waiting chunks by job, phase and position, so that no chunk waits twice. */
  readonly #waiting = new Map<string, Chunk>();
  /** Number of chunks of each job that have begun. */
  readonly #begun = new Charges();
  readonly #order = new FairQueue<string>(this.#begun);
  readonly #computing = new Set<Promise<void>>();
  #work: ChunkWork | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param retryMs pause before the second try of a chunk; later pauses are longer */
  constructor(private readonly retryMs = CHUNK_RETRY_MS) {}

  async add(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) {
      const name = `${chunk.job} ${chunk.phase} ${chunk.from}`;
      if (!this.#waiting.has(name)) this.#order.add(chunk.job, name);
      this.#waiting.set(name, chunk);
    }
    this.#hand();
  }

  remove(job: string): void {
    for (const [name, chunk] of this.#waiting) {
      if (chunk.job !== job) continue;
      this.#waiting.delete(name);
      this.#order.delete(job, name);
    }
  }

  async waiting(model: string): Promise<number> {
    return [...this.#waiting.values()].filter((chunk) => chunk.model === model).length;
  }

  start(work: ChunkWork): void {
    this.#work = work;
    this.#hand();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#computing);
  }

  #hand(): void {
    if (this.#isClosed || this.#work === undefined) return;
    while (this.#computing.size < this.#work.atOnce && this.#work.hasRoom()) {
      const name = this.#order.take();
      if (name === undefined) return;
      const chunk = this.#waiting.get(name)!;
      this.#waiting.delete(name);
      this.#begun.charge(chunk.job, 1);
      const computing = this.#compute(this.#work, chunk).finally(() => {
        this.#computing.delete(computing);
        this.#hand();
      });
      this.#computing.add(computing);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#hand(), LOOK_EVERY_MS).unref();
  }

  /** Never rejects. */
  async #compute(work: ChunkWork, chunk: Chunk): Promise<void> {
    // If another model was loaded, the job waits for its own one, which resumes it.
    const isOfOther = () => work.model !== undefined && work.model !== chunk.model;
    for (let tries = 1; !isOfOther(); tries++) {
      try {
        return await work.compute(chunk);
      } catch (error) {
        const isLast = tries === MAX_TRIES_OF_CHUNK;
        if (!this.#isClosed && !isLast) await pause(this.retryMs * tries);
        // Without a model every try would fail. A service that drains has none either, and its next start adopts the job.
        while (!this.#isClosed && work.model === undefined) await pause(this.retryMs);
        if (this.#isClosed || isOfOther()) return;
        if (!isLast) continue;
        return work.giveUp(chunk, error).catch((refused: unknown) => {
          // The service drains and its store is away: its next start adopts the job.
          this.#log.error(`A job could not be given up: ${failureOf(refused).message}`);
        });
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
