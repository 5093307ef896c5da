import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { resourceLimits } from 'node:worker_threads';

/** Looking costs some 10 us. */
const LOOK_EVERY_MS = 100;
/** A full collection takes up to a second where the heap is that full. */
const COLLECT_EVERY_MS = 5_000;
const FULL_SHARE = 0.6;
const BYTES_PER_MB = 1024 * 1024;

/**
 * Looks at the heap of this thread between two pieces of work. A limit of the heap alone would end the thread with all
 * experiments, and what grows within one call of a builtin ends the process.
 */
export class HeapWatch {
  #lookedMs = 0;
  #collectedMs = -Infinity;
  #collect: (() => void) | undefined;

  /** @param onFull ends what takes the most */
  constructor(private readonly onFull: () => void) {}

  check(nowMs = performance.now()): void {
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return;
    this.#lookedMs = nowMs;
    if (!isFull()) return;
    // Most of it may be garbage.
    if (nowMs - this.#collectedMs < COLLECT_EVERY_MS) return;
    this.#collectedMs = nowMs;
    this.#collectGarbage();
    if (isFull()) this.onFull();
  }

  #collectGarbage(): void {
    if (this.#collect === undefined) {
      setFlagsFromString('--expose-gc');
      this.#collect = runInNewContext('gc') as () => void;
    }
    this.#collect();
  }
}

function isFull(): boolean {
  // heap_size_limit has the young generation in it, which is larger than the old one from Node 24 on.
  const { maxOldGenerationSizeMb: limitMb = Infinity } = resourceLimits;
  return getHeapStatistics().used_heap_size > FULL_SHARE * limitMb * BYTES_PER_MB;
}
