import { setTimeout as sleep } from 'node:timers/promises';
import { MOST_TRIES, RETRY_MS, type ChunkQueue, type ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';

/** How often is looked for room while chunks wait. */
const LOOK_EVERY_MS = 20;

/** The chunks of one job. */
interface JobChunks {
  /** By phase and place, so that none waits twice. */
  readonly waiting: Map<string, Chunk>;
  begun: number;
  computing: number;
}

/** The chunks of this process. */
export class MemoryChunkQueue implements ChunkQueue {
  readonly #jobs = new Map<string, JobChunks>();
  readonly #computing = new Set<Promise<void>>();
  #work: ChunkWork | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  async add(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) {
      let job = this.#jobs.get(chunk.job);
      if (job === undefined)
        this.#jobs.set(chunk.job, (job = { waiting: new Map(), begun: 0, computing: 0 }));
      job.waiting.set(`${chunk.phase} ${chunk.from}`, chunk);
    }
    this.#hand();
  }

  async remove(job: string): Promise<void> {
    this.#jobs.delete(job);
  }

  async waiting(): Promise<number> {
    return [...this.#jobs.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
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
      const job = this.#next();
      if (job === undefined) return;
      job.begun++;
      job.computing++;
      const [name, chunk] = job.waiting.entries().next().value!;
      job.waiting.delete(name);
      const computing = this.#compute(this.#work, chunk).finally(() => {
        this.#computing.delete(computing);
        job.computing--;
        // What follows a chunk was added while it was being computed.
        if (job.computing === 0 && job.waiting.size === 0) this.#jobs.delete(chunk.job);
        this.#hand();
      });
      this.#computing.add(computing);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#hand(), LOOK_EVERY_MS).unref();
  }

  #next(): JobChunks | undefined {
    let next: JobChunks | undefined;
    for (const job of this.#jobs.values()) {
      if (job.waiting.size > 0 && (next === undefined || job.begun < next.begun)) next = job;
    }
    return next;
  }

  /** Never rejects. */
  async #compute(work: ChunkWork, chunk: Chunk): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await work.compute(chunk);
      } catch (error) {
        if (this.#isClosed) return;
        if (tries === MOST_TRIES) return work.giveUp(chunk, error);
        await sleep(RETRY_MS * tries, undefined, { ref: false });
      }
    }
  }
}
