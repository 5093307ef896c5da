import { Logger } from '@nestjs/common';
import { Queue, WaitingError, Worker, type Job as BullJob, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { CodedError } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { luaScript } from '../redis/lua-script.js';
import { CHUNK_RETRY_MS, MAX_DEATHS_OF_CHUNK, MAX_TRIES_OF_CHUNK } from '../../workers/pool/retries.js';
import type { ChunkQueue, ChunkWork } from './chunk-queue.js';
import { tooManyDeaths } from './job-admission.js';
import { JOB_VERSION, type Chunk } from './job.js';

/** Prefix of all keys of BullMQ. */
const PREFIX = 'nes:bull';
/** A chunk is computed again if its process has not renewed the lock for this long. */
const LOCK_MS = 10_000;
const STALLED_EVERY_MS = 5_000;
/** The largest priority number of BullMQ; larger numbers are served later, equal ones in the order of adding. */
const LOWEST_PRIORITY = 2 ** 21;
/** Difference between the priorities of a job's chunks. It leaves room for a chunk of a new job between two of an old one. */
const PRIORITY_STEP = 2;
/** BullMQ adds a counter to the priority times this, which is the score of a waiting chunk. */
const BULL_SCORE_OF_PRIORITY = 2 ** 32;
/** Interval at which this process checks whether its workers have room. */
const LOOK_EVERY_MS = 50;
/** Events of a queue that BullMQ stores; no code reads them. */
const EVENTS_KEPT = 100;
/**
 * Keeps BullMQ from asking Redis for its version. If INFO is denied or late once, its queues fail for ever, and its
 * worker blocks this thread.
 */
const ASKS_NO_VERSION = { skipVersionCheck: true };

/** Chunks of a phase are added together. Adding more than this at once would block this thread for too long. */
const ADDED_AT_ONCE = 100;
/** Interval of searches for queues that no process serves any more. */
const SWEEP_EVERY_MS = 600_000;
const SCANNED_AT_ONCE = 1_000;

/** Id of a chunk, as optionsOf() makes it; its first group is the id of the job. */
const CHUNK_ID = /^(.+)-(?:\d+|rest)-\d+$/;

const REMOVE_UNUSED_QUEUE = luaScript(new URL('./lua/remove-unused-queue.lua', import.meta.url));

/**
 * A queue of chunks that several processes share. It uses BullMQ, with one queue for each model and version of
 * answers.
 */
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
   * @param redis connection that adds chunks
   * @param connect creates connections for a worker, which blocks one of them
   * @param storedForMs time after which unchanged jobs expire; queues that no process serves expire after it too
   */
  constructor(
    private readonly redis: Redis,
    private readonly connect: () => Redis,
    private readonly storedForMs: number,
  ) {}

  async add(chunks: readonly Chunk[]): Promise<void> {
    if (chunks.length === 0) return;
    const { model } = chunks[0]!;
    const first = 1 + (await this.#nextPriority(model));
    for (let at = 0; at < chunks.length; at += ADDED_AT_ONCE) {
      const some = chunks.slice(at, at + ADDED_AT_ONCE);
      await this.#markUsed(nameOf(model));
      await this.#queueOf(model).addBulk(
        some.map((chunk, ahead) => ({
          name: 'chunk',
          data: chunk,
          opts: optionsOf(chunk, first + PRIORITY_STEP * (at + ahead)),
        })),
      );
    }
  }

  remove(job: string, model: string): void {
    this.#removeChunks(job, model).catch((error: unknown) => {
      // A worker that takes one of these chunks notices that its job has ended.
      this.#log.debug(`The chunks of a job could not be removed: ${withoutIds(error)}`);
    });
  }

  waiting(model: string): Promise<number> {
    return this.#queueOf(model).count();
  }

  /**
   * @returns ids of the jobs that have chunks here, waiting or under way
   * @throws Error if the queue is closed meanwhile, since some would be missing
   */
  async jobs(model: string): Promise<ReadonlySet<string>> {
    const prefix = `${PREFIX}:${nameOf(model)}:`;
    const jobs = new Set<string>();
    for await (const keys of this.#scan(`${prefix}*`)) {
      for (const key of keys) {
        const job = CHUNK_ID.exec(key.slice(prefix.length))?.[1];
        if (job !== undefined) jobs.add(job);
      }
    }
    if (this.#isClosed) throw new Error('The queue of chunks is closed.');
    return jobs;
  }

  start(work: ChunkWork): void {
    this.#timer = setInterval(() => this.#look(work), LOOK_EVERY_MS).unref();
    const sweepEveryMs = Math.min(SWEEP_EVERY_MS, Math.ceil(this.storedForMs / 3));
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

  /**
   * The priority of the next chunk; 0 if none waits. Added chunks come after it, so new jobs cannot overtake an old one
   * for ever.
   */
  async #nextPriority(model: string): Promise<number> {
    const key = `${PREFIX}:${nameOf(model)}:prioritized`;
    const [, score] = await this.redis.zrange(key, 0, '0', 'WITHSCORES');
    return Math.floor(Number(score ?? 0) / BULL_SCORE_OF_PRIORITY);
  }

  #queueOf(model: string): Queue<Chunk> {
    return getOrInsert(this.#queues, model, () => {
      const queue = new Queue<Chunk>(nameOf(model), {
        ...ASKS_NO_VERSION,
        connection: this.redis,
        prefix: PREFIX,
        streams: { events: { maxLen: EVENTS_KEPT } },
      });
      return queue.on('error', (error) => this.#log.debug(`The queue of chunks: ${withoutIds(error)}`));
    });
  }

  async #markUsed(name: string): Promise<void> {
    await this.redis.set(usedKeyOf(name), '', 'PX', this.storedForMs);
  }

  /**
   * Removes queues of models and versions that no process serves any more. Their jobs have expired, but BullMQ lets
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
      this.#log.debug(`Old queues could not be removed: ${withoutIds(error)}`);
    }
  }

  /** Yields matching keys until this queue is closed. */
  async *#scan(pattern: string): AsyncGenerator<readonly string[], void, void> {
    let cursor = '0';
    do {
      const [next, keys] = await this.redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCANNED_AT_ONCE);
      cursor = next;
      yield keys;
    } while (cursor !== '0' && !this.#isClosed);
  }

  /** Takes chunks while the workers have room. */
  #look(work: ChunkWork): void {
    const { model } = work;
    if (this.#isClosed) return;
    if (model === undefined) {
      void this.#worker?.pause(true);
      return;
    }
    const hasRoom = work.hasRoom();
    if (this.#worker === undefined || this.#workerModel !== model) {
      // A new worker would take chunks at once.
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
    const compute = async (job: BullJob<Chunk>, token?: string) => {
      try {
        await work.compute(job.data);
      } catch (error) {
        if (!(error instanceof CodedError && error.code === 'DRAINING')) throw error;
        // The end of a process is no fault of the chunk, so it counts as no try.
        await job.moveToWait(token);
        throw new WaitingError();
      }
    };
    const worker = new Worker<Chunk>(nameOf(model), compute, {
      ...ASKS_NO_VERSION,
      connection: redis,
      prefix: PREFIX,
      concurrency: work.atOnce,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_EVERY_MS,
      maxStalledCount: MAX_DEATHS_OF_CHUNK,
      runRetryDelay: CHUNK_RETRY_MS,
    });
    worker.on('error', (error) => this.#log.debug(`The worker of chunks: ${withoutIds(error)}`));
    worker.on('failed', (job, error) => {
      if (job === undefined || this.#isClosed) return;
      // BullMQ retries the chunk, unless there were too many tries or too many of its processes died.
      if (job.attemptsMade < MAX_TRIES_OF_CHUNK && job.finishedOn === undefined) return;
      const reason = job.deferredFailure === undefined ? error : tooManyDeaths(job.stalledCounter);
      work.giveUp(job.data, reason).catch((refused: unknown) => {
        this.#log.error(`A job could not be given up: ${withoutIds(refused)}`);
      });
    });
    this.#worker = worker;
    this.#workerModel = model;
    void this.#sweep();
  }

  async #closeWorker(): Promise<void> {
    const [worker, redis] = [this.#worker, this.#workerRedis];
    this.#worker = undefined;
    // Without Redis, a clean close would wait for it.
    const isThere = redis?.status === 'ready';
    await worker?.close(!isThere);
    redis?.disconnect();
  }
}

function optionsOf({ job, phase, from, to }: Chunk, priority: number): JobsOptions {
  // A chunk without conditions adds the first chunk of its phase, so it has another id.
  const part = from === to ? 'rest' : phase;
  return {
    // Makes adding idempotent: BullMQ ignores an id that it has.
    jobId: `${job}-${part}-${from}`,
    // Numbers start anew when the queue is empty. Until then, chunks beyond the largest one are served in order.
    priority: Math.min(LOWEST_PRIORITY, priority),
    attempts: MAX_TRIES_OF_CHUNK,
    backoff: { type: 'exponential', delay: CHUNK_RETRY_MS },
    removeOnComplete: true,
    removeOnFail: true,
    // The process that failed logs the stack.
    stackTraceLimit: 0,
  };
}

/** The key expires if no process has served the queue or added to it for a while. */
function usedKeyOf(name: string): string {
  return `${PREFIX}:${name}:used`;
}

/** Name of the queue that owns a key. */
function queueOf(key: string): string {
  return key.slice(PREFIX.length + 1).split(':', 1)[0]!;
}

/** BullMQ's messages name chunks. A chunk's id begins with that of its job, which is secret. */
function withoutIds(error: unknown): string {
  return String(error).replaceAll(/[\w-]{24}-(?:\d+|rest)-\d+/g, '*');
}

/** Each version has its own queue. */
function nameOf(model: string): string {
  return `chunks-${model}-${JOB_VERSION}`;
}
