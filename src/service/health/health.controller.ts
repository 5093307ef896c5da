import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { networkName } from '../../engine/connectome/model-id.js';
import { licenceOf } from '../../engine/connectome/model-origin.js';
import type { GpuState } from '../../workers/gpu/gpu-stage.js';
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

  /**
   * 200 if runs are accepted, even if parts are degraded; 503 while the model loads, has failed, or the service
   * drains.
   */
  @Get('readyz')
  ready(@Res() reply: FastifyReply): void {
    const { id, connectome, workers, gpu } = this.health.modelForRuns();
    const degraded = this.degradations.list();
    reply.header('cache-control', 'no-store').send({
      status: degraded.length === 0 ? 'ready' : 'degraded',
      model: id,
      name: connectome.metadata.name,
      network: networkName(connectome.metadata),
      licence: licenceOf(connectome.metadata),
      connectome_digest: connectome.digest,
      workers,
      backend: backendOf(gpu),
      gpu: gpuMember(gpu),
      degraded,
    });
  }
}

function gpuMember(gpu: GpuState): object {
  if (gpu.name !== 'ready') return { state: gpu.name, ...('reason' in gpu && { reason: gpu.reason }) };
  return { state: gpu.name, adapter: gpu.adapter, process_id: gpu.processId };
}
