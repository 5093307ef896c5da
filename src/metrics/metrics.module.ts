import { type DynamicModule, Module } from '@nestjs/common';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { RunModule } from '../run/run.module.js';
import { Metrics } from './metrics.js';
import { MetricsServer } from './metrics-server.js';

@Module({})
export class MetricsModule {
  /** @param serving the module that provides the state of the workers and the GPU */
  static with(serving: DynamicModule): DynamicModule {
    return {
      module: MetricsModule,
      imports: [RunModule, ExperimentsModule, JobsModule, serving],
      providers: [Metrics, MetricsServer],
    };
  }
}
