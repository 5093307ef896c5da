/** Draws the brain as a cloud of neurons, in two draw calls: all neurons at rest, then lit or marked neurons. */
import { rgbOf, superClassIndex, type Theme } from '../theme.js';
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../../src/engine/connectome/connectome.js';
import { displayPositions, extentOf } from './display-positions.js';
import { LIGHT_STRIDE } from './glow.js';
import { Orbit, type Seen, type Vec3 } from './orbit.js';
import { PointPass } from './point-pass.js';
import {
  GLOW_FRAGMENT_SHADER,
  GLOW_VERTEX_SHADER,
  SUPER_CLASS_COLOURS,
  REST_FRAGMENT_SHADER,
  REST_VERTEX_SHADER,
} from './shaders.js';

/** Tangent of half the vertical field of view of 28 degrees. */
const TANGENT = Math.tan((14 * Math.PI) / 180);
const [NEAREST, FARTHEST] = [0.01, 20];
const MAX_PIXEL_RATIO = 2;
const KEYBOARD_TURN_RADIANS = 0.12;
const KEYBOARD_FACTOR = 1.1;
const PICK_RADIUS_PIXELS = 9;
const FAINTEST_SUPER_CLASS = 0.5;
const STRONGEST_SUPER_CLASS = 1.3;
/** Strength of neurons at rest. It is lower beside a run, so that the run's light is visible. */
const REST_STRENGTH = { dark: 0.3, light: 0.5 };
const BESIDE_A_RUN = 0.5;
const BESIDE_MARKS = 0.25;
const REST_SIZE = 0.0065;
const GLOW_SIZE = 0.017;
/** Size in pixels of the ring around a single marked neuron. More marked neurons have smaller rings. */
const MARK_PIXELS = 28;
const MARK_EXPONENT = -0.24;
const SMALLEST_MARK_PIXELS = 5;
/** A narrower canvas has smaller rings. */
const FULL_MARK_WIDTH = 600;
/** Fraction of the canvas by which the brain is below the centre, because the upper corners have controls. */
const LOWERED = 0.05;
/** Gap between the names of the two sides of the brain. */
const LABEL_GAP_PIXELS = 8;

interface Picked {
  readonly neuron: number;
  readonly x: number;
  readonly y: number;
}

export class BrainView {
  /** Brightness: byte 0 of each neuron for the run, byte 1 for the kept run. Call show() after changes. */
  light = new Uint8Array();
  readonly #gl: WebGL2RenderingContext;
  readonly #camera: Orbit;
  readonly #uniforms: Record<string, number | boolean | number[]>;
  #atlas!: CompactAtlas;
  #positions!: Float32Array<ArrayBuffer>;
  #traits!: Uint8Array<ArrayBuffer>;
  readonly #resting: PointPass;
  /** Neurons of the second pass. They are few, and a frame sends only their light to the GPU. */
  readonly #lit: PointPass;
  #litLight = new Uint8Array();
  #halfExtent: Vec3 = [1, 1, 1];
  #sideCentres: readonly Vec3[] = [];
  /** The neurons of the second pass, the last on top. */
  #drawn: readonly number[] = [];
  #spiking: readonly number[] = [];
  #marked: readonly number[] = [];
  #theme: Theme | undefined;
  #isBesideRun = false;
  #changed = true;
  /** Angle of the last `turnTo`. */
  #turned = 0;
  /** Size of the canvas in CSS pixels, cached because reading it forces a page layout. */
  #size = { width: 1, height: 1 };
  /** Width of the wider label and the gap beside it, in CSS pixels. */
  #labelWidth = 0;

  /** @throws Error if the browser has no WebGL */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly sideLabels: readonly HTMLElement[],
    atlas: CompactAtlas,
  ) {
    const gl = canvas.getContext('webgl2', {
      alpha: false,
      depth: false,
      antialias: false,
      powerPreference: 'high-performance',
    });
    if (gl === null) throw new Error('There is no WebGL 2.');
    this.#gl = gl;
    this.#uniforms = {
      restSize: REST_SIZE,
      glowSize: GLOW_SIZE,
      restStrength: REST_STRENGTH.dark,
      anyMarked: false,
    };
    this.#resting = new PointPass(gl, { vertex: REST_VERTEX_SHADER, fragment: REST_FRAGMENT_SHADER });
    this.#lit = new PointPass(gl, { vertex: GLOW_VERTEX_SHADER, fragment: GLOW_FRAGMENT_SHADER });
    this.#camera = new Orbit(canvas, TANGENT, LOWERED, () => (this.#changed = true));
    this.#take(atlas);
    this.#blend();

    canvas.addEventListener('keydown', (event) => this.#onKey(event));
    // Without this, the browser does not restore the context.
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      for (const pass of [this.#resting, this.#lit]) pass.restore();
      this.#blend();
      this.#changed = true;
    });
    for (const label of sideLabels) {
      label.hidden = false;
      label.style.visibility = 'hidden'; // until it has a position
    }
    new ResizeObserver(() => this.#fit()).observe(canvas.parentElement!);
    this.#fit();
    this.#lookFromFront();
  }

  /** Takes new positions of the same neurons from a later atlas. */
  setAtlas(atlas: CompactAtlas): void {
    const before = this.#fittingDistance();
    this.#take(atlas);
    // Keep the apparent size of the brain.
    this.#camera.nearer(before / this.#fittingDistance());
    this.#changed = true;
  }

  #take(atlas: CompactAtlas): void {
    const { neuronCount } = atlas;
    this.#atlas = atlas;
    this.#positions = this.#place(displayPositions(atlas));
    this.#sideCentres = [0, 1].map((side) => this.#centreOf(side));
    if (this.light.length !== LIGHT_STRIDE * neuronCount)
      this.light = new Uint8Array(LIGHT_STRIDE * neuronCount);
    const kinds = atlas.types.map(({ superClass }) => superClassIndex(superClass));
    this.#traits = new Uint8Array(4 * neuronCount);
    for (let i = 0; i < neuronCount; i++) {
      this.#traits[4 * i] = kinds[atlas.typeIndices[i]!]!;
      this.#traits[4 * i + 1] = atlas.estimated[i]!;
    }
    this.#uniforms['superClassStrengths'] = this.#superClassStrengths();
    this.#uniforms['estimatedStrength'] = atlas.estimated.includes(0) ? 0.6 : 1;
    this.#resting.set('position', this.#positions);
    this.#resting.set('traits', this.#traits);
    this.#arrange();
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    Object.assign(this.#uniforms, {
      superClassColours: theme.superClasses.flatMap(rgbOf),
      runColour: rgbOf(theme.run),
      keptColour: rgbOf(theme.kept),
      sharedColour: rgbOf(theme.shared),
      markColour: rgbOf(theme.text),
      brightest: theme.dark ? [1, 1, 1] : [0, 0, 0],
    });
    this.#dim();
    this.#blend();
  }

  #lookFromFront(): void {
    this.#camera.place(0, Math.PI / 2, this.#fittingDistance());
    this.#turned = 0;
  }

  /** @param radians to the fly's left, relative to the direction that the user has set */
  turnTo(radians: number): void {
    this.#camera.turn(radians - this.#turned);
    this.#turned = radians;
  }

  /** Marks neurons with a ring each, even if they do not spike, and draws all others fainter. */
  mark(neurons: readonly number[]): void {
    this.#marked = neurons;
    this.#uniforms['anyMarked'] = neurons.length > 0;
    this.#fitMarks();
    this.#arrange();
    this.#dim();
  }

  #fitMarks(): void {
    const scale = Math.max(0.6, Math.min(1, this.#size.width / FULL_MARK_WIDTH));
    const size = scale * MARK_PIXELS * Math.max(1, this.#marked.length) ** MARK_EXPONENT;
    this.#uniforms['markPixels'] = Math.max(SMALLEST_MARK_PIXELS, size);
  }

  /** Sets the neurons that may be lit from now on: those that spike in a visible run. */
  expect(neurons: Iterable<number>): void {
    this.#spiking = [...neurons];
    this.#isBesideRun = true;
    this.#arrange();
    this.#dim();
  }

  /** Draws neurons in a mixed order, so that no type hides another if they overlap. */
  #arrange(): void {
    const marked = new Set(this.#marked);
    const order = (neuron: number): number => Math.imul(neuron + 1, 0x9e3779b1) >>> 0;
    const others = this.#spiking.filter((neuron) => !marked.has(neuron)).sort((a, b) => order(a) - order(b));
    const drawn = [...others, ...this.#marked];
    this.#drawn = drawn;
    const positions = gather(this.#positions, 3, drawn, new Float32Array(3 * drawn.length));
    const traits = gather(this.#traits, 4, drawn, new Uint8Array(4 * drawn.length));
    for (let i = others.length; i < drawn.length; i++) traits[4 * i + 2] = 1;
    const light = gather(this.light, LIGHT_STRIDE, drawn, new Uint8Array(LIGHT_STRIDE * drawn.length));
    this.#lit.set('position', positions);
    this.#lit.set('traits', traits);
    this.#lit.set('light', light);
    this.#litLight = light;
    this.#changed = true;
  }

  /** Neurons at rest are fainter while a run is visible, and even fainter while some neurons are marked. */
  #dim(): void {
    const strength = this.#theme?.dark === false ? REST_STRENGTH.light : REST_STRENGTH.dark;
    this.#uniforms['restStrength'] =
      strength * (this.#isBesideRun ? BESIDE_A_RUN : 1) * (this.#marked.length > 0 ? BESIDE_MARKS : 1);
    this.#changed = true;
  }

  /** Sets blending for colours that the shader has multiplied by their opacity (premultiplied alpha). */
  #blend(): void {
    const gl = this.#gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (this.#theme !== undefined) gl.clearColor(...rgbOf(this.#theme.stage), 1);
  }

  /** Uploads `light` after changes. */
  show(): void {
    this.#lit.set('light', gather(this.light, LIGHT_STRIDE, this.#drawn, this.#litLight));
    this.#changed = true;
  }

  /** Draws if anything has changed since the last time. @returns whether it drew */
  render(): boolean {
    const gl = this.#gl;
    if (!this.#changed || this.#theme === undefined || gl.isContextLost()) return false;
    this.#changed = false;
    const camera = this.#camera;
    const [x, y, z] = camera.direction;
    const [halfX, halfY, halfZ] = this.#halfExtent;
    const halfDepth = Math.abs(x) * halfX + Math.abs(y) * halfY + Math.abs(z) * halfZ;
    const aspect = this.#size.width / this.#size.height;
    const uniforms = {
      ...this.#uniforms,
      view: camera.view,
      projection: camera.projection(aspect, NEAREST, FARTHEST),
      depth: [camera.distance - halfDepth, 2 * halfDepth],
    };
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    for (const pass of [this.#resting, this.#lit]) if (pass.count > 0) pass.draw(uniforms);
    this.#placeLabels();
    return true;
  }

  /** The neuron under a point of the canvas. Of close neurons, a lit one comes first, then the nearest. */
  pick(x: number, y: number): Picked | undefined {
    const see = this.#camera.sight(this.#size);
    const positions = this.#positions;
    let best: Picked | undefined;
    let bestScore = -Infinity;
    for (let i = 0; i < this.#atlas.neuronCount; i++) {
      const seen = see(positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!);
      const distance = Math.hypot(seen.x - x, seen.y - y);
      if (distance > PICK_RADIUS_PIXELS) continue;
      const light = Math.max(this.light[LIGHT_STRIDE * i]!, this.light[LIGHT_STRIDE * i + 1]!);
      const score = (light > 0 ? PICK_RADIUS_PIXELS : 0) - distance;
      if (score > bestScore) {
        bestScore = score;
        best = { neuron: i, x: seen.x, y: seen.y };
      }
    }
    return best;
  }

  /**
   * Turns the axes of the atlas (low x is the fly's left, y points down, low z is the front) into those of the
   * scene. Seen from the front, the fly's left is on the right.
   */
  #place(positions: Float32Array): Float32Array<ArrayBuffer> {
    const extents = [0, 1, 2].map((axis) => {
      const [low, high] = extentOf(positions, axis);
      return { centre: (low + high) / 2, half: Math.max(1e-3, (high - low) / 2) };
    });
    this.#halfExtent = extents.map(({ half }) => half) as unknown as Vec3;
    return Float32Array.from(positions, (value, at) => extents[at % 3]!.centre - value);
  }

  /** Neurons of large super classes are fainter, so that small super classes remain visible. */
  #superClassStrengths(): number[] {
    const counts = new Array<number>(SUPER_CLASS_COLOURS).fill(0);
    for (let i = 0; i < this.#atlas.neuronCount; i++) counts[this.#traits[4 * i]!]!++;
    return counts.map((count) => {
      const crowding = (SUPER_CLASS_COLOURS * count) / this.#atlas.neuronCount;
      return crowding === 0
        ? 0
        : Math.min(STRONGEST_SUPER_CLASS, Math.max(FAINTEST_SUPER_CLASS, crowding ** -0.5));
    });
  }

  #centreOf(side: number): Vec3 {
    let [sum, count] = [0, 0];
    for (let i = 0; i < this.#atlas.neuronCount; i++) {
      if (SIDES[this.#atlas.sides[i]!] !== SIDES[side]) continue;
      sum += this.#positions[3 * i]!;
      count++;
    }
    return [sum / Math.max(1, count), -this.#halfExtent[1], 0];
  }

  #placeLabels(): void {
    const see = this.#camera.sight(this.#size);
    const [left, right] = this.#sideCentres.map((centre) => see(...centre)) as [Seen, Seen];
    // Seen from the side, the labels of the two sides would overlap, so only the nearer one stays.
    const isOneSeen = Math.abs(left.x - right.x) < this.#labelWidth;
    const nearest = Math.min(left.depth, right.depth);
    const isNoneNearer = left.depth === right.depth;
    const middle = (left.y + right.y) / 2;
    [left, right].forEach(({ x, y, depth }, side) => {
      const { style } = this.sideLabels[side]!;
      style.transform = `translate(${x}px, ${isOneSeen ? middle : y}px) translate(-50%, 20%)`;
      style.visibility = isOneSeen && (isNoneNearer || depth > nearest) ? 'hidden' : '';
    });
  }

  /** Distance at which the whole brain is in view, for any shape of the canvas. */
  #fittingDistance(): number {
    const [x, y, z] = this.#halfExtent;
    const aspect = this.#size.width / this.#size.height;
    return Math.max((1.3 * y) / TANGENT, (1.06 * x) / (TANGENT * aspect)) + 0.3 * z;
  }

  #fit(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement!;
    if (clientWidth === 0 || clientHeight === 0) return;
    const before = this.#fittingDistance();
    this.#size = { width: clientWidth, height: clientHeight };
    this.#labelWidth = Math.max(...this.sideLabels.map(({ offsetWidth }) => offsetWidth)) + LABEL_GAP_PIXELS;
    const pixelRatio = Math.min(devicePixelRatio, MAX_PIXEL_RATIO);
    this.canvas.width = Math.floor(clientWidth * pixelRatio);
    this.canvas.height = Math.floor(clientHeight * pixelRatio);
    const after = this.#fittingDistance();
    this.#camera.keepBetween(0, Infinity);
    this.#camera.nearer(before / after);
    this.#camera.keepBetween(0.2 * after, 1.5 * after);
    this.#fitMarks();
    this.#uniforms['pixelRatio'] = pixelRatio;
    this.#uniforms['pixelsPerUnit'] = (clientHeight * pixelRatio) / (2 * TANGENT);
  }

  #onKey(event: KeyboardEvent): void {
    const camera = this.#camera;
    const act: Record<string, () => void> = {
      Home: () => this.#lookFromFront(),
      ArrowLeft: () => camera.turn(KEYBOARD_TURN_RADIANS),
      ArrowRight: () => camera.turn(-KEYBOARD_TURN_RADIANS),
      ArrowUp: () => camera.turn(0, -KEYBOARD_TURN_RADIANS),
      ArrowDown: () => camera.turn(0, KEYBOARD_TURN_RADIANS),
      '+': () => camera.nearer(KEYBOARD_FACTOR),
      '-': () => camera.nearer(1 / KEYBOARD_FACTOR),
    };
    const chosen = act[event.key];
    if (chosen === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    chosen();
    event.preventDefault();
  }
}

/** Copies the values of some neurons to consecutive positions. @returns `into` */
function gather<Values extends Float32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(
  from: Values,
  stride: number,
  neurons: readonly number[],
  into: Values,
): Values {
  let at = 0;
  for (const neuron of neurons) {
    for (let i = 0; i < stride; i++) into[at++] = from[stride * neuron + i]!;
  }
  return into;
}
