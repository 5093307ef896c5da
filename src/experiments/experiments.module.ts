import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { Admission } from './admission.js';
import { ExperimentsController } from './experiments.controller.js';
import { ExperimentsService } from './experiments.service.js';
import { JobsController } from './jobs.controller.js';
import { NeuronsController } from './neurons.controller.js';
import { NodeSetsController } from './node-sets.controller.js';
import { PlanningTurns } from './planning-turns.js';

/** Open experiments: version 2 of the API. */
@Module({
  imports: [JobsModule],
  controllers: [ExperimentsController, JobsController, NeuronsController, NodeSetsController],
  providers: [ExperimentsService, Admission, PlanningTurns],
  exports: [Admission],
})
export class ExperimentsModule {}
