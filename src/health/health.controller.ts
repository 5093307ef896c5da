import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ModelHealth } from './model-health.js';

/** For whoever runs the service; not part of the public API. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly health: ModelHealth) {}

  /** The process is up and its event loop turns. */
  @Get('livez')
  live(@Res() reply: FastifyReply): void {
    reply.header('cache-control', 'no-store').send({ status: 'alive' });
  }

  /** Runs are answered; 503 while the model loads, after it failed and while the service drains. */
  @Get('readyz')
  ready(@Res() reply: FastifyReply): void {
    this.health.modelForRuns();
    reply.header('cache-control', 'no-store').send({ status: 'ready' });
  }
}
