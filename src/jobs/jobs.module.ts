import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Environment } from '../config/environment.js';
import { Degradations } from '../health/degradations.js';
import { ModelHealth } from '../health/model-health.js';
import { BullChunkQueue } from './bull-chunk-queue.js';
import type { ChunkQueue } from './chunk-queue.js';
import { ChunkWorker } from './chunk-worker.js';
import type { JobLimits } from './job-store.js';
import { FULL, JobsRedis } from './jobs-redis.js';
import { JobsService } from './jobs.service.js';
import { MemoryChunkQueue } from './memory-chunk-queue.js';
import { MemoryJobStore } from './memory-job-store.js';
import { RedisJobStore } from './redis-job-store.js';

const MS_PER_SECOND = 1000;

/** What jobs consist of. */
abstract class JobParts {
  abstract readonly service: JobsService;
  abstract readonly worker: ChunkWorker;
  abstract readonly queue: ChunkQueue;
  abstract close(): Promise<void>;
}

/** In the memory of this process. */
class LocalJobs extends JobParts {
  readonly queue = new MemoryChunkQueue();
  readonly worker: ChunkWorker;
  readonly service: JobsService;

  constructor(environment: Environment, health: ModelHealth) {
    super();
    const store = new MemoryJobStore({
      ...limitsOf(environment),
      keptBytes: environment.JOBS_KEPT_BYTES,
    });
    this.worker = new ChunkWorker(health, store, this.queue);
    this.service = new JobsService(store, this.queue, this.worker);
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}

/** In a Redis that all replicas share. */
class SharedJobs extends JobParts {
  readonly queue: BullChunkQueue;
  readonly worker: ChunkWorker;
  readonly service: JobsService;
  readonly #redis: JobsRedis;
  readonly #added: BullChunkQueue;

  constructor(environment: Environment, health: ModelHealth, degradations: Degradations) {
    super();
    const limits = limitsOf(environment);
    const redis = (this.#redis = new JobsRedis({
      url: environment.REDIS_JOBS_URL,
      onAway: (why) =>
        degradations.begin({
          part: 'jobs',
          reason:
            why === FULL
              ? `The Redis of jobs is full (${why}); no job can begin, and those that have begun wait.`
              : `The Redis of jobs is unavailable (${why}); jobs wait.`,
        }),
      onBack: () => degradations.end('jobs'),
    }));
    const connect = () => redis.connect();
    const { keptMs } = limits;
    this.queue = new BullChunkQueue({ redis: redis.patient, connect, keptMs });
    this.worker = new ChunkWorker(health, new RedisJobStore(redis.patient, limits), this.queue);
    this.#added = new BullChunkQueue({ redis: redis.prompt, connect, keptMs });
    const store = new RedisJobStore(redis.prompt, limits);
    this.service = new JobsService(store, this.#added, this.worker, redis.reach);
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.#redis.close();
    await this.#added.close();
  }
}

function limitsOf(environment: Environment): JobLimits {
  return {
    perClient: environment.JOBS_PER_CLIENT,
    atOnce: environment.JOBS_AT_ONCE,
    brainMsPerClient: environment.JOB_BRAIN_SECONDS_PER_CLIENT * MS_PER_SECOND,
    resultBytes: environment.JOB_RESULT_BYTES,
    kept: environment.JOBS_KEPT,
    keptMs: environment.JOBS_KEPT_S * MS_PER_SECOND,
  };
}

/** Jobs: experiments that nobody waits for. */
@Module({
  providers: [
    {
      provide: JobParts,
      inject: [Environment, ModelHealth, Degradations],
      useFactory: (environment: Environment, health: ModelHealth, degradations: Degradations): JobParts =>
        environment.REDIS_JOBS_URL === ''
          ? new LocalJobs(environment, health)
          : new SharedJobs(environment, health, degradations),
    },
    { provide: JobsService, inject: [JobParts], useFactory: ({ service }: JobParts) => service },
    { provide: ChunkWorker, inject: [JobParts], useFactory: ({ worker }: JobParts) => worker },
  ],
  exports: [JobsService, ChunkWorker],
})
export class JobsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly parts: JobParts) {}

  onApplicationBootstrap(): void {
    this.parts.queue.start(this.parts.worker);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.parts.close();
  }
}
