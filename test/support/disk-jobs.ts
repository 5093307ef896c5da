import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskJobStore, type DiskLimits } from '../../src/service/jobs/disk-job-store.js';
import { JobsDisk } from '../../src/service/jobs/jobs-disk.js';

export const DISK_JOB_LIMITS: DiskLimits = {
  perClient: 9,
  atOnce: 20,
  brainMsPerClient: 1e9,
  resultBytes: 1e6,
  maxFinished: 9,
  storedForMs: 60_000,
  maxStoredBytes: 1e6,
  unfinishedBytesPerClient: 1e6,
};
/** Short, so that tests need not wait. */
const RETRY_EVERY_MS = 50;
const opened: DiskJobStore[] = [];

/** A folder for the jobs of one service: two that share one would refuse jobs. */
export function jobsFolder(): string {
  return mkdtempSync(join(tmpdir(), 'jobs-'));
}

export interface OpenedDiskJobs {
  readonly store: DiskJobStore;
  /** Reasons for which jobs were refused; 'open' each time the store was opened. */
  readonly events: readonly string[];
}

/** Opens a store, by default in a new folder. Close it with closeDiskJobs. */
export async function openDiskJobs(
  limits: Partial<DiskLimits> = {},
  { path = jobsFolder(), nowMs = Date.now }: { path?: string; nowMs?: () => number } = {},
): Promise<OpenedDiskJobs> {
  const events: string[] = [];
  const listener = { onAway: (reason: string) => events.push(reason), onOpen: () => events.push('open') };
  const store = new DiskJobStore(
    new JobsDisk(path, listener, RETRY_EVERY_MS),
    { ...DISK_JOB_LIMITS, ...limits },
    nowMs,
  );
  opened.push(store);
  await store.open();
  return { store, events };
}

/** Closes all stores that a test opened. */
export async function closeDiskJobs(): Promise<void> {
  await Promise.all(opened.splice(0).map((store) => store.close()));
}
