import { Module } from '@nestjs/common';
import { DashboardController } from './dashboard.controller.js';
import { PageFiles } from './page-files.js';

/** The pages for people: the brain at the root of the service, and the laboratory. */
@Module({
  controllers: [DashboardController],
  providers: [{ provide: PageFiles, useFactory: () => PageFiles.read() }],
})
export class DashboardModule {}
