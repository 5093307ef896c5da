import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { networkName } from '../../connectome/model-id.js';
import { licenceOf } from '../../connectome/model-origin.js';
import type { Cost } from '../../scheduling/gpu/batch-plan.js';
import type { GpuState } from '../../scheduling/gpu/gpu-stage.js';
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
   * 200 if runs are accepted, possibly with degraded parts; 503 while the model loads or warms up, has failed, or the
   * service drains.
   */
  @Get('readyz')
  ready(@Res() reply: FastifyReply): void {
    const { id, connectome, workers, gpu } = this.health.modelWhenReady();
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
  const { adapter, batchFrom, processId, plan } = gpu;
  return {
    state: gpu.name,
    adapter,
    batch_from: batchFrom,
    process_id: processId,
    ...(plan && {
      plan: {
        cpu: { workers: plan.cpu.workers, ...costMember(plan.cpu) },
        batches: plan.gpu.map(({ width, ...cost }) => ({ width, ...costMember(cost) })),
      },
    }),
  };
}

function costMember({ msPerStep, msPerEvent }: Cost): object {
  return {
    ms_per_1000_steps: rounded(1000 * msPerStep),
    ms_per_million_synaptic_events: rounded(1e6 * msPerEvent),
  };
}

/** To four digits, which is more than was measured. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
