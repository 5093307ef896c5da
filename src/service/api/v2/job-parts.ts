import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { Environment } from '../../config/environment.js';
import { Degradations } from '../../health/degradations.js';
import { ModelHealth } from '../../health/model-health.js';
import { Limits } from '../../limits/limits.js';
import { BullChunkQueue } from '../../../jobs/bull-chunk-queue.js';
import type { ChunkQueue } from '../../../jobs/chunk-queue.js';
import { ChunkWorker } from '../../../jobs/chunk-worker.js';
import type { JobLimits } from '../../../jobs/job-store.js';
import { FULL, JobsRedis } from '../../../jobs/jobs-redis.js';
import { JobsService } from '../../../jobs/jobs-service.js';
import { MemoryChunkQueue } from '../../../jobs/memory-chunk-queue.js';
import { MemoryJobStore } from '../../../jobs/memory-job-store.js';
import { RedisJobStore } from '../../../jobs/redis-job-store.js';

const MS_PER_SECOND = 1000;

interface Parts {
  readonly service: JobsService;
  readonly worker: ChunkWorker;
  readonly queue: ChunkQueue;
  readonly close: () => Promise<void>;
}

/** The jobs that this process knows: in its memory, or in a Redis that all replicas share. */
@Injectable()
export class JobParts implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly parts: Parts;

  constructor(
    private readonly environment: Environment,
    limits: Limits,
    health: ModelHealth,
    degradations: Degradations,
  ) {
    const jobLimits = {
      perClient: limits.jobsPerClient,
      atOnce: environment.JOBS_AT_ONCE,
      brainMsPerClient: environment.JOB_BRAIN_SECONDS_PER_CLIENT * MS_PER_SECOND,
      resultBytes: limits.jobResultBytes,
      kept: limits.jobsKept,
      keptMs: environment.JOBS_KEPT_S * MS_PER_SECOND,
    };
    this.parts =
      environment.REDIS_JOBS_URL === ''
        ? localJobs(environment, jobLimits, health)
        : sharedJobs(environment, jobLimits, health, degradations);
  }

  onApplicationBootstrap(): void {
    const { REDIS_URL, REDIS_JOBS_URL } = this.environment;
    if (REDIS_URL !== '' && REDIS_JOBS_URL === '') {
      new Logger('jobs').warn(
        'REDIS_URL is set and REDIS_JOBS_URL is not: jobs are in the memory of this process, and other replicas answer ' +
          '404 for them. Set REDIS_JOBS_URL to a Redis that evicts nothing, or send all requests for a job to one replica.',
      );
    }
    this.parts.queue.start(this.parts.worker);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.parts.close();
  }
}

function localJobs(environment: Environment, limits: JobLimits, health: ModelHealth): Parts {
  const queue = new MemoryChunkQueue();
  const store = new MemoryJobStore({ ...limits, keptBytes: environment.JOBS_KEPT_BYTES });
  const worker = new ChunkWorker(health, store, queue);
  return { service: new JobsService(store, queue, worker), worker, queue, close: () => queue.close() };
}

function sharedJobs(
  environment: Environment,
  limits: JobLimits,
  health: ModelHealth,
  degradations: Degradations,
): Parts {
  const redis = new JobsRedis(environment.REDIS_JOBS_URL, {
    onAway: (why) => {
      const reason =
        why === FULL
          ? `The Redis of jobs is full (${why}); no job can begin, and those that have begun wait.`
          : `The Redis of jobs is unavailable (${why}); jobs wait.`;
      degradations.begin({ part: 'jobs', reason });
    },
    onBack: () => degradations.end('jobs'),
  });
  const queueOn = (connection: Redis) => new BullChunkQueue(connection, () => redis.connect(), limits.keptMs);
  // Computing waits until Redis is back; requests do not.
  const queue = queueOn(redis.patient);
  const worker = new ChunkWorker(health, new RedisJobStore(redis.patient, limits), queue);
  const queueOfRequests = queueOn(redis.prompt);
  const store = new RedisJobStore(redis.prompt, limits);
  const service = new JobsService(store, queueOfRequests, worker, redis.reach);
  const close = async () => {
    await queue.close();
    redis.close();
    await queueOfRequests.close();
  };
  return { service, worker, queue, close };
}
