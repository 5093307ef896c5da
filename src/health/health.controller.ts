import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { GpuState } from '../pool/gpu/gpu-stage.js';
import { Degradations } from './degradations.js';
import { backendOf, ModelHealth } from './model-health.js';

/** For operators; not part of the public API. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(
    private readonly health: ModelHealth,
    private readonly degradations: Degradations,
  ) {}

  /** The process is alive and its event loop runs. */
  @Get('livez')
  live(@Res() reply: FastifyReply): void {
    reply.header('cache-control', 'no-store').send({ status: 'alive' });
  }

  /** 200 if runs are accepted, possibly with degraded parts; 503 while the model loads, has failed or the service drains. */
  @Get('readyz')
  ready(@Res() reply: FastifyReply): void {
    const { id, connectome, workers, gpu } = this.health.modelWhenReady();
    const degraded = this.degradations.list();
    reply.header('cache-control', 'no-store').send({
      status: degraded.length === 0 ? 'ready' : 'degraded',
      model: id,
      connectome_digest: connectome.digest,
      workers,
      backend: backendOf(gpu),
      gpu: gpuMember(gpu),
      degraded,
    });
  }
}

function gpuMember(gpu: GpuState): object {
  return gpu.name === 'ready'
    ? { state: gpu.name, adapter: gpu.adapter, batch_from: gpu.batchFrom, process_id: gpu.processId }
    : { state: gpu.name, ...('reason' in gpu && { reason: gpu.reason }) };
}
