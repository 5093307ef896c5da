/** The clock of the playback, in model time. */

export const SPEEDS = [0.005, 0.01, 0.02, 0.05, 0.1] as const;
export const DEFAULT_SPEED = 0.02;
/** Time after the end in which the light of the last spikes fades. */
const TAIL_MS = 10;
/** Longest time step, so that a tab from the background continues where it was. */
const MAX_FRAME_MS = 100;

export class Player {
  /** Model time, 0 to durationMs; at the end the whole run is visible. */
  timeMs = 0;
  playing = false;
  /** Model milliseconds for each millisecond that passes. */
  speed: number = DEFAULT_SPEED;
  #durationMs = 0;

  /** Takes a new run and moves to its end. */
  load(durationMs: number): void {
    this.#durationMs = durationMs;
    this.timeMs = durationMs + TAIL_MS;
    this.playing = false;
  }

  get durationMs(): number {
    return this.#durationMs;
  }

  get atEnd(): boolean {
    return this.timeMs >= this.#durationMs + TAIL_MS;
  }

  toggle(): void {
    this.playing = !this.playing && this.#durationMs > 0;
    if (this.playing && this.atEnd) this.timeMs = 0;
  }

  /** Scrubbing pauses; the very end shows the whole run. */
  seek(timeMs: number): void {
    this.playing = false;
    this.timeMs = timeMs >= this.#durationMs ? this.#durationMs + TAIL_MS : Math.max(0, timeMs);
  }

  /** @returns whether the time has changed */
  advance(elapsedMs: number): boolean {
    if (!this.playing) return false;
    this.timeMs += Math.min(elapsedMs, MAX_FRAME_MS) * this.speed;
    if (this.atEnd) {
      this.timeMs = this.#durationMs + TAIL_MS;
      this.playing = false;
    }
    return true;
  }
}
