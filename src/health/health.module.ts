import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Degradations } from './degradations.js';
import { HealthController } from './health.controller.js';
import { ModelHealth } from './model-health.js';
import { WorkerFile } from './worker-file.provider.js';

/** Global, because whatever serves something of the model asks it whether the model is there. */
@Global()
@Module({})
export class HealthModule {
  /** @param workerFile another worker than the built one, for tests */
  static of(workerFile?: URL): DynamicModule {
    return {
      module: HealthModule,
      controllers: [HealthController],
      providers: [ModelHealth, Degradations, { provide: WorkerFile, useValue: new WorkerFile(workerFile) }],
      exports: [ModelHealth, Degradations],
    };
  }
}
