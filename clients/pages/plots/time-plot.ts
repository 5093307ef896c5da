/** A figure over time. A line marks the current moment, a click goes to a moment, and a drag can choose a part. */
import type { Panel, Rect } from '../../../src/experiments/figures/figure.js';
import { element } from '../dom.js';
import { drawnIn } from './figure-box.js';

/** A press that moves less is a click, because a hand is not quite still. */
const CLICK_PX = 6;
/** A drag that is shorter along one axis chooses all of that axis. */
const LEAST_PX = 20;

export type Range = readonly [from: number, to: number];
/** A panel with times in ms along its x axis. */
export type TimePanel = Panel & { readonly x: { readonly domain: Range } };

/** Both axes from 0 to 1. */
interface Part {
  readonly x: Range;
  readonly y: Range;
}

export class TimePlot {
  readonly #playhead = element('div', { class: 'playhead' });
  readonly #chosen = element('div', { class: 'chosen', hidden: true });
  /** An invisible mark that covers the plot, and so has its place on the page. */
  #cover: Element | undefined;
  #domain: Range = [0, 0];
  #timeMs = 0;

  /** @param onChoose called with the part of the plot that was dragged over; absent if a drag means nothing */
  constructor(
    private readonly container: HTMLElement,
    private readonly onSeek: (timeMs: number) => void,
    private readonly onChoose?: (part: Part) => void,
  ) {
    container.classList.add('time-plot');
    this.#listen();
  }

  /** @param label describes the panel to readers who cannot see it */
  draw(panel: TimePanel, label: string): void {
    // A hidden element has no width. It is drawn again when it is shown.
    if (this.container.clientWidth === 0) return;
    const bands = 'bands' in panel.y ? panel.y.bands : [];
    const rows = bands.reduce((sum, { size = 1 }) => sum + size, 0) || 1;
    this.#domain = panel.x.domain;
    const cover: Rect = { mark: 'rect', name: 'cover', x: this.#domain, y: [0, rows], paint: 'none' };
    const panels = [{ ...panel, marks: [cover, ...panel.marks] }];
    const section = { panels, smallestWidth: Infinity };
    const drawn = drawnIn(this.container, { label, sections: [section], note: '' });
    this.container.replaceChildren(drawn, this.#playhead, this.#chosen);
    this.#cover = drawn.querySelector('.cover')!;
    this.#placePlayhead();
  }

  moveTo(timeMs: number): void {
    this.#timeMs = timeMs;
    this.#placePlayhead();
  }

  #placePlayhead(): void {
    if (this.#cover === undefined) return;
    const [from, to] = this.#domain;
    const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) =>
      Number(this.#cover!.getAttribute(name)),
    ) as [number, number, number, number];
    const left = x + (width * (this.#timeMs - from)) / (to - from);
    this.#playhead.hidden = this.#timeMs < from || this.#timeMs > to;
    this.#playhead.style.transform = `translate(${left}px, ${y}px)`;
    this.#playhead.style.height = `${height}px`;
  }

  #listen(): void {
    const { container } = this;
    let pressed: MouseEvent | undefined;
    container.addEventListener('pointerdown', (event) => {
      if (!event.isPrimary || event.button !== 0 || !this.#isInside(event)) return;
      pressed = event;
      container.setPointerCapture(event.pointerId);
    });
    container.addEventListener('pointermove', (event) => {
      if (pressed !== undefined && !isClick(pressed, event)) this.#showChosen(this.#between(pressed, event));
    });
    // A finger that scrolls the page presses nothing.
    container.addEventListener('pointercancel', () => {
      pressed = undefined;
      this.#showChosen(undefined);
    });
    container.addEventListener('pointerup', (event) => {
      if (pressed === undefined) return;
      const [from, to] = this.#domain;
      const part = this.#between(pressed, event);
      if (!isClick(pressed, event)) this.onChoose?.(part);
      else this.onSeek(from + (to - from) * this.#shareOf(event).x);
      pressed = undefined;
      this.#showChosen(undefined);
    });
  }

  #isInside({ clientX, clientY }: MouseEvent): boolean {
    const { left, right, top, bottom } = this.#cover?.getBoundingClientRect() ?? new DOMRect();
    return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  }

  /** Position of the pointer in the plot, from 0 to 1 along each axis. */
  #shareOf({ clientX, clientY }: MouseEvent): Readonly<Record<'x' | 'y', number>> {
    const { left, top, width, height } = this.#cover!.getBoundingClientRect();
    const share = (px: number, length: number) => Math.min(1, Math.max(0, px / length));
    return { x: share(clientX - left, width), y: share(clientY - top, height) };
  }

  #between(one: MouseEvent, other: MouseEvent): Part {
    const [from, to] = [this.#shareOf(one), this.#shareOf(other)];
    const along = (axis: 'x' | 'y', movedPx: number): Range =>
      Math.abs(movedPx) < LEAST_PX
        ? [0, 1]
        : [Math.min(from[axis], to[axis]), Math.max(from[axis], to[axis])];
    return { x: along('x', other.clientX - one.clientX), y: along('y', other.clientY - one.clientY) };
  }

  #showChosen(part: Part | undefined): void {
    this.#chosen.hidden = part === undefined || this.onChoose === undefined;
    if (part === undefined) return;
    const { left, top, width, height } = this.#cover!.getBoundingClientRect();
    const origin = this.container.getBoundingClientRect();
    Object.assign(this.#chosen.style, {
      left: `${left - origin.left + part.x[0] * width}px`,
      width: `${(part.x[1] - part.x[0]) * width}px`,
      top: `${top - origin.top + part.y[0] * height}px`,
      height: `${(part.y[1] - part.y[0]) * height}px`,
    });
  }
}

function isClick(one: MouseEvent, other: MouseEvent): boolean {
  return Math.hypot(other.clientX - one.clientX, other.clientY - one.clientY) < CLICK_PX;
}
