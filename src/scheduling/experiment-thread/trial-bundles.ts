import { LRUCache } from 'lru-cache';
import { coreMs, expectedWork, foundWork, tableRowsOf, type Work } from '../../experiments/plan/prices.js';
import type { ConditionTask, TrialReading } from '../../experiments/plan/trial.js';
import { KNOWN_CONDITIONS, type TrialBundle } from './messages.js';

/** Time of a core that the trials of a bundle take, as far as those before them tell. */
const BUNDLE_MS = 6;
const MAXIMUM_LENGTH = 16;

interface Asked {
  readonly task: ConditionTask;
  readonly trial: number;
  readonly resolve: (reading: TrialReading) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends short trials of one experiment in bundles: a message to another thread wakes it, which takes as long as a
 * trial of 100 ms. The first trials, and those that take milliseconds, are sent one by one.
 */
export class TrialBundles {
  /** Trials that are asked for in this turn of the event loop. */
  #asked: Asked[] = [];
  #length = 1;
  /** Work that is expected of a trial of each condition. */
  readonly #expected = new WeakMap<ConditionTask, Work>();
  /** Numbers of tasks that were sent. */
  readonly #sent = new LRUCache<ConditionTask, number>({ max: KNOWN_CONDITIONS });
  #conditions = 0;
  /** Rows of tables of all trials so far. */
  tableRows = 0;

  constructor(private readonly send: (bundle: TrialBundle) => Promise<readonly TrialReading[]>) {}

  /** @returns trials to ask for at once, so that as many as given are computed while messages are under way */
  inFlight(atOnce: number): number {
    return this.#length === 1 ? atOnce : atOnce + 2 * this.#length;
  }

  run(task: ConditionTask, trial: number): Promise<TrialReading> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ task, trial, resolve, reject });
      // After all that the readings of one message lead to.
      if (this.#asked.length === 1) process.nextTick(() => this.#sendAsked());
    });
  }

  #sendAsked(): void {
    // Those of a rewired network go to one worker: others do not wait for them.
    const parts = new Map<ConditionTask | undefined, Asked[]>();
    for (const each of this.#asked) {
      const key = each.task.protocol.wiring && each.task;
      if (!parts.has(key)) parts.set(key, []);
      parts.get(key)!.push(each);
    }
    this.#asked = [];
    for (const asked of parts.values()) {
      for (let at = 0; at < asked.length; at += this.#length)
        void this.#send(asked.slice(at, at + this.#length));
    }
  }

  async #send(trials: readonly Asked[]): Promise<void> {
    try {
      const readings = await this.send(trials.map(({ task, trial }) => this.#withTask(task, trial)));
      const costMs = Math.max(...trials.map(({ task }, at) => this.#costMs(task, readings[at]!)));
      this.#length = Math.max(1, Math.min(MAXIMUM_LENGTH, Math.floor(BUNDLE_MS / costMs)));
      trials.forEach(({ resolve }, at) => resolve(readings[at]!));
    } catch (error) {
      for (const { reject } of trials) reject(error);
    }
  }

  #costMs(task: ConditionTask, reading: TrialReading): number {
    let expected = this.#expected.get(task);
    if (expected === undefined) {
      expected = expectedWork(task);
      this.#expected.set(task, expected);
    }
    const found = foundWork(reading, expected);
    this.tableRows += tableRowsOf(reading);
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
