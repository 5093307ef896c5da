/**
 * Shows the progress of a command on standard error. On a terminal, one line is updated in place. In a log, a line is
 * written when a step begins and every ten seconds until it ends.
 */
import type { Progress } from '../compiler/progress.js';

const TERMINAL_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 10_000;
const ERASE_LINE = '\r\u001b[2K';
const BYTES_PER_MB = 1e6;

/** The members of a stream such as process.stderr that are used here. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** The current step. */
interface Step {
  readonly name: string;
  readonly unit: 'bytes' | 'items';
  readonly beganAtMs: number;
  /** Amount done by an earlier attempt; it does not count for the rate. */
  readonly before: number;
  total: number;
  done: number;
  secondsLeft: number | undefined;
  shownAtMs: number;
}

export class ProgressLine implements Progress {
  #step: Step | undefined;
  readonly #isTerminal: boolean;

  /** @param clock in ms; tests pass their own */
  constructor(
    private readonly stream: ProgressStream = process.stderr,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.#isTerminal = stream.isTTY === true;
  }

  begin(name: string, total: number, unit: 'bytes' | 'items', before = 0): void {
    this.end();
    const now = this.clock();
    const start = { beganAtMs: now, shownAtMs: now, done: before, secondsLeft: undefined };
    this.#step = { name, unit, total, before, ...start };
    this.stream.write(this.#isTerminal ? this.#line(this.#step) : `${name}\n`);
  }

  /**
   * @param total if it has changed since the step began
   * @param secondsLeft an estimate that is better than that from the rate so far
   */
  reached(done: number, total = this.#step?.total ?? 0, secondsLeft?: number): void {
    const step = this.#step;
    if (step === undefined) return;
    Object.assign(step, { done, total, secondsLeft });
    const now = this.clock();
    if (now - step.shownAtMs < (this.#isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS)) return;
    step.shownAtMs = now;
    this.stream.write(this.#isTerminal ? ERASE_LINE + this.#line(step) : `${this.#text(step)}\n`);
  }

  /** Writes a sentence on a separate line; the current step continues below it. */
  note(sentence: string): void {
    const step = this.#isTerminal ? this.#step : undefined;
    this.stream.write(step === undefined ? `${sentence}\n` : `${ERASE_LINE}${sentence}\n${this.#line(step)}`);
  }

  /** Ends the step and clears its line on a terminal. */
  end(): void {
    if (this.#step !== undefined && this.#isTerminal) this.stream.write(ERASE_LINE);
    this.#step = undefined;
  }

  /** Cut to the width of the terminal, because a wrapped line could not be erased. Some terminals report 0 columns. */
  #line(step: Step): string {
    return this.#text(step).slice(0, (this.stream.columns || 80) - 1);
  }

  #text({ name, unit, done, total, before, beganAtMs, secondsLeft }: Step): string {
    if (done === 0) return `${name} …`;
    const inUnit = (n: number) =>
      unit === 'bytes' ? `${(n / BYTES_PER_MB).toFixed(1)} MB` : String(Math.round(n));
    const parts = [total > 0 ? `${Math.floor((100 * done) / total)} % of ${inUnit(total)}` : inUnit(done)];
    const seconds = (this.clock() - beganAtMs) / 1000;
    const rate = (done - before) / seconds;
    if (seconds >= 1 && unit === 'bytes') parts.push(`${(rate / BYTES_PER_MB).toFixed(1)} MB/s`);
    if (seconds >= 1 && total > done && rate > 0) {
      parts.push(`${duration(secondsLeft ?? (total - done) / rate)} left`);
    }
    return `${name}: ${parts.join(', ')}`;
  }
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
