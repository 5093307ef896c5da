import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import type { Environment } from './config/environment.js';
import { RATE_WINDOW_MS } from './http/rate-limit.js';
import { createAdapter, equip, type ServerOptions } from './http/server.js';
import { SlidingLog, type SlidingWindow } from './http/sliding-window.js';
import { createLog, nestLog } from './log.js';
import { describeApi } from './openapi/openapi-document.js';
import { OpenApiController } from './openapi/openapi.controller.js';

/** Some 20 MB of addresses at most. */
const MAXIMUM_CLIENTS = 50_000;

/** What tests replace; a service in use takes everything from its environment. */
export interface ApplicationOptions {
  readonly workerFile?: URL;
  readonly window?: SlidingWindow;
  readonly requestTimeoutMs?: number;
}

/** Puts the service together; it answers as soon as the caller lets it listen. */
export async function createApplication(
  environment: Environment,
  options: ApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const serverOptions: ServerOptions = {
    trustProxy: environment.TRUST_PROXY,
    rateLimit: environment.RATE_LIMIT,
    window: options.window ?? rateWindow(environment),
    requestTimeoutMs: options.requestTimeoutMs,
  };
  const log = createLog(environment.LOG_LEVEL);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(environment, options.workerFile),
    createAdapter(serverOptions),
    { bodyParser: false, abortOnError: false, logger: nestLog(log) },
  );
  await equip(app, serverOptions);
  app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
  app.get(OpenApiController).publish(describeApi(app));
  await app.init();
  return app;
}

function rateWindow({ RATE_LIMIT }: Environment): SlidingWindow {
  return new SlidingLog({
    limit: RATE_LIMIT,
    windowMs: RATE_WINDOW_MS,
    maximumClients: MAXIMUM_CLIENTS,
    nowMs: () => performance.now(),
  });
}
