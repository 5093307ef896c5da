/** Measurements of a canvas, in its data attributes: the script time of its frames, and its draw calls. */

/** Frames between two updates of the script time. */
const TIMED_FRAMES = 10;

export class FrameTimes {
  #times: number[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** @param scriptMs of a frame that was drawn */
  note(scriptMs: number, drawCalls: number): void {
    this.canvas.dataset['drawCalls'] = String(drawCalls);
    this.#times.push(scriptMs);
    if (this.#times.length < TIMED_FRAMES) return;
    const sorted = this.#times.sort((a, b) => a - b);
    this.canvas.dataset['frameScriptMs'] = sorted[TIMED_FRAMES / 2]!.toFixed(2);
    this.#times = [];
  }
}
