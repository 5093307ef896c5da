import { Logger } from '@nestjs/common';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { ANSWER_VERSION } from '../answers/v2/plan.js';
import { MOST_TRIES, RETRY_MS, type ChunkQueue, type ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';

/** All keys of BullMQ begin with it. */
const PREFIX = 'nes:bull';
/** A chunk whose process says nothing of it for so long is done again. */
const LOCK_MS = 10_000;
const STALLED_EVERY_MS = 5_000;
/** A chunk takes a second; that many processes that die over it have died of something else, or of it. */
const MOST_STALLS = 20;
/** The largest that BullMQ takes. */
const LOWEST_PRIORITY = 2 ** 21;
/** How often is looked whether this process has room. */
const LOOK_EVERY_MS = 50;
/** Nobody reads the events of a queue. */
const EVENTS_KEPT = 100;

/** They are there at the same moment, and writing them keeps this thread from everything else. */
const ADDED_AT_ONCE = 100;
/** How often is looked for queues that no process serves any more. */
const SWEEP_EVERY_MS = 600_000;
const SCANNED_AT_ONCE = 1_000;

/**
 * Removes keys of a queue unless it is in use. KEYS: the key that says so, and those to be removed. As one step: a
 * process that begins to use the queue says so before it adds anything.
 */
const SWEEP = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('UNLINK', unpack(KEYS, 2))
`;

interface ChunkOptions {
  /** Of adding chunks. */
  readonly redis: Redis;
  /** Makes the connections of a worker, which waits on one of them. */
  readonly connect: () => Redis;
  /** For how long jobs are kept of which nothing is written. So long, chunks of a queue that nobody serves are, too. */
  readonly keptMs: number;
}

/** Chunks that several processes share: BullMQ, with a queue for each model and version of the answers. */
export class BullChunkQueue implements ChunkQueue {
  readonly #log = new Logger('jobs');
  readonly #queues = new Map<string, Queue<Chunk>>();
  #worker: Worker<Chunk> | undefined;
  #workerModel = '';
  #workerRedis: Redis | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sweepTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly options: ChunkOptions) {}

  async add(chunks: readonly Chunk[]): Promise<void> {
    for (let at = 0; at < chunks.length; at += ADDED_AT_ONCE) {
      await this.#addSome(chunks.slice(at, at + ADDED_AT_ONCE));
    }
  }

  /** All of one model. */
  async #addSome(chunks: readonly Chunk[]): Promise<void> {
    await this.#markUsed(nameOf(chunks[0]!.model));
    await this.#queueOf(chunks[0]!.model).addBulk(
      chunks.map((chunk) => ({
        name: 'chunk',
        data: chunk,
        opts: {
          // A chunk that is there already is not added again.
          jobId: `${chunk.job}-${chunk.phase}-${chunk.from}`,
          priority: Math.min(LOWEST_PRIORITY, 1 + chunk.before + chunk.from),
          attempts: MOST_TRIES,
          backoff: { type: 'exponential', delay: RETRY_MS },
          removeOnComplete: true,
          removeOnFail: true,
          // The stack of a failure is in the log of the process that computed it.
          stackTraceLimit: 0,
        },
      })),
    );
  }

  /** They stay: whoever takes one sees that its job has ended, which costs a millisecond. */
  async remove(): Promise<void> {}

  async waiting(model: string): Promise<number> {
    const queue = this.#queueOf(model);
    const [waiting, prioritized, delayed] = await Promise.all([
      queue.getWaitingCount(),
      queue.getPrioritizedCount(),
      queue.getDelayedCount(),
    ]);
    return waiting + prioritized + delayed;
  }

  start(work: ChunkWork): void {
    this.#timer = setInterval(() => this.#look(work), LOOK_EVERY_MS).unref();
    const sweepEveryMs = Math.min(SWEEP_EVERY_MS, Math.ceil(this.options.keptMs / 3));
    this.#sweepTimer = setInterval(() => void this.#sweep(), sweepEveryMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearInterval(this.#sweepTimer);
    await this.#closeWorker();
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #queueOf(model: string): Queue<Chunk> {
    let queue = this.#queues.get(model);
    if (queue === undefined) {
      queue = new Queue<Chunk>(nameOf(model), {
        connection: this.options.redis,
        prefix: PREFIX,
        streams: { events: { maxLen: EVENTS_KEPT } },
      });
      queue.on('error', (error) => this.#log.debug(`The queue of chunks: ${error.message}`));
      this.#queues.set(model, queue);
    }
    return queue;
  }

  async #markUsed(name: string): Promise<void> {
    await this.options.redis.set(usedKeyOf(name), '', 'PX', this.options.keptMs);
  }

  /**
   * Removes the queues of models and versions that no process serves any more. Their jobs have expired, but BullMQ lets
   * no key of a queue expire.
   */
  async #sweep(): Promise<void> {
    const { redis } = this.options;
    try {
      if (this.#worker !== undefined) await this.#markUsed(this.#worker.name);
      let cursor = '0';
      do {
        const [next, keys] = await redis.scan(cursor, 'MATCH', `${PREFIX}:*`, 'COUNT', SCANNED_AT_ONCE);
        cursor = next;
        const names = new Set(keys.map(queueOf));
        for (const name of names) {
          const some = keys.filter((key) => queueOf(key) === name);
          await redis.eval(SWEEP, 1 + some.length, usedKeyOf(name), ...some);
        }
      } while (cursor !== '0' && !this.#isClosed);
    } catch (error) {
      this.#log.debug(`Old queues could not be removed: ${(error as Error).message}`);
    }
  }

  /** Takes chunks while there is room for them. */
  #look(work: ChunkWork): void {
    const { model } = work;
    if (this.#isClosed) return;
    if (model === undefined) {
      void this.#worker?.pause(true);
      return;
    }
    if (this.#worker === undefined || this.#workerModel !== model) {
      if (this.#worker !== undefined) void this.#closeWorker();
      this.#open(model, work);
      return;
    }
    this.#worker.concurrency = work.atOnce;
    const hasRoom = work.hasRoom();
    if (hasRoom && this.#worker.isPaused()) void this.#worker.resume();
    else if (!hasRoom && !this.#worker.isPaused()) void this.#worker.pause(true);
  }

  #open(model: string, work: ChunkWork): void {
    const redis = (this.#workerRedis = this.options.connect());
    const worker = new Worker<Chunk>(nameOf(model), async ({ data }) => work.compute(data), {
      connection: redis,
      prefix: PREFIX,
      concurrency: work.atOnce,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_EVERY_MS,
      maxStalledCount: MOST_STALLS,
      runRetryDelay: RETRY_MS,
    });
    worker.on('error', (error) => this.#log.debug(`The worker of chunks: ${error.message}`));
    worker.on('failed', (job, error) => {
      if (job === undefined || this.#isClosed) return;
      // BullMQ tries it again, unless it was tried too often or its processes have died too often.
      if (job.attemptsMade < MOST_TRIES && job.finishedOn === undefined) return;
      work.giveUp(job.data, error).catch((refused: unknown) => {
        this.#log.error(`A job could not be given up: ${String(refused)}`);
      });
    });
    this.#worker = worker;
    this.#workerModel = model;
    void this.#sweep();
  }

  async #closeWorker(): Promise<void> {
    const [worker, redis] = [this.#worker, this.#workerRedis];
    this.#worker = undefined;
    // Redis may be away, and then it would be waited for.
    const isThere = redis?.status === 'ready';
    await worker?.close(!isThere);
    redis?.disconnect();
  }
}

/** Expires where no process serves the queue or has added to it for a while. */
function usedKeyOf(name: string): string {
  return `${PREFIX}:${name}:used`;
}

/** Name of the queue that a key is of. */
function queueOf(key: string): string {
  return key.slice(PREFIX.length + 1).split(':', 1)[0]!;
}

/** No other version computes the same. */
function nameOf(model: string): string {
  return `chunks-${model}-${ANSWER_VERSION}`;
}
