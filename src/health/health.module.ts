import { Global, Module } from '@nestjs/common';
import { Degradations } from './degradations.js';
import { HealthController } from './health.controller.js';
import { ModelHealth } from './model-health.js';

/** Global, because whatever serves something of the model asks it whether the model is there. */
@Global()
@Module({
  controllers: [HealthController],
  providers: [ModelHealth, Degradations],
  exports: [ModelHealth, Degradations],
})
export class HealthModule {}
