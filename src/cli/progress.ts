/**
 * Shows how far a command has come, on standard error: one line that is written anew on a terminal; in a log
 * a plain line where a step begins, and one every ten seconds while it lasts.
 */
import type { Progress } from '../compiler/progress.js';

const TERMINAL_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 10_000;
const ERASE_LINE = '\r\u001b[2K';
const BYTES_PER_MB = 1e6;

/** What is needed of a stream such as process.stderr. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export class ProgressLine implements Progress {
  #step = '';
  #total = 0;
  #unit: 'bytes' | 'items' = 'items';
  #done = 0;
  #before = 0;
  #secondsLeft: number | undefined;
  #beganAtMs = 0;
  #shownAtMs = 0;

  /** @param clock in ms; tests pass their own */
  constructor(
    private readonly stream: ProgressStream = process.stderr,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  begin(step: string, total: number, unit: 'bytes' | 'items', before = 0): void {
    this.end();
    this.#step = step;
    this.#total = total;
    this.#unit = unit;
    this.#done = this.#before = before;
    this.#secondsLeft = undefined;
    this.#beganAtMs = this.#shownAtMs = this.clock();
    this.stream.write(this.stream.isTTY ? `${this.#fitted()}` : `${step}\n`);
  }

  /**
   * @param total where it has changed since the step began
   * @param secondsLeft where it is known better than by the rate so far
   */
  reached(done: number, total = this.#total, secondsLeft?: number): void {
    this.#done = done;
    this.#total = total;
    this.#secondsLeft = secondsLeft;
    const now = this.clock();
    if (now - this.#shownAtMs < (this.stream.isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS)) {
      return;
    }
    this.#shownAtMs = now;
    this.stream.write(this.stream.isTTY ? `${ERASE_LINE}${this.#fitted()}` : `${this.#text()}\n`);
  }

  /** Writes a sentence on a separate line; the current step continues below it. */
  note(sentence: string): void {
    const isUnderWay = this.#step !== '' && this.stream.isTTY === true;
    this.stream.write(`${isUnderWay ? ERASE_LINE : ''}${sentence}\n${isUnderWay ? this.#fitted() : ''}`);
  }

  /** Clears the line on a terminal, so that what follows begins on a fresh one. Call it when all is done. */
  end(): void {
    if (this.#step !== '' && this.stream.isTTY) {
      this.stream.write(ERASE_LINE);
    }
    this.#step = '';
  }

  /** A line that a terminal would wrap could not be erased again. Some terminals say that they have 0 columns. */
  #fitted(): string {
    return this.#text().slice(0, (this.stream.columns || 80) - 1);
  }

  #text(): string {
    if (this.#done === 0) {
      return `${this.#step} …`;
    }
    const seconds = (this.clock() - this.#beganAtMs) / 1000;
    const rate = (this.#done - this.#before) / seconds;
    const parts = [this.#amount()];
    if (seconds >= 1) {
      if (this.#unit === 'bytes') {
        parts.push(`${(rate / BYTES_PER_MB).toFixed(1)} MB/s`);
      }
      if (this.#total > this.#done && rate > 0) {
        parts.push(`${duration(this.#secondsLeft ?? (this.#total - this.#done) / rate)} left`);
      }
    }
    return `${this.#step}: ${parts.join(', ')}`;
  }

  #amount(): string {
    const inUnit = (n: number) =>
      this.#unit === 'bytes' ? `${(n / BYTES_PER_MB).toFixed(1)} MB` : String(Math.round(n));
    if (this.#total <= 0) {
      return inUnit(this.#done);
    }
    const percent = Math.floor((100 * this.#done) / this.#total);
    return `${percent} % of ${inUnit(this.#total)}`;
  }
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
