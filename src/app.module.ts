import { type DynamicModule, Module } from '@nestjs/common';
import { AtlasModule } from './atlas/atlas.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Environment } from './config/environment.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { ExperimentsModule } from './experiments/experiments.module.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { ModelModule } from './model/model.module.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { RateLimitModule, type Windows } from './rate-limit/rate-limit.module.js';
import { RunModule } from './run/run.module.js';
import { ServingModule } from './serving/serving.module.js';

/** What tests replace. */
interface ModuleOptions {
  readonly workerFile?: URL;
  readonly windows?: Windows;
}

@Module({})
export class AppModule {
  static of(environment: Environment, { workerFile, windows }: ModuleOptions = {}): DynamicModule {
    const serving = ServingModule.of(workerFile);
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(environment),
        HealthModule,
        serving,
        RateLimitModule.of(windows),
        RunModule,
        ExperimentsModule,
        ModelModule,
        OpenApiModule,
        AtlasModule,
        MetricsModule.with(serving),
        DashboardModule,
      ],
    };
  }
}
