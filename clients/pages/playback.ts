/** The clock of the page: playback controls, the only animation loop, and moments for all moving parts. */
import { byId } from './dom.js';
import { drawTimeline } from './plots/timeline.js';
import type { Run } from './service/run-result.js';
import { withLessMotion } from './window.js';

/** Model milliseconds for each millisecond that passes. */
const SPEEDS = [0.005, 0.01, 0.02, 0.05, 0.1];
const DEFAULT_SPEED = 0.02;
/** Time after the end in which the light of the last spikes fades. */
const TAIL_MS = 10;
/** Longest time step, so that a tab from the background continues where it was. */
const MAX_FRAME_MS = 100;

/** The visible moment of a run. */
export interface Moment {
  /** Model time, 0 to the duration. */
  readonly timeMs: number;
  /** True if the whole run is visible and not a moment of it. */
  readonly isWhole: boolean;
}

export class Playback {
  readonly #time = byId<HTMLInputElement>('time');
  readonly #play = byId<HTMLButtonElement>('play');
  readonly #listeners: ((moment: Moment) => void)[] = [];
  readonly #painters = new Set<() => void>();
  /** Model time, 0 to #durationMs + TAIL_MS. At the end the whole run is visible. */
  #timeMs = 0;
  /** Duration of the longer run; 0 before the first. */
  #durationMs = 0;
  #isPlaying = false;
  #speed = DEFAULT_SPEED;
  #lastFrame = performance.now();
  #changed = false;

  constructor() {
    const speed = byId<HTMLSelectElement>('speed');
    speed.append(...SPEEDS.map((each) => new Option(`1/${Math.round(1 / each)} speed`, String(each))));
    speed.value = String(DEFAULT_SPEED);
    speed.addEventListener('change', () => (this.#speed = Number(speed.value)));
    this.#play.addEventListener('click', () => this.toggle());
    this.#time.addEventListener('input', () => this.seek(Number(this.#time.value)));
    requestAnimationFrame((now) => this.#frame(now));
  }

  /** @param listener called with each new moment, at the latest in the animation frame after `show` */
  onMoment(listener: (moment: Moment) => void): void {
    this.#listeners.push(listener);
    this.#changed = true;
  }

  /**
   * @param paint called once in each animation frame, after the listeners
   * @returns a function that ends the calls
   */
  onFrame(paint: () => void): () => void {
    this.#painters.add(paint);
    return () => this.#painters.delete(paint);
  }

  /** Takes a run and its comparison, and plays them unless the user prefers reduced motion. */
  show(run: Run, kept: Run | undefined): void {
    const durationMs = Math.max(run.response.duration_ms, kept?.response.duration_ms ?? 0);
    this.#durationMs = durationMs;
    this.#timeMs = durationMs + TAIL_MS;
    this.#isPlaying = false;
    this.#time.max = String(durationMs);
    this.#time.disabled = false;
    this.#play.disabled = false;
    const svg = document.getElementById('timeline-spikes') as unknown as SVGSVGElement;
    drawTimeline(svg, durationMs, run.response.frames, kept?.response.frames ?? []);
    this.#changed = true;
    if (!withLessMotion.matches) this.toggle();
  }

  get playing(): boolean {
    return this.#isPlaying;
  }

  toggle(): void {
    this.#isPlaying = !this.#isPlaying && this.#durationMs > 0;
    if (this.#isPlaying && this.#isAtEnd) this.#timeMs = 0;
    this.#changed = true;
  }

  /** Pauses at a time of the model. The very end shows the whole run. */
  seek(timeMs: number): void {
    this.#isPlaying = false;
    this.#timeMs = timeMs >= this.#durationMs ? this.#durationMs + TAIL_MS : Math.max(0, timeMs);
    this.#changed = true;
  }

  /** Calls the listeners again with the current moment, for example after a change of colours. */
  refresh(): void {
    this.#changed = true;
  }

  #frame(now: number): void {
    requestAnimationFrame((next) => this.#frame(next));
    this.#advance(now - this.#lastFrame);
    this.#lastFrame = now;
    if (this.#changed && this.#durationMs > 0) {
      this.#changed = false;
      const moment = { timeMs: Math.min(this.#timeMs, this.#durationMs), isWhole: this.#isAtEnd };
      this.#show(moment);
      for (const listener of this.#listeners) listener(moment);
    }
    for (const paint of this.#painters) paint();
  }

  #advance(elapsedMs: number): void {
    if (!this.#isPlaying) return;
    const timeMs = this.#timeMs + Math.min(elapsedMs, MAX_FRAME_MS) * this.#speed;
    this.#timeMs = Math.min(timeMs, this.#durationMs + TAIL_MS);
    this.#isPlaying = !this.#isAtEnd;
    this.#changed = true;
  }

  get #isAtEnd(): boolean {
    return this.#timeMs >= this.#durationMs + TAIL_MS;
  }

  #show({ timeMs, isWhole }: Moment): void {
    const text = isWhole
      ? 'Whole run: every neuron that spiked'
      : `${timeMs.toFixed(1)} ms of ${this.#durationMs} ms`;
    byId('shown-moment').textContent = text;
    this.#time.value = String(timeMs);
    this.#time.setAttribute('aria-valuetext', text);
    this.#play.classList.toggle('playing', this.#isPlaying);
    this.#play.setAttribute('aria-label', this.#isPlaying ? 'Pause' : 'Play');
  }
}
