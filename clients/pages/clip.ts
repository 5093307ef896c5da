/** Saves some seconds of the stage as a video: brain and fly as they are on the page, with their captions and badges. */
import type { FlyView } from './body/fly-view.js';
import { byId, element, save } from './dom.js';
import { isLive } from './live/hold-buttons.js';
import type { Playback } from './playback.js';
import type { Stage } from './stage.js';
import { readTheme, type Theme } from './theme.js';

const [WIDTH, HEIGHT] = [1280, 720];
const CAPTION_HEIGHT = 48;
const MARGIN = 12;
const FONT = '20px system-ui, sans-serif';
const FRAMES_PER_S = 30;
const BITS_PER_S = 6_000_000;
const CLIP_MS = 6000;
const SAVE = 'Save a video of 6 s';
const EXTENSIONS = { 'video/mp4': 'mp4', 'video/webm': 'webm' } as const;

/** Undefined if the browser records none of them. */
const TYPE = (Object.keys(EXTENSIONS) as (keyof typeof EXTENSIONS)[]).find(
  (type) => 'MediaRecorder' in window && MediaRecorder.isTypeSupported(type),
);

export class ClipButton {
  readonly #button = byId<HTMLButtonElement>('save-clip');
  readonly #note = byId('live-note');
  #recorder: MediaRecorder | undefined;

  /** @param shown returns what is on the stage */
  constructor(
    private readonly playback: Playback,
    private readonly shown: () => readonly (Stage | FlyView)[],
  ) {
    this.#button.hidden = TYPE === undefined;
    this.#button.addEventListener('click', () => {
      if (this.#recorder === undefined) void this.#record();
      else this.#recorder.stop();
    });
  }

  /** Records until the time is over or the button is pressed again, and downloads the video. */
  async #record(): Promise<void> {
    const canvas = element('canvas', { width: WIDTH, height: HEIGHT });
    const context = canvas.getContext('2d', { alpha: false })!;
    const stream = canvas.captureStream(FRAMES_PER_S);
    const recorder = new MediaRecorder(stream, { mimeType: TYPE!, videoBitsPerSecond: BITS_PER_S });
    this.#recorder = recorder;
    const parts: Blob[] = [];
    recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
    const ended = new Promise((resolve) => recorder.addEventListener('stop', resolve));
    if (!isLive()) {
      this.playback.seek(0);
      this.playback.toggle();
    }
    this.#note.textContent = 'Recording. Press again to end it earlier.';
    const endMs = performance.now() + CLIP_MS;
    const stopDrawing = this.playback.onFrame(() => {
      drawStage(context, this.shown());
      const leftS = Math.max(0, Math.ceil((endMs - performance.now()) / 1000));
      this.#button.textContent = `Recording: ${leftS} s`;
    });
    try {
      recorder.start();
      const timer = setTimeout(() => recorder.stop(), CLIP_MS);
      await ended;
      clearTimeout(timer);
    } catch {
      // The browser refuses to record; the note says that there is no picture.
    } finally {
      stopDrawing();
      for (const track of stream.getTracks()) track.stop();
      this.#recorder = undefined;
      this.#button.textContent = SAVE;
    }
    const name = `fly.${EXTENSIONS[TYPE!]}`;
    const video = new Blob(parts, { type: TYPE! });
    this.#note.textContent = video.size > 0 ? `Saved as ${name}.` : 'The browser recorded no picture.';
    if (video.size > 0) save(video, name);
  }
}

/** Draws the views at their places on the page, larger ones first, and a line of text below them. */
function drawStage(context: CanvasRenderingContext2D, views: readonly (Stage | FlyView)[]): void {
  const theme = readTheme();
  const all = byId('views').getBoundingClientRect();
  const scale = Math.min(WIDTH / all.width, (HEIGHT - CAPTION_HEIGHT) / all.height);
  const left = (WIDTH - scale * all.width) / 2 - scale * all.left;
  const pictures = views
    .map((view) => view.picture())
    .map((canvas) => ({ canvas, box: canvas.getBoundingClientRect() }))
    .filter(({ canvas }) => canvas.width > 0 && canvas.height > 0)
    .sort((a, b) => b.box.width * b.box.height - a.box.width * a.box.height);
  context.fillStyle = theme.stage;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.font = FONT;
  context.textBaseline = 'middle';
  for (const { canvas, box } of pictures) {
    const [x, y] = [left + scale * box.left, scale * (box.top - all.top)];
    const [width, height] = [scale * box.width, scale * box.height];
    context.drawImage(canvas, x, y, width, height);
    context.strokeStyle = theme.line;
    context.strokeRect(x, y, width, height);
    const caption = canvas.parentElement!.querySelector('figcaption');
    if (caption === null) continue;
    drawBadge(context, caption.querySelector('.badge')!, x + MARGIN, y + MARGIN);
    context.fillStyle = theme.text;
    context.fillText(textOf(caption.querySelector('.act')!), x + MARGIN, y + height - 20, width - 2 * MARGIN);
  }
  drawCaption(context, theme);
}

function drawBadge(context: CanvasRenderingContext2D, badge: HTMLElement, x: number, y: number): void {
  const text = textOf(badge);
  const colour = getComputedStyle(badge).color;
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.strokeRect(x, y, context.measureText(text).width + 2 * MARGIN, 30);
  context.fillText(text, x + MARGIN, y + 15);
}

/** Writes what happens on the left, and the source on the right. */
function drawCaption(context: CanvasRenderingContext2D, theme: Theme): void {
  const pressed = document.querySelector('.hold[aria-pressed=true]');
  const verdict = textOf(byId('why').querySelector('summary')!).replace(/ engineered$/, '');
  const what = isLive()
    ? `A live fly${pressed === null ? '' : `: ${textOf(pressed)}`}`
    : `${verdict} ${textOf(byId('shown-moment'))}`;
  const y = HEIGHT - CAPTION_HEIGHT / 2;
  context.fillStyle = theme.text;
  context.fillText(what, MARGIN, y, 0.62 * WIDTH);
  context.fillStyle = theme.muted;
  context.textAlign = 'right';
  context.fillText(`${document.title}, ${textOf(byId('wiring'))}`, WIDTH - MARGIN, y, 0.34 * WIDTH);
  context.textAlign = 'left';
}

function textOf(element: Element): string {
  return element.textContent.replace(/\s+/g, ' ').trim();
}
