import { Logger } from '@nestjs/common';
import type { Environment } from '../config/environment.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { messageWithCause } from '../../engine/errors.js';
import type { Degradations } from '../health/degradations.js';
import { GpuStage, type GpuState } from '../../workers/gpu/gpu-stage.js';

const LOG = new Logger('Gpu');
/**
 * The share of a run's timeout that a batch may take. If the batch is lost, the CPU needs the rest of the time to
 * repeat it.
 */
const SHARE_OF_TIMEOUT = 1 / 3;

/**
 * Creates the GPU stage, not yet started; undefined for the reason of gpuRefusal.
 * @param connectome the connectome of the workers
 */
export function gpuBeside(
  connectome: Connectome,
  environment: Environment,
  degradations: Degradations,
  onChange: () => void,
): GpuStage | undefined {
  const { CONNECTOME_FILE, BACKEND, GPU_ALLOW_SOFTWARE, RUN_TIMEOUT_MS } = environment;
  const refusal = gpuRefusal(environment, connectome);
  if (refusal !== undefined) {
    if (BACKEND !== 'cpu') LOG.log(`Simulating on the CPU only: ${refusal}`);
    return undefined;
  }
  return new GpuStage({
    opening: {
      connectomeFile: CONNECTOME_FILE,
      digest: connectome.digest,
      allowSoftware: GPU_ALLOW_SOFTWARE === 1,
    },
    batchTimeoutMs: Math.ceil(RUN_TIMEOUT_MS * SHARE_OF_TIMEOUT),
    onChange: (state) => {
      report(state, degradations);
      onChange();
    },
  });
}

/** Returns the reason not to use a GPU; undefined if there is none. */
export function gpuRefusal({ BACKEND }: Environment, { metadata }: Connectome): string | undefined {
  if (BACKEND === 'cpu') return 'BACKEND=cpu';
  const synapseMv = metadata.synapseMv;
  return synapseMv === undefined
    ? undefined
    : `a GPU knows no gain but the usual one, and this model has ${synapseMv} mV`;
}

function report(state: GpuState, degradations: Degradations): void {
  if (state.name === 'ready') {
    degradations.set('gpu');
    LOG.log(`Simulating on ${state.adapter}`);
  } else if (state.name === 'lost') {
    LOG.warn(`The GPU was lost: ${messageWithCause(state.error)}`);
    degradations.set('gpu', `The CPU has taken over from the GPU: ${state.reason}`);
  }
}
