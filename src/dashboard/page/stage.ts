/** The brain, its playback, and the one animation loop of the page. */
import type { CompactAtlas } from '../../connectome/atlas-binary.js';
import { SIDES } from '../../connectome/connectome.js';
import { BrainView, LIGHT_STRIDE, type Picked, VIEWPOINTS } from './brain/brain-view.js';
import { glowAt, glowOfWholeRun } from './brain/glow.js';
import { byId, element, grouped } from './dom.js';
import { DEFAULT_SPEED, Player, SPEEDS } from './player.js';
import { drawTimeline } from './plots/timeline.js';
import type { TopType } from '../../answers/v1/api/run-response.dto.js';
import type { Run } from './service/run-result.js';
import { SUPER_CLASSES, superClassIndex, type Theme } from './theme.js';

/** Frames between two updates of the script time that the canvas tells. */
const TIMED_FRAMES = 30;
const withLessMotion = matchMedia('(prefers-reduced-motion: reduce)');

export class Stage {
  readonly #canvas = byId<HTMLCanvasElement>('brain');
  readonly #time = byId<HTMLInputElement>('time');
  readonly #play = byId<HTMLButtonElement>('play');
  readonly #tooltip = byId('tooltip');
  readonly #player = new Player();
  readonly #view: BrainView;
  readonly #frameMs: number[] = [];
  #run: Run | undefined;
  #kept: Run | undefined;
  #lastFrame = performance.now();
  #timeChanged = false;
  #pointer: { x: number; y: number } | undefined;

  /** @param onTime is told the moment that is shown, in model ms */
  constructor(
    private readonly atlas: CompactAtlas,
    private readonly onTime: (timeMs: number) => void,
  ) {
    const labels = [...document.querySelectorAll<HTMLElement>('.side-label')];
    this.#view = new BrainView(this.#canvas, labels, atlas);
    this.#fillLegend();
    this.#listen();
    requestAnimationFrame((now) => this.#frame(now));
  }

  setTheme(theme: Theme): void {
    this.#view.setTheme(theme);
  }

  /** Takes a run, and the one it is compared with, and plays them. */
  show(run: Run, kept: Run | undefined): void {
    this.#run = run;
    this.#kept = kept;
    const durationMs = Math.max(run.response.duration_ms, kept?.response.duration_ms ?? 0);
    this.#player.load(durationMs);
    this.#time.max = String(durationMs);
    this.#time.disabled = false;
    this.#play.disabled = false;
    const svg = document.getElementById('timeline-spikes') as unknown as SVGSVGElement;
    drawTimeline(svg, durationMs, run.response.frames, kept?.response.frames ?? []);
    if (!withLessMotion.matches) this.#player.toggle();
    this.#timeChanged = true;
  }

  seek(timeMs: number): void {
    this.#player.seek(timeMs);
    this.#timeChanged = true;
  }

  mark(type: TopType | undefined): void {
    this.#view.mark(type?.type, type?.super_class);
  }

  #listen(): void {
    const speed = byId<HTMLSelectElement>('speed');
    for (const each of SPEEDS) {
      speed.append(new Option(`1/${Math.round(1 / each)} speed`, String(each), each === DEFAULT_SPEED));
    }
    speed.value = String(DEFAULT_SPEED);
    speed.addEventListener('change', () => (this.#player.speed = Number(speed.value)));
    const toggle = (): void => {
      this.#player.toggle();
      this.#timeChanged = true;
    };
    this.#play.addEventListener('click', toggle);
    this.#time.addEventListener('input', () => this.seek(Number(this.#time.value)));
    document.querySelectorAll<HTMLElement>('[data-viewpoint]').forEach((button) => {
      button.addEventListener('click', () =>
        this.#view.lookFrom(button.dataset['viewpoint'] as keyof typeof VIEWPOINTS),
      );
    });
    this.#canvas.addEventListener('keydown', (event) => {
      if (event.key !== ' ') return;
      event.preventDefault();
      toggle();
    });
    this.#canvas.addEventListener('pointermove', (event) => {
      this.#pointer = event.buttons === 0 ? { x: event.offsetX, y: event.offsetY } : undefined;
      this.#tooltip.hidden = true;
    });
    this.#canvas.addEventListener('pointerleave', () => {
      this.#pointer = undefined;
      this.#tooltip.hidden = true;
    });
  }

  #frame(now: number): void {
    requestAnimationFrame((next) => this.#frame(next));
    const started = performance.now();
    if (this.#player.advance(now - this.#lastFrame)) this.#timeChanged = true;
    this.#lastFrame = now;
    if (this.#timeChanged) {
      this.#timeChanged = false;
      this.#lightUp();
      this.#tellTime();
    }
    const drew = this.#view.render();
    if (drew) this.#noteFrameTime(performance.now() - started);
    if (this.#pointer !== undefined && !this.#player.playing) {
      this.#showTooltip(this.#view.pick(this.#pointer.x, this.#pointer.y));
      this.#pointer = undefined;
    }
  }

  #lightUp(): void {
    const { light } = this.#view;
    light.fill(0);
    [this.#run, this.#kept].forEach((run, offset) => {
      if (run === undefined) return;
      if (this.#player.atEnd) glowOfWholeRun(run.raster, light, offset, LIGHT_STRIDE);
      else glowAt(run.raster, this.#player.timeMs, light, offset, LIGHT_STRIDE);
    });
    this.#view.dimResting(this.#run !== undefined || this.#kept !== undefined);
    this.#view.show();
  }

  #tellTime(): void {
    const { atEnd, playing, durationMs } = this.#player;
    const timeMs = Math.min(this.#player.timeMs, durationMs);
    const text = atEnd
      ? 'Whole run: every neuron that spiked'
      : `${timeMs.toFixed(1)} ms of ${durationMs} ms`;
    byId('shown-moment').textContent = text;
    this.#time.value = String(timeMs);
    this.#time.setAttribute('aria-valuetext', text);
    this.#play.classList.toggle('playing', playing);
    this.#play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    this.onTime(timeMs);
  }

  #noteFrameTime(ms: number): void {
    this.#frameMs.push(ms);
    if (this.#frameMs.length < TIMED_FRAMES) return;
    const sorted = this.#frameMs.splice(0).sort((a, b) => a - b);
    this.#canvas.dataset['frameScriptMs'] = sorted[TIMED_FRAMES / 2]!.toFixed(2);
    this.#canvas.dataset['drawCalls'] = String(this.#view.drawCalls);
  }

  #showTooltip(picked: Picked | undefined): void {
    this.#tooltip.hidden = picked === undefined;
    if (picked === undefined) return;
    const { neuron } = picked;
    const { name, superClass } = this.atlas.types[this.atlas.typeIndices[neuron]!]!;
    const side = SIDES[this.atlas.sides[neuron]!]!;
    const spikes = (run: Run | undefined): number =>
      run === undefined ? 0 : run.raster.neurons.reduce((sum, each) => sum + Number(each === neuron), 0);
    const facts = [superClass.replaceAll('_', ' '), side, this.#run && `${spikes(this.#run)} spikes`];
    if (this.#kept) facts.push(`${spikes(this.#kept)} in the kept run`);
    facts.push(this.atlas.estimated[neuron] === 1 ? 'position estimated' : 'position measured');
    this.#tooltip.replaceChildren(element('b', {}, name || 'untyped'), facts.filter(Boolean).join(', '));
    const right = Math.min(picked.x + 14, this.#canvas.clientWidth - this.#tooltip.offsetWidth - 6);
    const below = Math.min(picked.y + 14, this.#canvas.clientHeight - this.#tooltip.offsetHeight - 6);
    this.#tooltip.style.transform = `translate(${right}px, ${below}px)`;
  }

  #fillLegend(): void {
    const counts = new Uint32Array(SUPER_CLASSES.length + 1);
    for (const type of this.atlas.typeIndices) counts[superClassIndex(this.atlas.types[type]!.superClass)]!++;
    const items = [...SUPER_CLASSES, 'other'].flatMap((name, i) => {
      if (counts[i] === 0) return [];
      const swatch = element('span', { class: 'swatch' });
      swatch.style.setProperty('--swatch', `var(--class-${name})`);
      return [element('li', {}, swatch, `${name.replaceAll('_', ' ')} ${grouped(counts[i]!)}`)];
    });
    byId('legend').replaceChildren(...items);
  }
}
