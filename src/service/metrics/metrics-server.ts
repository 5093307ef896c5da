import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Environment } from '../config/environment.js';
import { CodedError } from '../errors.js';
import { Metrics } from './metrics.js';

/**
 * GET /metrics on a separate port, which need not be public; on the loopback interface unless METRICS_HOST is set. It
 * stays open until everything else has stopped, so that a shutdown can be observed.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #log = new Logger(MetricsServer.name);
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor(
    private readonly environment: Environment,
    private readonly metrics: Metrics,
  ) {}

  /** @throws CodedError CONFIG_INVALID if it cannot listen there */
  async onApplicationBootstrap(): Promise<void> {
    const { METRICS_HOST, METRICS_PORT } = this.environment;
    if (METRICS_PORT === 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(
          new CodedError(
            'CONFIG_INVALID',
            `METRICS_HOST and METRICS_PORT must be free to listen on, or METRICS_PORT 0 for no metrics, ` +
              `got ${METRICS_HOST} and ${METRICS_PORT}: ${cause.message}.`,
            { cause },
          ),
        ),
      );
      this.#server.listen(METRICS_PORT, METRICS_HOST, resolve);
    });
  }

  onApplicationShutdown(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    const isKnown = url?.split('?', 1)[0] === '/metrics';
    if (!isKnown || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(isKnown ? 405 : 404, isKnown ? { allow: 'GET, HEAD' } : {});
      response.end('The metrics are at GET /metrics.\n');
      return;
    }
    try {
      const text = await this.metrics.registry.metrics();
      response.writeHead(200, {
        'content-type': this.metrics.registry.contentType,
        'cache-control': 'no-store',
      });
      response.end(text);
    } catch (error) {
      this.#log.error(`The metrics cannot be read: ${(error as Error).stack}`);
      response.writeHead(500).end('The metrics cannot be read; the log says why.\n');
    }
  }
}
