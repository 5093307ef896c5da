import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Environment } from '../config/environment.js';
import { ModelHealth } from '../health/model-health.js';
import { ChunkWorker } from './chunk-worker.js';
import { JobsService } from './jobs.service.js';
import { MemoryChunkQueue } from './memory-chunk-queue.js';
import { MemoryJobStore } from './memory-job-store.js';

/** Everything that jobs consist of, in this process. */
class JobParts {
  readonly service: JobsService;
  readonly worker: ChunkWorker;
  readonly queue: MemoryChunkQueue;

  constructor(environment: Environment, health: ModelHealth) {
    const store = new MemoryJobStore({
      perClient: environment.JOBS_PER_CLIENT,
      atOnce: environment.JOBS_AT_ONCE,
      brainMsPerClient: environment.JOB_BRAIN_SECONDS_PER_CLIENT * 1000,
      resultBytes: environment.JOB_RESULT_BYTES,
      kept: environment.JOBS_KEPT,
      keptBytes: environment.JOBS_KEPT_BYTES,
      keptMs: environment.JOBS_KEPT_S * 1000,
    });
    this.queue = new MemoryChunkQueue();
    this.worker = new ChunkWorker(health, store, this.queue);
    this.service = new JobsService(store, this.queue, this.worker);
  }
}

/** Jobs: experiments that nobody waits for. */
@Module({
  providers: [
    {
      provide: JobParts,
      inject: [Environment, ModelHealth],
      useFactory: (environment: Environment, health: ModelHealth) => new JobParts(environment, health),
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
    await this.parts.queue.close();
  }
}
