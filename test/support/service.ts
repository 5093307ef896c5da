import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication, type ApplicationOptions } from '../../src/service/application.js';
import { readEnvironment } from '../../src/service/config/environment.js';
import { ModelHealth } from '../../src/service/health/model-health.js';
import { checkAnswer } from './contract.js';
import { jobsFolder } from './disk-jobs.js';
import { smallConnectomeFile } from './small-connectome.js';

/** A response whose JSON a test may read as it likes; the contract tests check its shape. */
export type Answer = Omit<Response, 'json'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- each test reads another shape; with unknown it would cast
  json(): Promise<any>;
};

/** The real service on a free port, with real workers. Every answer is checked against the description. */
export interface Service {
  readonly app: NestFastifyApplication;
  readonly port: number;
  readonly url: string;
  post(body?: unknown, path?: string, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startService(
  variables: Record<string, string> = {},
  options: ApplicationOptions = {},
): Promise<Service> {
  const environment = readEnvironment({
    HOST: '127.0.0.1',
    PORT: '0',
    WORKERS: '1',
    METRICS_PORT: '0',
    BACKEND: 'cpu',
    RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    ...variables,
    CONNECTOME_FILE: variables['CONNECTOME_FILE'] ?? smallConnectomeFile(),
    JOBS_PATH: variables['JOBS_PATH'] ?? jobsFolder(),
  });
  const app = await createApplication(environment, options);
  await app.listen(environment.PORT, environment.HOST);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init);
    const { status, headers } = response;
    checkAnswer({ method: init.method!, path, status, headers, text: await response.clone().text() });
    return response;
  };
  return {
    app,
    port,
    url,
    post: (body, path = '/api/v1/run', headers = { 'content-type': 'application/json' }) =>
      send(path, {
        method: 'POST',
        headers,
        body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => send(path, { method: 'GET', headers }),
    delete: (path) => send(path, { method: 'DELETE' }),
    stop: () => app.close(),
  };
}

const PATIENCE_MS = 40_000;

/** Starts a service and waits until its model is there. */
export async function startReadyService(
  variables: Record<string, string> = {},
  options: ApplicationOptions = {},
): Promise<Service> {
  const service = await startService(variables, options);
  await untilState(service, 'ready');
  return service;
}

export async function untilState(service: Service, name: 'ready' | 'failed'): Promise<void> {
  const health = service.app.get(ModelHealth);
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  while (health.state.name !== name) {
    if (performance.now() > giveUpAtMs) {
      await service.stop();
      throw new Error(`the model is ${health.state.name}, not ${name}`, {
        cause: health.state.name === 'failed' ? health.state.error : undefined,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
