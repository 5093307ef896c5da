import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { resourceLimits } from 'node:worker_threads';

/** Interval of checks. A check takes about 10 us. */
const LOOK_EVERY_MS = 100;
/** Least time between two full collections. With a heap this full, one takes up to a second. */
const COLLECT_EVERY_MS = 5_000;
const FULL_SHARE = 0.6;
const BYTES_PER_MB = 1024 * 1024;

/**
 * Checks the heap of this thread between two pieces of work, and ends the largest experiment if the heap is nearly
 * full. Node's own limit would end the thread with all experiments. If a single call of a builtin exceeds that limit,
 * it ends the process.
 */
export class HeapWatch {
  #lookedMs = 0;
  #collectedMs = -Infinity;
  #collect: (() => void) | undefined;

  /** @param onFull called to free memory */
  constructor(private readonly onFull: () => void) {}

  check(nowMs = performance.now()): void {
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return;
    this.#lookedMs = nowMs;
    if (!isFull()) return;
    // Collect first, because most of the heap may be garbage.
    if (nowMs - this.#collectedMs < COLLECT_EVERY_MS) return;
    this.#collectedMs = nowMs;
    this.#collect ??= garbageCollector();
    this.#collect();
    if (isFull()) this.onFull();
  }
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function isFull(): boolean {
  // heap_size_limit includes the young generation, which is larger than the old one since Node 24.
  const { maxOldGenerationSizeMb: limitMb = Infinity } = resourceLimits;
  return getHeapStatistics().used_heap_size > FULL_SHARE * limitMb * BYTES_PER_MB;
}
