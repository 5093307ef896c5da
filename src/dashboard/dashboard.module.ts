import { Module } from '@nestjs/common';
import { DashboardController } from './dashboard.controller.js';
import { PageFiles } from './page-files.js';

/** The page for people, at the root of the service. */
@Module({
  controllers: [DashboardController],
  providers: [{ provide: PageFiles, useFactory: () => PageFiles.read() }],
})
export class DashboardModule {}
