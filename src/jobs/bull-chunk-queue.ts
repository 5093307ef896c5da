import { Logger } from '@nestjs/common';
import { Queue, Worker, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { ANSWER_VERSION } from '../experiments/plan/experiment-head.js';
import { OUTCOME_VERSION } from '../experiments/run/outcomes.js';
import { getOrInsert } from '../get-or-insert.js';
import { luaScript } from '../lua-script.js';
import { MAX_TRIES, RETRY_MS, type ChunkQueue, type ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';

/** All keys of BullMQ begin with it. */
const PREFIX = 'nes:bull';
/** A chunk whose process says nothing of it for so long is done again. */
const LOCK_MS = 10_000;
const STALLED_EVERY_MS = 5_000;
/** A chunk takes half a second; that many processes that die over it have died of something else, or of it. */
const MAX_STALLS = 20;
/** The largest that BullMQ takes. */
const LOWEST_PRIORITY = 2 ** 21;
/** How often is looked whether this process has room. */
const LOOK_EVERY_MS = 50;
/** Events of a queue that BullMQ keeps; no code reads them. */
const EVENTS_KEPT = 100;

/** They are there at the same moment, and writing them keeps this thread from everything else. */
const ADDED_AT_ONCE = 100;
/** How often is looked for queues that no process serves any more. */
const SWEEP_EVERY_MS = 600_000;
const SCANNED_AT_ONCE = 1_000;

const REMOVE_UNUSED_QUEUE = luaScript(new URL('./lua/remove-unused-queue.lua', import.meta.url));

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

  /**
   * @param redis connection for adding chunks
   * @param connect makes the connections of a worker, which waits on one of them
   * @param keptMs how long jobs are kept of which nothing is written, and so chunks of a queue that nobody serves
   */
  constructor(
    private readonly redis: Redis,
    private readonly connect: () => Redis,
    private readonly keptMs: number,
  ) {}

  async add(chunks: readonly Chunk[]): Promise<void> {
    for (let at = 0; at < chunks.length; at += ADDED_AT_ONCE) {
      const some = chunks.slice(at, at + ADDED_AT_ONCE);
      const { model } = some[0]!;
      await this.#markUsed(nameOf(model));
      await this.#queueOf(model).addBulk(
        some.map((chunk) => ({ name: 'chunk', data: chunk, opts: optionsOf(chunk) })),
      );
    }
  }

  remove(job: string, model: string): void {
    this.#removeChunks(job, model).catch((error: unknown) => {
      // A worker that takes one of them sees that its job has ended.
      this.#log.debug(`The chunks of a job could not be removed: ${String(error)}`);
    });
  }

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
    const sweepEveryMs = Math.min(SWEEP_EVERY_MS, Math.ceil(this.keptMs / 3));
    this.#sweepTimer = setInterval(() => void this.#sweep(), sweepEveryMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearInterval(this.#sweepTimer);
    await this.#closeWorker();
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  async #removeChunks(job: string, model: string): Promise<void> {
    const queue = this.#queueOf(model);
    const prefix = `${PREFIX}:${nameOf(model)}:`;
    for await (const keys of this.#scan(`${prefix}${job}-*`)) {
      const ids = keys.map((key) => key.slice(prefix.length)).filter((id) => !id.includes(':'));
      await Promise.all(ids.map((id) => queue.remove(id)));
    }
  }

  #queueOf(model: string): Queue<Chunk> {
    return getOrInsert(this.#queues, model, () => {
      const queue = new Queue<Chunk>(nameOf(model), {
        connection: this.redis,
        prefix: PREFIX,
        streams: { events: { maxLen: EVENTS_KEPT } },
      });
      return queue.on('error', (error) => this.#log.debug(`The queue of chunks: ${error.message}`));
    });
  }

  async #markUsed(name: string): Promise<void> {
    await this.redis.set(usedKeyOf(name), '', 'PX', this.keptMs);
  }

  /**
   * Removes the queues of models and versions that no process serves any more. Their jobs have expired, but BullMQ lets
   * no key of a queue expire.
   */
  async #sweep(): Promise<void> {
    try {
      if (this.#worker !== undefined) await this.#markUsed(this.#worker.name);
      for await (const keys of this.#scan(`${PREFIX}:*`)) {
        for (const name of new Set(keys.map(queueOf))) {
          const some = keys.filter((key) => queueOf(key) === name);
          await this.redis.eval(REMOVE_UNUSED_QUEUE, 1 + some.length, usedKeyOf(name), ...some);
        }
      }
    } catch (error) {
      this.#log.debug(`Old queues could not be removed: ${(error as Error).message}`);
    }
  }

  /** Keys that match, until this queue is closed. */
  async *#scan(pattern: string): AsyncGenerator<readonly string[], void, void> {
    let cursor = '0';
    do {
      const [next, keys] = await this.redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCANNED_AT_ONCE);
      cursor = next;
      yield keys;
    } while (cursor !== '0' && !this.#isClosed);
  }

  /** Takes chunks while there is room for them. */
  #look(work: ChunkWork): void {
    const { model } = work;
    if (this.#isClosed) return;
    if (model === undefined) {
      void this.#worker?.pause(true);
      return;
    }
    const hasRoom = work.hasRoom();
    if (this.#worker === undefined || this.#workerModel !== model) {
      // A new one takes chunks at once.
      if (!hasRoom) return;
      if (this.#worker !== undefined) void this.#closeWorker();
      this.#open(model, work);
      return;
    }
    this.#worker.concurrency = work.atOnce;
    if (hasRoom && this.#worker.isPaused()) void this.#worker.resume();
    else if (!hasRoom && !this.#worker.isPaused()) void this.#worker.pause(true);
  }

  #open(model: string, work: ChunkWork): void {
    const redis = (this.#workerRedis = this.connect());
    const worker = new Worker<Chunk>(nameOf(model), async ({ data }) => work.compute(data), {
      connection: redis,
      prefix: PREFIX,
      concurrency: work.atOnce,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_EVERY_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RETRY_MS,
    });
    worker.on('error', (error) => this.#log.debug(`The worker of chunks: ${error.message}`));
    worker.on('failed', (job, error) => {
      if (job === undefined || this.#isClosed) return;
      // BullMQ tries it again, unless it was tried too often or its processes have died too often.
      if (job.attemptsMade < MAX_TRIES && job.finishedOn === undefined) return;
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

function optionsOf({ job, phase, from, before }: Chunk): JobsOptions {
  return {
    // A chunk that is there already is not added again.
    jobId: `${job}-${phase}-${from}`,
    priority: Math.min(LOWEST_PRIORITY, 1 + before + from),
    attempts: MAX_TRIES,
    backoff: { type: 'exponential', delay: RETRY_MS },
    removeOnComplete: true,
    removeOnFail: true,
    // The stack of a failure is in the log of the process that computed it.
    stackTraceLimit: 0,
  };
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
  return `chunks-${model}-${ANSWER_VERSION}.${OUTCOME_VERSION}`;
}
