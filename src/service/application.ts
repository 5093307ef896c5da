import { setTimeout } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type Replacements } from './app.module.js';
import type { Environment } from './config/environment.js';
import { ModelHealth } from './health/model-health.js';
import { VERSIONING } from './http/api-versions.js';
import { Connections } from './http/connections.js';
import { RequestWatch } from './http/request-watch.js';
import { configureServer, createAdapter, siteFinder } from './http/server.js';
import { createLog, nestLog, type LogDestination, logRequest } from './log.js';
import { Metrics } from './metrics/metrics.js';
import { DESCRIPTION_OF_V1 } from './api/v1/description.js';
import { DESCRIPTION_OF_V2 } from './api/v2/description.js';
import { describeApi, describedFor, type VersionDescription } from './api/openapi/openapi-document.js';
import { OpenApiController } from './api/openapi/openapi.controller.js';
import { droppedWrites } from './standard-streams.js';

export const API_DESCRIPTIONS: readonly VersionDescription[] = [DESCRIPTION_OF_V1, DESCRIPTION_OF_V2];
/** Limit of the time to read requests that have already arrived at shutdown, if clients keep connecting. */
const LAST_ARRIVALS_MS = 2_000;
/** Time for the last bytes to leave before connections are closed. */
const LAST_BYTES_MS = 100;

/** Options of service.ts and tests; all others are in the environment. */
export interface ApplicationOptions extends Replacements {
  readonly requestTimeoutMs?: number;
  /** Destination of the log; without it nothing is logged. */
  readonly logTo?: LogDestination;
}

/** Creates the service and begins to load the model. It answers requests after the caller calls `listen`. */
export async function createApplication(
  environment: Environment,
  options: ApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const app = await assembleApplication(environment, options);
  try {
    await app.init();
  } catch (error) {
    // Started workers would keep the process alive.
    await app.close();
    throw error;
  }
  return app;
}

/** Creates the complete service without starting anything, which is enough to describe its API. */
export async function assembleApplication(
  environment: Environment,
  options: ApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const log = createLog(environment.LOG_LEVEL, options.logTo ?? { write: () => undefined });
  const connections = new Connections(siteFinder(environment));
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(environment, options),
    createAdapter(environment, connections, options.requestTimeoutMs),
    { bodyParser: false, abortOnError: false, logger: nestLog(log) },
  );
  app.enableVersioning(VERSIONING);
  const fastify = app.getHttpAdapter().getInstance();
  const watch = new RequestWatch();
  watch.attach(fastify);
  fastify.addHook('preClose', async () => {
    await connections.arrivalsRead(LAST_ARRIVALS_MS);
    void closeWhenQuiet(connections, watch);
  });
  watch.finished.subscribe((finished) => {
    logRequest(log, finished);
    app.get(Metrics).countRequest(finished);
  });
  connections.refused.subscribe((status) => app.get(Metrics).countRefusal(status));
  app.get(Metrics).droppedLogLines = droppedWrites;
  const health = app.get(ModelHealth);
  configureServer(app, environment, connections, () => health.draining);
  for (const description of API_DESCRIPTIONS) {
    let document: ReturnType<typeof describeApi> | undefined;
    app.get(OpenApiController).publish(description.version, (channels) => {
      document ??= describeApi(app, description);
      return describedFor(document, description, channels);
    });
  }
  return app;
}

/**
 * Closes all connections after the last answer was sent. A closing server would wait even for connections without a
 * request.
 */
async function closeWhenQuiet(connections: Connections, watch: RequestWatch): Promise<void> {
  do {
    await watch.quiet();
    await setTimeout(LAST_BYTES_MS);
  } while (watch.open > 0);
  connections.closeAll();
}
