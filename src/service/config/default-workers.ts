/** The default number of workers: as many as the cores can keep busy and as the memory can hold. */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

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

/**
 * Returns the number of cores that the quota of a container amounts to; Infinity without a quota.
 * @param read returns a file of the folder of cgroups, version 2 or 1; undefined if there is none
 */
export function quotaCores(read: (name: string) => string | undefined): number {
  const [quota, period] = read('cpu.max')?.split(' ') ?? [
    read('cpu/cpu.cfs_quota_us'),
    read('cpu/cpu.cfs_period_us'),
  ];
  const cores = Math.ceil(Number(quota) / Number(period));
  // Without a quota it is "max" in version 2, and negative in version 1.
  return cores >= 1 ? cores : Infinity;
}

function fileOfCgroup(name: string): string | undefined {
  try {
    return readFileSync(join('/sys/fs/cgroup', name), 'utf8');
  } catch {
    return undefined;
  }
}

// Node 20 does not count the quota.
const cores = Math.min(availableParallelism(), quotaCores(fileOfCgroup));

// Node reports a huge number if there is no limit, and 0 if the limit is unknown. It reads cgroups of versions 1 and
// 2.
const limitBytes = process.constrainedMemory() || Infinity;

export const DEFAULT_WORKERS = defaultWorkers(cores, Math.min(totalmem(), limitBytes));
