import { LRUCache } from 'lru-cache';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { coreMs, expectedWork, foundWork, tableRowsOf, type Work } from '../../experiments/plan/prices.js';
import type { ConditionTask, TrialResult } from '../../experiments/plan/trial.js';
import { KNOWN_CONDITIONS, type TrialBundle } from './messages.js';

/** Target CPU time of a bundle, estimated from the trials before it. */
const BUNDLE_MS = 6;
const MAX_TRIALS = 16;

interface Asked {
  readonly task: ConditionTask;
  readonly trial: number;
  readonly resolve: (result: TrialResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends short trials of one experiment in bundles. A message wakes the other thread, which takes as long as
 * simulating 100 ms. The first trials, and trials that take milliseconds, are sent one by one.
 */
export class TrialBundles {
  /** Trials requested in this turn of the event loop. */
  #asked: Asked[] = [];
  #trialsPerBundle = 1;
  /** Estimated cost of one trial of each condition. */
  readonly #expected = new WeakMap<ConditionTask, Work>();
  /** Numbers of the condition tasks that were sent. */
  readonly #sent = new LRUCache<ConditionTask, number>({ max: KNOWN_CONDITIONS });
  #conditions = 0;
  /** Rows of tables in all trials so far. */
  tableRows = 0;

  constructor(private readonly send: (bundle: TrialBundle) => Promise<readonly TrialResult[]>) {}

  /** @returns number of trials to request at once, so that `atOnce` are computed while messages are on their way */
  inFlight(atOnce: number): number {
    return this.#trialsPerBundle === 1 ? atOnce : atOnce + 2 * this.#trialsPerBundle;
  }

  run(task: ConditionTask, trial: number): Promise<TrialResult> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ task, trial, resolve, reject });
      // Waits until all requests that follow from one message's results are made.
      if (this.#asked.length === 1) process.nextTick(() => this.#sendAsked());
    });
  }

  #sendAsked(): void {
    // Separate bundles for each rewired network: one worker computes them, and other trials shall not wait for it.
    const parts = new Map<ConditionTask | undefined, Asked[]>();
    for (const each of this.#asked) {
      const isRewired = each.task.protocol.wiring !== undefined;
      getOrInsert(parts, isRewired ? each.task : undefined, (): Asked[] => []).push(each);
    }
    this.#asked = [];
    for (const asked of parts.values()) {
      for (let at = 0; at < asked.length; at += this.#trialsPerBundle)
        void this.#send(asked.slice(at, at + this.#trialsPerBundle));
    }
  }

  async #send(trials: readonly Asked[]): Promise<void> {
    try {
      const results = await this.send(trials.map(({ task, trial }) => this.#withTask(task, trial)));
      const costMs = Math.max(...trials.map(({ task }, at) => this.#costMs(task, results[at]!)));
      this.#trialsPerBundle = Math.max(1, Math.min(MAX_TRIALS, Math.floor(BUNDLE_MS / costMs)));
      trials.forEach(({ resolve }, at) => resolve(results[at]!));
    } catch (error) {
      for (const { reject } of trials) reject(error);
    }
  }

  #costMs(task: ConditionTask, result: TrialResult): number {
    const expected = getOrInsert(this.#expected, task, expectedWork);
    const found = foundWork(result, expected);
    this.tableRows += tableRowsOf(result);
    return coreMs(expected) + coreMs(found);
  }

  #withTask(task: ConditionTask, trial: number): TrialBundle[number] {
    const known = this.#sent.get(task);
    if (known !== undefined) return { condition: known, trial };
    const condition = this.#conditions++;
    this.#sent.set(task, condition);
    return { condition, task, trial };
  }
}
