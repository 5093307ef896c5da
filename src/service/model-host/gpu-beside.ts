import { Logger } from '@nestjs/common';
import type { Environment } from '../config/environment.js';
import { DEFAULT_EXPERIMENT, type Experiment } from '../../presets/experiment.js';
import { availableStimuli, protocolOf } from '../../presets/presets.js';
import type { Connectome } from '../../connectome/connectome.js';
import { messageWithCause } from '../../errors.js';
import type { Degradations } from '../health/degradations.js';
import type { ExperimentPool } from '../../scheduling/experiment-pool.js';
import type { BatchTask } from '../../scheduling/gpu/gpu-stage.js';
import { GpuStage, type GpuState } from '../../scheduling/gpu/gpu-stage.js';

const LOG = new Logger('Gpu');
/** Share of the time that a run may take: the CPU has to repeat a lost batch before its clients give up. */
const SHARE_OF_TIMEOUT = 1 / 3;

/**
 * The GPU that helps a pool of workers, not yet started; undefined where gpuRefusal says why not.
 * @param connectome held by the workers
 */
export function gpuBeside(
  pool: ExperimentPool,
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
  const stimuli = availableStimuli(connectome.metadata);
  return new GpuStage({
    opening: {
      connectomeFile: CONNECTOME_FILE,
      digest: connectome.digest,
      allowSoftware: GPU_ALLOW_SOFTWARE === 1,
    },
    gpuRequired: BACKEND === 'gpu',
    batchTimeoutMs: Math.ceil(RUN_TIMEOUT_MS * SHARE_OF_TIMEOUT),
    samples: (stimuli.length > 0 ? stimuli : (['none'] as const)).map((stimulus) => {
      const experiment = { ...DEFAULT_EXPERIMENT, stimulus };
      return {
        ...batchTaskOf(connectome, experiment),
        simulateOnCpu: async () => {
          const { timings } = await pool.run({ kind: 'v1-run', experiment, view: 'drive', gzip: false });
          return timings.simulateMs;
        },
      };
    }),
    cpuWorkers: pool.workers,
    onChange: (state) => {
      report(state, degradations);
      onChange();
    },
  });
}

/** Says why no GPU is looked for; undefined where one is. */
export function gpuRefusal({ BACKEND }: Environment, { metadata }: Connectome): string | undefined {
  if (BACKEND === 'cpu') return 'BACKEND=cpu';
  const synapseMv = metadata.synapseMv;
  return synapseMv === undefined
    ? undefined
    : `a GPU knows no gain but the usual one, and this model has ${synapseMv} mV`;
}

/** Task that the queue offers to the GPU of a run of version 1. */
export function batchTaskOf(connectome: Connectome, experiment: Experiment): BatchTask {
  return { protocol: protocolOf(connectome, experiment), group: experiment.stimulus };
}

function report(state: GpuState, degradations: Degradations): void {
  switch (state.name) {
    case 'off':
      degradations.end('gpu');
      LOG.log(`Simulating on the CPU only: ${state.reason}`);
      break;
    case 'ready':
      degradations.end('gpu');
      LOG.log(`Also simulating on ${state.adapter}, in batches of ${state.batchFrom} or more`);
      break;
    case 'lost':
      LOG.warn(`The GPU was lost: ${messageWithCause(state.error)}`);
      degradations.begin({ part: 'gpu', reason: `The CPU has taken over from the GPU: ${state.reason}` });
  }
}
