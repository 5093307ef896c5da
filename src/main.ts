import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApplication } from './application.js';
import { readEnvironment } from './config/environment.js';
import { CodedError, inFull } from './errors.js';
import { GpuHost } from './pool/gpu/gpu-host.js';
import { endOnSignals } from './shutdown.js';

/** The service of this process; undefined where it could not start. */
export const app = await start();

async function start(): Promise<NestFastifyApplication | undefined> {
  try {
    const environment = readEnvironment(process.env);
    if (environment.BACKEND === 'gpu') await GpuHost.adapter(environment.GPU_ALLOW_SOFTWARE === 1);
    const application = await createApplication(environment);
    endOnSignals(application, environment.SHUTDOWN_MS);
    await listen(application, environment.PORT, environment.HOST);
    return application;
  } catch (error) {
    console.error(error instanceof CodedError ? inFull(error) : error);
    process.exitCode = error instanceof CodedError ? error.exitCode : 1;
    return undefined;
  }
}

async function listen(application: NestFastifyApplication, port: number, host: string): Promise<void> {
  try {
    await application.listen(port, host);
  } catch (error) {
    await application.close();
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new CodedError(
      'CONFIG_INVALID',
      `HOST and PORT must be free to listen on, got ${host} and ${port}: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}
