import { setTimeout } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type Replacements } from './app.module.js';
import type { Environment } from './config/environment.js';
import { ModelHealth } from './health/model-health.js';
import { VERSIONING } from './http/api-versions.js';
import { Connections } from './http/connections.js';
import { RequestWatch } from './http/request-watch.js';
import { configureServer, createAdapter } from './http/server.js';
import { createLog, nestLog, type LogDestination, logRequest } from './log.js';
import { Metrics } from './metrics/metrics.js';
import { DESCRIPTION_OF_V1 } from './api/v1/description.js';
import { DESCRIPTION_OF_V2 } from './api/v2/description.js';
import { describeApi, type VersionDescription } from './api/openapi/openapi-document.js';
import { OpenApiController } from './api/openapi/openapi.controller.js';
import { ModelLoader } from './model-host/model-loader.js';
import { warmUp } from './api/v1/warm-up.js';
import { droppedWrites } from './standard-streams.js';

export const API_DESCRIPTIONS: readonly VersionDescription[] = [DESCRIPTION_OF_V1, DESCRIPTION_OF_V2];
/** For requests that had arrived when the service was told to stop, where clients do not cease to connect. */
const LAST_ARRIVALS_MS = 2_000;
/** For the last answer to leave before its connection is closed. */
const LAST_BYTES_MS = 100;

/** Choices of service.ts and tests; everything else is in the environment. */
export interface ApplicationOptions extends Replacements {
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
    // Workers that were begun already would keep the process alive.
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
  app.get(Metrics).droppedLogLines = droppedWrites;
  const health = app.get(ModelHealth);
  app.get(ModelLoader).warmUp = (model) => warmUp(fastify, model);
  configureServer(app, connections, () => health.draining);
  for (const description of API_DESCRIPTIONS) {
    const document = describeApi(app, description);
    app.get(OpenApiController).publish(description.version, document);
  }
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
