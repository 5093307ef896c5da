import { Global, Module } from '@nestjs/common';
import { Degradations } from './degradations.js';
import { HealthController } from './health.controller.js';
import { ModelHealth } from './model-health.js';

/** Global, because every module that uses the model needs its state. */
@Global()
@Module({
  controllers: [HealthController],
  providers: [ModelHealth, Degradations],
  exports: [ModelHealth, Degradations],
})
export class HealthModule {}
