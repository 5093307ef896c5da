/** A camera that orbits the centre of a scene: by drag, wheel, two fingers, or call. */

/** Angle in radians for a drag over the height of the canvas. */
const DRAGGED_RADIANS = 0.6 * 2 * Math.PI;
/** WHEEL_PIXELS of the wheel multiply the distance by WHEEL_FACTOR. */
const [WHEEL_FACTOR, WHEEL_PIXELS] = [0.95, 100];
/** Smallest angle to the poles, at which up is undefined. */
const LEAST_POLAR_RADIANS = 1e-4;
const [LINE_PIXELS, PINCH_PIXELS] = [16, 10];

export type Vec3 = readonly [number, number, number];

/** A point of the canvas in pixels of the page, and its depth. */
export interface Seen {
  readonly x: number;
  readonly y: number;
  readonly depth: number;
}

export class Orbit {
  /** False if drags turn nothing. */
  isDraggable = true;
  /** Largest angle from above. */
  maxPolar = Math.PI - LEAST_POLAR_RADIANS;
  readonly #pointers = new Map<number, { x: number; y: number }>();
  #azimuth = 0;
  #polar = Math.PI / 2;
  #distance = 1;
  #range = [0, Infinity] as readonly [number, number];

  /**
   * @param tangent of half the vertical field of view
   * @param lowered fraction of the canvas by which the centre of the scene is below that of the canvas
   */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly tangent: number,
    private readonly lowered: number,
    private readonly onChange: () => void,
  ) {
    // A vertical movement of one finger scrolls the page; a horizontal one turns the scene.
    canvas.style.touchAction = 'pan-y';
    canvas.addEventListener('pointerdown', (event) => {
      if (!this.isDraggable || (event.pointerType === 'mouse' && event.button !== 0)) return;
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener('pointermove', (event) => this.#drag(event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(end, ({ pointerId }) => this.#pointers.delete(pointerId));
    }
    canvas.addEventListener('wheel', (event) => {
      // Without a key, the wheel scrolls the page. Browsers report a pinch on a trackpad as wheel events with the Ctrl key.
      if ((!event.ctrlKey && !event.metaKey) || this.#range[0] === this.#range[1]) return;
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_PIXELS);
      const isPinch = Math.abs(pixels) < WHEEL_PIXELS / 2;
      this.nearer(WHEEL_FACTOR ** ((isPinch ? PINCH_PIXELS : 1) * (pixels / WHEEL_PIXELS)));
    });
    canvas.addEventListener('contextmenu', (event) => this.isDraggable && event.preventDefault());
  }

  get distance(): number {
    return this.#distance;
  }

  /** Direction from the centre to the camera. */
  get direction(): Vec3 {
    const [x, y, z] = [Math.sin(this.#azimuth), Math.cos(this.#polar), Math.cos(this.#azimuth)];
    return [x * Math.sin(this.#polar), y, z * Math.sin(this.#polar)];
  }

  /** @param azimuth around the vertical axis, from the front; the polar angle is from above */
  place(azimuth: number, polar: number, distance: number): void {
    this.#azimuth = azimuth;
    this.#polar = Math.min(this.maxPolar, Math.max(LEAST_POLAR_RADIANS, polar));
    this.#distance = Math.min(this.#range[1], Math.max(this.#range[0], distance));
    this.onChange();
  }

  turn(azimuth: number, polar = 0): void {
    this.place(this.#azimuth + azimuth, this.#polar + polar, this.#distance);
  }

  /** Divides the distance. */
  nearer(factor: number): void {
    this.place(this.#azimuth, this.#polar, this.#distance / factor);
  }

  /** Bounds the distance. If both bounds are equal, the browser zooms the page instead. */
  keepBetween(least: number, most: number): void {
    this.#range = [least, most];
    this.nearer(1);
  }

  /** Matrix from scene to camera coordinates, in column order. */
  get view(): Float32Array {
    const [sin, cos] = [Math.sin(this.#azimuth), Math.cos(this.#azimuth)];
    const [up, along] = [Math.sin(this.#polar), Math.cos(this.#polar)];
    const [x, y, z] = this.direction;
    return Float32Array.of(
      ...[cos, -along * sin, x, 0],
      ...[0, up, y, 0],
      ...[-sin, -along * cos, z, 0],
      ...[0, 0, -this.#distance, 1],
    );
  }

  /** Projection matrix in column order, for depths between `near` and `far`. */
  projection(aspect: number, near: number, far: number): Float32Array {
    const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
    const scale = 1 / this.tangent;
    return Float32Array.of(
      ...[scale / aspect, 0, 0, 0],
      ...[0, scale, 0, 0],
      ...[0, 2 * this.lowered, a, -1],
      ...[0, 0, b, 0],
    );
  }

  /** @returns a function from a point of the scene to its point on a canvas of this size */
  sight({ width, height }: { width: number; height: number }): (x: number, y: number, z: number) => Seen {
    const [a, b, c, , d, e, f, , g, h, i] = this.view as unknown as number[];
    const scale = height / 2 / this.tangent;
    const [middle, distance] = [(0.5 + this.lowered) * height, this.#distance];
    return (x, y, z) => {
      const depth = distance - (c! * x + f! * y + i! * z);
      return {
        x: width / 2 + (scale * (a! * x + d! * y + g! * z)) / depth,
        y: middle - (scale * (b! * x + e! * y + h! * z)) / depth,
        depth,
      };
    };
  }

  #drag({ pointerId, clientX: x, clientY: y }: PointerEvent): void {
    const before = this.#pointers.get(pointerId);
    if (before === undefined) return;
    const spread = this.#spread();
    this.#pointers.set(pointerId, { x, y });
    const radians = DRAGGED_RADIANS / this.canvas.clientHeight;
    if (this.#pointers.size === 1) this.turn(radians * (before.x - x), radians * (before.y - y));
    else if (spread > 0) this.nearer(this.#spread() / spread);
  }

  /** Distance of two fingers. */
  #spread(): number {
    const [one, other] = [...this.#pointers.values()];
    return one === undefined || other === undefined ? 0 : Math.hypot(one.x - other.x, one.y - other.y);
  }
}
