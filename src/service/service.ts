import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication } from './application.js';
import { type Environment, readEnvironment } from './config/environment.js';
import { CodedError, messageWithCause } from '../errors.js';
import { GpuHost } from '../scheduling/gpu/gpu-host.js';
import { endOnFailure, endOnSignals, endProcess } from './shutdown.js';
import { replaceStandardStreams } from './standard-streams.js';

/**
 * Starts the service as this process's only task.
 * @param workerFile another worker than the built one, for tests
 * @returns undefined where it could not start; standard error says why, and the process ends
 */
export async function startService(workerFile?: URL): Promise<NestFastifyApplication | undefined> {
  const { stdout } = replaceStandardStreams();
  endOnFailure();
  try {
    const environment = readEnvironment(process.env);
    if (environment.BACKEND === 'gpu') await GpuHost.adapter(environment.GPU_ALLOW_SOFTWARE === 1);
    const app = await createApplication(environment, { workerFile, logTo: stdout });
    endOnSignals(app, environment.SHUTDOWN_MS);
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
    await app.listen(PORT, HOST);
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new CodedError(
      'CONFIG_INVALID',
      `HOST and PORT must be free to listen on, got ${HOST} and ${PORT}: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}
