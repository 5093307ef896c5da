import { type DynamicModule, Module } from '@nestjs/common';
import { ModelLoader } from './model-loader.js';
import { WorkerFile } from './worker-file.provider.js';

@Module({})
export class ServingModule {
  /** @param workerFile another worker than the built one, for tests */
  static of(workerFile?: URL): DynamicModule {
    return {
      module: ServingModule,
      providers: [ModelLoader, { provide: WorkerFile, useValue: new WorkerFile(workerFile) }],
      exports: [ModelLoader],
    };
  }
}
