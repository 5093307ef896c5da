import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { MS_PER_SECOND } from '../../../engine/stimulus/protocol.js';
import { Environment } from '../../config/environment.js';
import { Degradations } from '../../health/degradations.js';
import { ModelHealth } from '../../health/model-health.js';
import { Limits } from '../../limits/limits.js';
import { BullChunkQueue } from '../../jobs/bull-chunk-queue.js';
import type { ChunkQueue } from '../../jobs/chunk-queue.js';
import { ChunkWorker } from '../../jobs/chunk-worker.js';
import { DiskJobStore, type DiskLimits } from '../../jobs/disk-job-store.js';
import type { JobLimits } from '../../jobs/job-store.js';
import { JobsDisk } from '../../jobs/jobs-disk.js';
import { FULL, JobsRedis } from '../../jobs/jobs-redis.js';
import { JobsService } from '../../jobs/jobs-service.js';
import { MemoryChunkQueue } from '../../jobs/memory-chunk-queue.js';
import { ANNOUNCE_EVERY_MS, RedisJobStore } from '../../jobs/redis-job-store.js';

const log = new Logger('jobs');

interface Parts {
  readonly service: JobsService;
  readonly worker: ChunkWorker;
  readonly queue: ChunkQueue;
  readonly open?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Creates the components of jobs: on the disk of this process, or with a Redis that all replicas share. */
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
      maxFinished: limits.finishedJobs,
      storedForMs: environment.JOBS_KEPT_S * MS_PER_SECOND,
    };
    const diskLimits = {
      ...jobLimits,
      maxStoredBytes: environment.JOBS_KEPT_BYTES,
      unfinishedBytesPerClient: limits.unfinishedResultBytesPerClient,
    };
    this.parts =
      environment.REDIS_JOBS_URL === ''
        ? localJobs(environment, diskLimits, health, degradations)
        : sharedJobs(environment, jobLimits, health, degradations);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { REDIS_URL, REDIS_JOBS_URL, ROLE } = this.environment;
    if (ROLE === 'worker' && REDIS_JOBS_URL === '') {
      log.warn(
        'ROLE is worker and REDIS_JOBS_URL is not set, so this process computes only jobs of requests to itself.',
      );
    }
    if (REDIS_URL !== '' && REDIS_JOBS_URL === '') {
      log.warn(
        'REDIS_URL is set and REDIS_JOBS_URL is not: jobs are on the disk of this process, and other replicas answer ' +
          '404 for them. Set REDIS_JOBS_URL to a Redis that evicts nothing, or send all requests for a job to one replica.',
      );
    }
    await this.parts.open?.();
    this.parts.queue.start(this.parts.worker);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.parts.close();
  }
}

function localJobs(
  { JOBS_PATH }: Environment,
  limits: DiskLimits,
  health: ModelHealth,
  degradations: Degradations,
): Parts {
  // If the store fails meanwhile, it is opened again.
  const resume = () => void worker.resume(store).catch(() => undefined);
  const disk = new JobsDisk(JOBS_PATH, {
    onAway: (reason) => degradations.set('jobs', reason),
    onOpen: () => {
      degradations.set('jobs');
      resume();
    },
  });
  // The next model may be another one.
  health.lost.subscribe(resume);
  const queue = new MemoryChunkQueue();
  const store = new DiskJobStore(disk, limits);
  const worker = new ChunkWorker(health, store, queue);
  const close = async () => {
    await queue.close();
    await store.close();
  };
  return { service: new JobsService(store, queue, worker), worker, queue, open: () => store.open(), close };
}

function sharedJobs(
  environment: Environment,
  limits: JobLimits,
  health: ModelHealth,
  degradations: Degradations,
): Parts {
  const redis = new JobsRedis(environment.REDIS_JOBS_URL, {
    onAway: (why) => {
      const full = `The Redis of jobs is full (${why}); no job can begin, and those that have begun wait.`;
      const away = `The Redis of jobs is unavailable (${why}); jobs wait.`;
      degradations.set('jobs', why === FULL ? full : away);
    },
    onBack: () => degradations.set('jobs'),
    onPolicy: (evicting) => {
      const reason =
        `The Redis of jobs has the policy ${evicting}: if it is full it drops jobs and their results. ` +
        'Set maxmemory-policy noeviction.';
      degradations.set('jobs_eviction', evicting && reason);
    },
    onDenied: (commands) => {
      const reason =
        `The Redis of jobs denies commands that jobs need: ${commands.join(', ')}. Allow its user all commands of ` +
        'docs/operations.md, The Redis of jobs.';
      degradations.set('jobs_commands', commands.length === 0 ? undefined : reason);
    },
  });
  const queueOn = (connection: Redis) =>
    new BullChunkQueue(connection, () => redis.connect(), limits.storedForMs);
  // Computing waits until Redis is available; requests fail at once.
  const queue = queueOn(redis.patient);
  const computedStore = new RedisJobStore(redis.patient, limits);
  const worker = new ChunkWorker(health, computedStore, queue);
  const queueOfRequests = queueOn(redis.prompt);
  const store = new RedisJobStore(redis.prompt, limits);
  const service = new JobsService(store, queueOfRequests, worker, redis.reach);
  const closing = new AbortController();
  // Not awaited: Redis may come later.
  const open = async () => {
    void everyMinute(() => computedStore.announceVersion(), closing.signal);
    void everyMinute(() => worker.recover(computedStore, queue), closing.signal);
  };
  const close = async () => {
    closing.abort();
    await queue.close();
    redis.close();
    await queueOfRequests.close();
  };
  return { service, worker, queue, open, close };
}

/** Does it once a minute until the signal aborts. Redis may be away, so a failure is only noted. */
async function everyMinute(task: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await task().catch((error: unknown) => log.debug(`Looking after jobs: ${(error as Error).name}`));
    await sleep(ANNOUNCE_EVERY_MS, undefined, { ref: false, signal }).catch(() => undefined);
  }
}
