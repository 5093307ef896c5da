import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication } from './application.js';
import { DEFAULT_WORKERS } from './config/default-workers.js';
import { type Environment, isSet, readEnvironment } from './config/environment.js';
import { CodedError, messageWithCause } from '../engine/errors.js';
import { GpuHost } from '../workers/gpu/gpu-host.js';
import { listenOn } from './config/every-address.js';
import { refuseClusters } from './config/refused-clusters.js';
import { endOnFailure, endOnSignals, endProcess } from './shutdown.js';
import { replaceStandardStreams } from './standard-streams.js';

/**
 * Starts the service as the only task of this process.
 * @param workerFile replaces the built worker in tests
 * @returns undefined if it could not start; standard error has the reason, and the process ends
 */
export async function startService(workerFile?: URL): Promise<NestFastifyApplication | undefined> {
  const { stdout } = replaceStandardStreams();
  endOnFailure();
  try {
    const environment = readEnvironment(process.env);
    if (environment.BACKEND === 'gpu') await GpuHost.adapter(environment.GPU_ALLOW_SOFTWARE === 1);
    await refuseClusters(environment);
    const app = await createApplication(environment, { workerFile, logTo: stdout });
    endOnSignals(app, environment.SHUTDOWN_MS);
    if (!isSet(environment, 'WORKERS')) {
      const { workers, reason } = DEFAULT_WORKERS;
      new Logger('Workers').log(`${workers} workers, ${reason}; WORKERS sets another number.`);
    }
    await listen(app, environment);
    return app;
  } catch (error) {
    const isExpected = error instanceof CodedError;
    console.error(isExpected ? messageWithCause(error) : error);
    await endProcess(isExpected ? error.exitCode : 1);
    return undefined;
  }
}

async function listen(app: NestFastifyApplication, { PORT, HOST }: Environment): Promise<void> {
  try {
    await listenOn(HOST, (host) => app.listen(PORT, host));
  } catch (error) {
    await app.close();
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const hint =
      syscall === 'getaddrinfo'
        ? ' This is no name of an address: if another program set the variable, as conda does, unset HOST.'
        : '';
    throw new CodedError(
      'CONFIG_INVALID',
      `HOST and PORT must be free to listen on, got ${HOST} and ${PORT}: ${(error as Error).message}.${hint}`,
      { cause: error },
    );
  }
}
