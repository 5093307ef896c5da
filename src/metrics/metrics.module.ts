import { Module } from '@nestjs/common';
import { RunModule } from '../run/run.module.js';
import { Metrics } from './metrics.js';
import { MetricsServer } from './metrics-server.js';

@Module({ imports: [RunModule], providers: [Metrics, MetricsServer] })
export class MetricsModule {}
