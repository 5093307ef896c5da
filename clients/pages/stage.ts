/** The brain, and its reactions to a pointer. */
import type { CompactAtlas } from '../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../src/engine/connectome/connectome.js';
import { BrainView } from './brain/brain-view.js';
import {
  glowAt,
  glowOfDifference,
  glowOfWholeRun,
  KEPT_BYTE,
  RUN_BYTE,
  subtractShared,
} from './brain/glow.js';
import { byId, element, grouped, swatch } from './dom.js';
import type { Notices } from './notices.js';
import type { Moment, Playback } from './playback.js';
import { labelOfType, neuronsOf, type Selection, spoken } from './selection.js';
import type { Run } from './service/run-result.js';
import { SUPER_CLASSES, superClassIndex, type Theme } from './theme.js';
import { withLessMotion } from './window.js';

/** If the pointer moves farther between press and release, it turns the brain. */
const CLICK_PIXELS = 5;
/** The slow turn at rest, from side to side, a few times. */
const TURN = { radians: 0.2, periodMs: 20_000, periods: 4 } as const;
/** After a longer pause, such as in the background, the turn continues where it was. */
const MAX_PAUSE_MS = 1000;

export class Stage {
  readonly #canvas = byId<HTMLCanvasElement>('brain');
  readonly #frame = byId('canvas-frame');
  readonly #tooltip = byId('tooltip');
  readonly #turning = byId<HTMLButtonElement>('turning');
  readonly #difference = byId<HTMLButtonElement>('difference');
  readonly #view: BrainView;
  #run: Run | undefined;
  #kept: Run | undefined;
  /** Neurons that spike in either run. */
  #spiking: ReadonlySet<number> = new Set();
  #pointer: { x: number; y: number } | undefined;
  #isLive = false;
  /** Time for which the brain has turned at rest. It stops after all periods, on a drag, or by its button. */
  #turnedMs = 0;
  #lastPaint = 0;
  #isSeen = true;

  /**
   * @param onSelect called with the clicked neuron, or undefined
   * @throws Error if the browser has no WebGL
   */
  constructor(
    private atlas: CompactAtlas,
    private readonly playback: Playback,
    private readonly notices: Notices,
    private readonly onSelect: (selection: Selection | undefined) => void,
  ) {
    const labels = [...document.querySelectorAll<HTMLElement>('.side-label')];
    this.#view = new BrainView(this.#canvas, labels, atlas);
    this.#fillLegend();
    this.#listen();
    playback.onMoment((moment) => this.#lightUp(moment));
    playback.onFrame(() => this.#paint());
  }

  setTheme(theme: Theme): void {
    this.#view.setTheme(theme);
  }

  /** Takes the whole atlas after its first part. */
  setAtlas(atlas: CompactAtlas): void {
    this.atlas = atlas;
    this.#view.setAtlas(atlas);
  }

  show(run: Run, kept: Run | undefined): void {
    this.#isLive = false;
    this.#run = run;
    this.#kept = kept;
    this.#spiking = new Set([...run.counts.keys(), ...(kept?.counts.keys() ?? [])]);
    this.#view.expect(this.#spiking);
    byId('comparison').hidden = kept === undefined;
    this.playback.refresh();
  }

  /**
   * Shows the light of a live brain, until a run is shown again.
   * @param neurons that may be lit from now on
   */
  setLive(neurons: Iterable<number>): void {
    if (!this.#isLive) this.#view.light.fill(0);
    this.#isLive = true;
    this.#view.expect(neurons);
    byId('comparison').hidden = true;
  }

  /** @param write writes the light of this frame; returns true if it changed */
  lightLive(write: (light: Uint8Array) => boolean): void {
    if (this.#isLive && write(this.#view.light)) this.#view.show();
  }

  /** Draws again. The canvas then has its picture until the end of the frame. */
  picture(): HTMLCanvasElement {
    this.#view.show();
    this.#view.render();
    return this.#canvas;
  }

  mark(selection: Selection | undefined): void {
    this.light(neuronsOf(selection, this.atlas));
  }

  /** Marks neurons by their indices, until the next call. */
  light(neurons: readonly number[]): void {
    this.#view.mark(neurons);
  }

  #listen(): void {
    new IntersectionObserver(([entry]) => (this.#isSeen = entry!.isIntersecting)).observe(this.#canvas);
    this.#isTurning = !withLessMotion.matches;
    this.#turning.addEventListener('click', () => (this.#isTurning = !this.#isTurning));
    for (const type of ['pointerdown', 'keydown', 'wheel'] as const) {
      this.#canvas.addEventListener(type, () => (this.#isTurning = false), { passive: true });
    }
    this.#difference.addEventListener('click', () => {
      const pressed = this.#difference.getAttribute('aria-pressed') !== 'true';
      this.#difference.setAttribute('aria-pressed', String(pressed));
      byId('shared-key').hidden = pressed;
      this.playback.refresh();
    });
    const canvas = this.#canvas;
    canvas.addEventListener('keydown', (event) => {
      if (event.key !== ' ') return;
      event.preventDefault();
      this.playback.toggle();
    });
    let pressedAt = { x: NaN, y: NaN };
    canvas.addEventListener('pointerdown', ({ offsetX: x, offsetY: y }) => (pressedAt = { x, y }));
    canvas.addEventListener('click', ({ offsetX: x, offsetY: y }) => {
      if (!this.atlas.isWhole || Math.hypot(x - pressedAt.x, y - pressedAt.y) > CLICK_PIXELS) return;
      const picked = this.#view.pick(x, y);
      this.onSelect(picked && { kind: 'neuron', neuron: picked.neuron });
    });
    canvas.addEventListener('pointermove', (event) => {
      const isHovering = event.buttons === 0 && event.pointerType === 'mouse';
      this.#pointer = isHovering ? { x: event.offsetX, y: event.offsetY } : undefined;
      this.#tooltip.hidden = true;
    });
    canvas.addEventListener('pointerleave', () => {
      this.#pointer = undefined;
      this.#tooltip.hidden = true;
    });
    canvas.addEventListener('webglcontextlost', () => {
      this.notices.status('The browser took the graphics away; the brain comes back with them.');
    });
    canvas.addEventListener('webglcontextrestored', () => {
      this.notices.status('');
      this.playback.refresh();
    });
  }

  #lightUp({ timeMs, isWhole }: Moment): void {
    if (this.#isLive) return;
    const { light } = this.#view;
    const [run, kept] = [this.#run, this.#kept];
    light.fill(0);
    const ofDifference = kept !== undefined && this.#difference.getAttribute('aria-pressed') === 'true';
    if (run !== undefined && isWhole && ofDifference) {
      glowOfDifference(run.counts, kept.counts, light);
    } else {
      for (const [shown, byte] of [[run, RUN_BYTE] as const, [kept, KEPT_BYTE] as const]) {
        if (shown === undefined) continue;
        if (isWhole) glowOfWholeRun(shown.counts, light, byte);
        else glowAt(shown.raster, timeMs, light, byte);
      }
      if (ofDifference) subtractShared(light, this.#spiking);
    }
    this.#view.show();
  }

  /** Turns the brain slowly while nothing plays, to show its depth. */
  #turn(now: number): void {
    const elapsedMs = now - this.#lastPaint;
    this.#lastPaint = now;
    if (!this.#isTurning || this.playback.playing || !this.#isSeen || elapsedMs > MAX_PAUSE_MS) return;
    this.#turnedMs += elapsedMs;
    this.#view.turnTo(TURN.radians * Math.sin((2 * Math.PI * this.#turnedMs) / TURN.periodMs));
    if (this.#turnedMs >= TURN.periods * TURN.periodMs) this.#isTurning = false;
  }

  get #isTurning(): boolean {
    return this.#turning.ariaPressed === 'true';
  }

  set #isTurning(isTurning: boolean) {
    this.#turning.ariaPressed = String(isTurning);
    // Continue from the current angle.
    this.#turnedMs %= TURN.periodMs;
  }

  #paint(): void {
    this.#turn(performance.now());
    if (this.#view.render()) this.#frame.classList.add('drawn');
    if (this.#pointer !== undefined && !this.playback.playing && this.atlas.isWhole) {
      this.#showTooltip(this.#pointer.x, this.#pointer.y);
      this.#pointer = undefined;
    }
  }

  #showTooltip(x: number, y: number): void {
    const picked = this.#view.pick(x, y);
    this.#tooltip.hidden = picked === undefined;
    if (picked === undefined) return;
    const { neuron } = picked;
    const type = this.atlas.types[this.atlas.typeIndices[neuron]!]!;
    const facts = [spoken(type.superClass), SIDES[this.atlas.sides[neuron]!]!];
    this.#tooltip.replaceChildren(
      element('b', {}, labelOfType(type)),
      `${facts.filter(Boolean).join(', ')}. Click for more.`,
    );
    const right = Math.min(picked.x + 14, this.#canvas.clientWidth - this.#tooltip.offsetWidth - 6);
    const below = Math.min(picked.y + 14, this.#canvas.clientHeight - this.#tooltip.offsetHeight - 6);
    this.#tooltip.style.transform = `translate(${right}px, ${below}px)`;
  }

  #fillLegend(): void {
    const counts = new Uint32Array(SUPER_CLASSES.length + 1);
    for (const type of this.atlas.typeIndices) counts[superClassIndex(this.atlas.types[type]!.superClass)]!++;
    const items = [...SUPER_CLASSES, 'other'].flatMap((name, i) => {
      if (counts[i] === 0) return [];
      return [element('li', {}, swatch(`class-${name}`), `${spoken(name)} ${grouped(counts[i]!)}`)];
    });
    const estimated = this.atlas.estimated.reduce((sum, each) => sum + each, 0);
    const isAll = estimated === this.atlas.neuronCount;
    const positions = `${isAll ? 'all' : grouped(estimated)} positions estimated${isAll ? '' : ': smaller and fainter'}`;
    byId('legend').replaceChildren(...items, ...(estimated === 0 ? [] : [element('li', {}, positions)]));
  }
}
