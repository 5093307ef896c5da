import { setTimeout } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import type { Environment } from './config/environment.js';
import { Degradations } from './health/degradations.js';
import { ModelHealth } from './health/model-health.js';
import { Connections } from './http/connections.js';
import { RequestWatch } from './http/request-watch.js';
import { RedisWindow } from './http/redis-window.js';
import { RATE_WINDOW_MS } from './http/rate-limit.js';
import { configureServer, createAdapter } from './http/server.js';
import { MAXIMUM_CLIENTS, SlidingLog, type SlidingWindow } from './http/sliding-window.js';
import { createLog, nestLog, type LogDestination } from './log.js';
import { Metrics } from './metrics/metrics.js';
import { describeApi } from './openapi/openapi-document.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { serveSwaggerUi } from './openapi/swagger-ui.js';
import { logRequest } from './request-log.js';
import { warmUp } from './run/warm-up.js';
import { droppedWrites } from './standard-streams.js';

/** For the last answer to leave before its connection is closed. */
const LAST_BYTES_MS = 100;

/** What main.ts and tests choose; everything else is in the environment. */
export interface ApplicationOptions {
  readonly workerFile?: URL;
  readonly window?: SlidingWindow;
  readonly requestTimeoutMs?: number;
  /** Without it nothing is logged. */
  readonly logTo?: LogDestination;
}

/** Puts the service together and starts to load the model; it answers once the caller lets it listen. */
export async function createApplication(
  environment: Environment,
  options: ApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const app = await assembleApplication(environment, options);
  try {
    await app.init();
  } catch (error) {
    // What was begun already, workers for one, would keep the process alive.
    await app.close();
    throw error;
  }
  return app;
}

/** The service, complete, but with nothing begun: enough to describe it. */
export async function assembleApplication(
  environment: Environment,
  options: ApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const log = createLog(environment.LOG_LEVEL, options.logTo ?? { write: () => undefined });
  const connections = new Connections();
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(environment, options.workerFile),
    createAdapter({
      trustProxy: environment.TRUST_PROXY,
      requestTimeoutMs: options.requestTimeoutMs,
      runTimeoutMs: environment.RUN_TIMEOUT_MS,
      connections,
    }),
    { bodyParser: false, abortOnError: false, logger: nestLog(log) },
  );
  const fastify = app.getHttpAdapter().getInstance();
  const watch = new RequestWatch();
  watch.attach(fastify);
  fastify.addHook('preClose', async () => void closeWhenQuiet(connections, watch));
  watch.finished.subscribe((finished) => {
    logRequest(log, finished);
    app.get(Metrics).countRequest(finished);
  });
  app.get(Metrics).droppedLogLines = droppedWrites;
  const health = app.get(ModelHealth);
  health.warmUp = () => warmUp(fastify);
  const window = options.window ?? rateWindow(environment, app.get(Degradations));
  fastify.addHook('onClose', async () => window.close?.());
  await configureServer(app, {
    rateLimit: environment.RATE_LIMIT,
    window,
    isEnding: () => health.draining,
    connections,
  });
  const description = describeApi(app);
  app.get(OpenApiController).publish(description);
  serveSwaggerUi(app, description);
  return app;
}

/**
 * A server that closes waits for every connection, also for those on which nothing was ever asked. Once the last
 * answer is out there is nothing to wait for.
 */
async function closeWhenQuiet(connections: Connections, watch: RequestWatch): Promise<void> {
  do {
    await watch.quiet();
    await setTimeout(LAST_BYTES_MS);
  } while (watch.open > 0);
  connections.closeAll();
}

function rateWindow({ RATE_LIMIT, REDIS_URL }: Environment, degradations: Degradations): SlidingWindow {
  const limits = { limit: RATE_LIMIT, windowMs: RATE_WINDOW_MS };
  const local = new SlidingLog({
    ...limits,
    maximumClients: MAXIMUM_CLIENTS,
    nowMs: () => performance.now(),
  });
  if (REDIS_URL === '' || RATE_LIMIT === 0) return local;
  return new RedisWindow({
    ...limits,
    url: REDIS_URL,
    local,
    onAway: (why) =>
      degradations.begin({
        part: 'rate_limit',
        reason: `Redis is away (${why}); every replica counts runs on its own.`,
      }),
    onBack: () => degradations.end('rate_limit'),
  });
}
