import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { AtlasController } from './api/atlas/atlas.controller.js';
import { OpenApiController } from './api/openapi/openapi.controller.js';
import { ModelController } from './api/v1/model.controller.js';
import { RunController } from './api/v1/run.controller.js';
import { StoredRunsController } from './api/v1/stored-runs.controller.js';
import { RunService } from './api/v1/run.service.js';
import { ExperimentsController } from './api/v2/experiments.controller.js';
import { ExperimentsService } from './api/v2/experiments.service.js';
import { JobsController } from './api/v2/jobs.controller.js';
import { ModelV2Controller } from './api/v2/model.controller.js';
import { SessionsController } from './api/v2/sessions.controller.js';
import { SessionsService } from './api/v2/sessions.service.js';
import { JobParts } from './api/v2/job-parts.js';
import { StoredAnswers } from './api/v2/stored-answers.js';
import { Environment } from './config/environment.js';
import { Degradations } from './health/degradations.js';
import { HealthController } from './health/health.controller.js';
import { ModelHealth } from './health/model-health.js';
import { Admission } from './limits/admission.js';
import { BrainBudget } from './limits/brain-budget.js';
import { Limits, MAX_CLIENTS, RATE_WINDOW_MS, SPENDING_SLOT_MS } from './limits/limits.js';
import { RedisLink } from './limits/redis-link.js';
import { RedisWindow, type RedisWindowOptions } from './limits/redis-window.js';
import { RunStorage } from './limits/run-limit.guard.js';
import { MemoryWindow, type SlidingWindow } from './limits/sliding-window.js';
import { Metrics } from './metrics/metrics.js';
import { MetricsServer } from './metrics/metrics-server.js';
import { ModelLoader } from './model-host/model-loader.js';
import { BrainController } from './pages/brain.controller.js';
import { DareController } from './pages/dare.controller.js';
import { PagesController } from './pages/pages.controller.js';
import { ChunkWorker } from './jobs/chunk-worker.js';
import { JobsService } from './jobs/jobs-service.js';
import { Sessions } from './sessions/sessions.js';

/** Objects that tests replace. */
export interface Replacements {
  readonly workerFile?: URL;
  readonly windows?: { readonly runs?: SlidingWindow; readonly brainTime?: SlidingWindow };
  readonly limits?: Partial<Limits>;
}

/** All components of the service. Nest constructs those that are listed only by their class. */
@Module({
  controllers: [
    HealthController,
    RunController,
    ExperimentsController,
    JobsController,
    SessionsController,
    ModelV2Controller,
    ModelController,
    OpenApiController,
    AtlasController,
    StoredRunsController,
    PagesController,
    DareController,
    BrainController,
  ],
  providers: [
    Admission,
    ExperimentsService,
    Metrics,
    MetricsServer,
    ModelHealth,
    RunService,
    SessionsService,
    StoredAnswers,
    JobParts,
    { provide: JobsService, inject: [JobParts], useFactory: ({ parts }: JobParts) => parts.service },
    { provide: Sessions, inject: [Limits, ModelHealth], useFactory: sessionsOf },
    { provide: ChunkWorker, inject: [JobParts], useFactory: ({ parts }: JobParts) => parts.worker },
  ],
})
export class AppModule implements OnApplicationShutdown {
  constructor(private readonly metricsServer: MetricsServer) {}

  static of(environment: Environment, { workerFile, windows, limits }: Replacements): DynamicModule {
    const { RATE_LIMIT, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: brainSeconds } = environment;
    const degradations = new Degradations();
    const link = redisLink(environment, degradations);
    const runs = windows?.runs ?? windowOf('runs', RATE_LIMIT, 0, link);
    const brainTime = windows?.brainTime ?? windowOf('brain', 1000 * brainSeconds, SPENDING_SLOT_MS, link);
    return {
      module: AppModule,
      imports: [
        ThrottlerModule.forRoot({
          throttlers: [{ limit: RATE_LIMIT, ttl: RATE_WINDOW_MS, blockDuration: 0 }],
          skipIf: () => RATE_LIMIT === 0,
          storage: new RunStorage(runs),
        }),
      ],
      providers: [
        { provide: Environment, useValue: environment },
        { provide: Degradations, useValue: degradations },
        { provide: RedisLink, useValue: link },
        { provide: Limits, useValue: new Limits(environment, limits) },
        { provide: BrainBudget, useValue: new BrainBudget(brainSeconds, brainTime) },
        {
          provide: ModelLoader,
          inject: [Environment, Limits, ModelHealth, Degradations],
          useFactory: (...parts: [Environment, Limits, ModelHealth, Degradations]) =>
            new ModelLoader(...parts, workerFile),
        },
      ],
    };
  }

  /** Nest calls this last of all shutdown hooks, so the metrics are available until the end. */
  onApplicationShutdown(): void {
    this.metricsServer.close();
  }
}

/** Sessions, which end with their model. They would hold memory and watchers that nothing reaches. */
function sessionsOf(limits: Limits, health: ModelHealth): Sessions {
  const sessions = new Sessions(limits);
  health.lost.subscribe(() => sessions.endAll());
  return sessions;
}

/** The connection to Redis; undefined if no limit needs it. */
function redisLink(environment: Environment, degradations: Degradations): RedisLink | undefined {
  const { REDIS_URL, RATE_LIMIT, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE } = environment;
  if (REDIS_URL === '' || (RATE_LIMIT === 0 && EXPERIMENT_BRAIN_SECONDS_PER_MINUTE === 0)) return undefined;
  return new RedisLink(REDIS_URL, {
    onAway: (why) =>
      degradations.set(
        'rate_limit',
        `Redis is unavailable (${why}); each replica counts runs and brain seconds on its own.`,
      ),
    onBack: () => degradations.set('rate_limit'),
  });
}

function windowOf(
  kind: RedisWindowOptions['kind'],
  limit: number,
  slotMs: number,
  link: RedisLink | undefined,
): SlidingWindow {
  const options = { limit, windowMs: RATE_WINDOW_MS, slotMs };
  const nowMs = () => performance.now();
  const local = new MemoryWindow({ ...options, maxClients: MAX_CLIENTS, nowMs });
  return link === undefined || limit === 0 ? local : new RedisWindow({ ...options, kind, link, local });
}
