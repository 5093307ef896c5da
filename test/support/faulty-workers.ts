/** Real workers that fail or wait when a test tells them to. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { QueueWorker } from '../../src/workers/queue/worker-slot.js';

/** A run or a trial with such a seed ends its worker, or never ends. */
export const EXIT_SEED = 4_000_000_001;
export const SPIN_SEED = 4_000_000_002;

export class FaultyWorkers {
  readonly file: URL;
  readonly #directory = mkdtempSync(join(tmpdir(), 'faulty-workers-'));

  constructor() {
    // The environment of Jest is its own, and no worker sees it.
    const faults = {
      FAULT_HOLD_RUNS: this.#path('v1-run'),
      FAULT_HOLD_TRIALS: this.#path('v2-trial'),
      FAULT_EXIT_SEED: String(EXIT_SEED),
      FAULT_SPIN_SEED: String(SPIN_SEED),
    };
    const file = this.#path('faulty.worker.mjs');
    writeFileSync(
      file,
      `Object.assign(process.env, ${JSON.stringify(faults)});
       export default (await import('${pathToFileURL(resolve('test/support/faulty.worker.mjs')).href}')).default;`,
    );
    this.file = pathToFileURL(file);
  }

  /** Runs or trials that begin from now on end once they are released. */
  hold(kind: 'v1-run' | 'v2-trial'): void {
    writeFileSync(this.#path(kind), '');
  }

  release(): void {
    for (const kind of ['v1-run', 'v2-trial']) rmSync(this.#path(kind), { force: true });
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

/** The worker, only that `run` is called in place of its own. */
export function withRun(worker: QueueWorker, run: QueueWorker['run']): QueueWorker {
  return {
    get state() {
      return worker.state;
    },
    run,
    restart: () => worker.restart(),
    whenChanged: (listener) => worker.whenChanged(listener),
  };
}
