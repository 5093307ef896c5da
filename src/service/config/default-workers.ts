/** The default number of workers: as many as the cores can keep busy and as the memory can hold. */
import { availableParallelism, totalmem } from 'node:os';

const MEBIBYTE = 1024 * 1024;
/** Memory of the process without its workers: the connectome, the cache, jobs and the experiment thread. */
const PROCESS_BYTES = 768 * MEBIBYTE;
/** Memory of a worker: the limit of its heap. Idle workers take a sixth (docs/operations.md, Size). */
const WORKER_BYTES = 256 * MEBIBYTE;

/**
 * @param cores number of cores that the process may use
 * @param memoryBytes memory of the container or the machine
 */
export function defaultWorkers(cores: number, memoryBytes: number): { workers: number; reason: string } {
  const ofCores = Math.max(2, cores - 1);
  const ofMemory = Math.max(1, Math.floor((memoryBytes - PROCESS_BYTES) / WORKER_BYTES));
  return ofMemory < ofCores
    ? { workers: ofMemory, reason: `as ${Math.floor(memoryBytes / MEBIBYTE)} MiB of memory allow` }
    : { workers: ofCores, reason: `as ${cores} ${cores === 1 ? 'core allows' : 'cores allow'}` };
}

// Node reports a huge number if there is no limit, and 0 if the limit is unknown. It reads cgroups of versions 1 and
// 2.
const limitBytes = process.constrainedMemory() || Infinity;

export const DEFAULT_WORKERS = defaultWorkers(availableParallelism(), Math.min(totalmem(), limitBytes));
