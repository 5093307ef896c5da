import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Environment, isSet } from '../config/environment.js';
import { CodedError } from '../../engine/errors.js';
import { listenOn } from '../config/every-address.js';
import { Metrics } from './metrics.js';

/**
 * Serves GET /metrics on a separate port, which need not be public. It listens on the loopback interface unless
 * METRICS_HOST is set.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap {
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
    try {
      await this.#listenHereOrElsewhere();
    } catch (error) {
      throw new CodedError(
        'CONFIG_INVALID',
        `METRICS_HOST and METRICS_PORT must be free to listen on, or METRICS_PORT 0 for no metrics, ` +
          `got ${METRICS_HOST} and ${METRICS_PORT}: ${(error as Error).message}.`,
        { cause: error },
      );
    }
  }

  async #listenHereOrElsewhere(): Promise<void> {
    const { PORT, METRICS_PORT } = this.environment;
    // The API listens later, so the port is still free.
    if (METRICS_PORT === PORT) return this.#listenElsewhere();
    try {
      await this.#listen(METRICS_PORT);
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!isTaken || isSet(this.environment, 'METRICS_PORT')) throw error;
      await this.#listenElsewhere();
    }
  }

  /** Listens on a free port instead of the default, which is taken. */
  async #listenElsewhere(): Promise<void> {
    await this.#listen(0);
    const { port } = this.#server.address() as AddressInfo;
    const { METRICS_PORT } = this.environment;
    this.#log.warn(
      `The port of the metrics, ${METRICS_PORT}, is taken, so they are at port ${port}; METRICS_PORT chooses one.`,
    );
  }

  async #listen(port: number): Promise<void> {
    await listenOn(this.environment.METRICS_HOST, (host) => {
      this.#server.listen(port, host);
      return once(this.#server, 'listening');
    });
    this.#server.on('error', (error) => this.#log.error(`The metrics server failed: ${error.message}`));
  }

  close(): void {
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
      const { contentType } = this.metrics.registry;
      response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
    } catch (error) {
      this.#log.error(`The metrics cannot be read: ${(error as Error).stack}`);
      response.writeHead(500).end('The metrics cannot be read; the log says why.\n');
    }
  }
}
