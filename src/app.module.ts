import { type DynamicModule, Module } from '@nestjs/common';
import { AtlasModule } from './atlas/atlas.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Environment } from './config/environment.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { ModelModule } from './model/model.module.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { RunModule } from './run/run.module.js';

@Module({})
export class AppModule {
  static of(environment: Environment, workerFile?: URL): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(environment),
        HealthModule.of(workerFile),
        RunModule,
        ModelModule,
        OpenApiModule,
        AtlasModule,
        MetricsModule,
        DashboardModule,
      ],
    };
  }
}
