/** The brain as a cloud of its neurons, in two draw calls: all of them at rest, and those that are lit or pointed out. */
import {
  AddEquation,
  BufferAttribute,
  BufferGeometry,
  CustomBlending,
  DynamicDrawUsage,
  type IUniform,
  OneFactor,
  OneMinusSrcAlphaFactor,
  PerspectiveCamera,
  Points,
  Scene,
  ShaderMaterial,
  Spherical,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { rgbOf, superClassIndex, type Theme } from '../theme.js';
import type { CompactAtlas } from '../../../src/connectome/atlas-binary.js';
import { SIDES } from '../../../src/connectome/connectome.js';
import { displayPositions } from './display-positions.js';
import { LIGHT_STRIDE } from './glow.js';
import {
  GLOW_FRAGMENT_SHADER,
  GLOW_VERTEX_SHADER,
  KINDS,
  REST_FRAGMENT_SHADER,
  REST_VERTEX_SHADER,
} from './shaders.js';

const FIELD_OF_VIEW_DEGREES = 28;
const MAXIMUM_PIXEL_RATIO = 2;
const KEYBOARD_TURN_RADIANS = 0.12;
const PICK_RADIUS_PIXELS = 9;
/** Share of the neurons that may lie outside the view at either end of an axis. */
const OUTLYING_SHARE = 0.003;
/** So many neurons tell the extent of the brain. */
const MEASURED_NEURONS = 10_000;
const FAINTEST_KIND = 0.5;
const STRONGEST_KIND = 1.3;
/** Strength of neurons at rest; less beside a run, whose light must not be lost among them. */
const REST_STRENGTH = { dark: 0.3, light: 0.5 };
const BESIDE_A_RUN = 0.5;
const BESIDE_MARKS = 0.25;
const REST_SIZE = 0.0065;
const GLOW_SIZE = 0.017;
/** A single neuron that is pointed out has a ring of this size in pixels; the more there are, the smaller they get. */
const MARK_PIXELS = 28;
const MARK_EXPONENT = -0.24;
const SMALLEST_MARK_PIXELS = 5;
/** A canvas of this width or more has rings of full size; a smaller one has smaller rings. */
const FULL_MARK_WIDTH = 600;
/** Part of the canvas by which the brain stands below its middle, as its upper corners have other things in them. */
const LOWERED = 0.05;
/** Gap between the names of the two sides of the brain. */
const LABEL_GAP_PIXELS = 8;

/** Where the camera stands, as azimuth and polar angle. */
export const VIEWPOINTS = {
  front: [0, Math.PI / 2],
  side: [Math.PI / 2, Math.PI / 2],
  top: [0, 0.02],
} as const;

export interface Picked {
  readonly neuron: number;
  readonly x: number;
  readonly y: number;
}

export class BrainView {
  /** Brightness: byte 0 of each neuron for the run, byte 1 for the kept one. Call show() after changes. */
  light = new Uint8Array();
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(FIELD_OF_VIEW_DEGREES, 1, 0.01, 20);
  readonly #controls: OrbitControls;
  readonly #uniforms: Record<string, IUniform>;
  #atlas!: CompactAtlas;
  #positions!: Float32Array;
  #traits!: Uint8Array;
  readonly #resting: Points<BufferGeometry, ShaderMaterial>;
  /** Neurons of the second pass: few, so that a frame sends their light alone to the GPU. */
  readonly #lit: Points<BufferGeometry, ShaderMaterial>;
  readonly #halfExtent = new Vector3();
  #sideCentres: readonly Vector3[] = [];
  /** The neurons of the second pass, the last on top. */
  #drawn: readonly number[] = [];
  #spiking: readonly number[] = [];
  #marked: readonly number[] = [];
  #theme: Theme | undefined;
  #isBesideRun = false;
  #changed = true;
  /** Angle of `turnTo` by which the camera has gone around the brain. */
  #turned = 0;
  /** Size of the canvas in CSS pixels, kept because asking for it makes the browser lay out the page. */
  #size = { width: 1, height: 1 };
  /** Width of the wider label and the gap beside it, in CSS pixels. */
  #labelWidth = 0;

  /** @throws Error where the browser has no WebGL */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly sideLabels: readonly HTMLElement[],
    atlas: CompactAtlas,
  ) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: 'high-performance' });
    // Asking for errors waits for the compiler.
    this.#renderer.debug.checkShaderErrors = false;
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, MAXIMUM_PIXEL_RATIO));

    this.#uniforms = {
      pixelsPerUnit: { value: 1 },
      pixelRatio: { value: this.#renderer.getPixelRatio() },
      restSize: { value: REST_SIZE },
      glowSize: { value: GLOW_SIZE },
      restStrength: { value: REST_STRENGTH.dark },
      kindColours: { value: Array.from({ length: KINDS }, () => new Vector3()) },
      kindStrengths: { value: new Array<number>(KINDS).fill(0) },
      depth: { value: new Vector2(0, 1) },
      estimatedStrength: { value: 1 },
      runColour: { value: new Vector3() },
      keptColour: { value: new Vector3() },
      sharedColour: { value: new Vector3() },
      markColour: { value: new Vector3() },
      brightest: { value: new Vector3() },
      markPixels: { value: MARK_PIXELS },
      anyMarked: { value: false },
    };
    this.#resting = new Points(
      new BufferGeometry(),
      this.#material(REST_VERTEX_SHADER, REST_FRAGMENT_SHADER),
    );
    this.#lit = new Points(new BufferGeometry(), this.#material(GLOW_VERTEX_SHADER, GLOW_FRAGMENT_SHADER));
    [this.#resting, this.#lit].forEach((points, order) => {
      points.frustumCulled = false;
      points.renderOrder = order;
      this.#scene.add(points);
    });
    this.#take(atlas);

    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.enablePan = false;
    this.#controls.rotateSpeed = 0.6;
    this.#controls.addEventListener('change', () => (this.#changed = true));
    // One finger scrolls the page up and down; it turns the brain sideways.
    canvas.style.touchAction = 'pan-y';
    canvas.addEventListener('keydown', (event) => this.#onKey(event));
    // Three makes its own state anew; the colour that clears the canvas and the picture itself are ours.
    canvas.addEventListener('webglcontextrestored', () => {
      if (this.#theme !== undefined) this.setTheme(this.#theme);
      this.#changed = true;
    });
    for (const label of sideLabels) {
      label.hidden = false;
      label.style.visibility = 'hidden'; // until it has a place
    }
    new ResizeObserver(() => this.#fit()).observe(canvas.parentElement!);
    this.#fit();
    this.lookFrom('front');
  }

  /** Draws the same neurons where a later atlas has them. */
  setAtlas(atlas: CompactAtlas): void {
    const before = this.#fittingDistance();
    this.#take(atlas);
    // The brain fills the view as before.
    this.#camera.position.multiplyScalar(this.#fittingDistance() / before);
    this.#controls.update();
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
    this.#uniforms['kindStrengths']!.value = this.#kindStrengths();
    this.#uniforms['estimatedStrength']!.value = atlas.estimated.includes(0) ? 0.6 : 1;
    this.#resting.geometry.dispose();
    this.#resting.geometry = new BufferGeometry()
      .setAttribute('position', new BufferAttribute(this.#positions, 3))
      .setAttribute('traits', new BufferAttribute(this.#traits, 4));
    this.#arrange();
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    const rgb = (colour: string): Vector3 => new Vector3(...rgbOf(colour));
    const colours = {
      kindColours: theme.superClasses.map(rgb),
      runColour: rgb(theme.run),
      keptColour: rgb(theme.kept),
      sharedColour: rgb(theme.shared),
      markColour: rgb(theme.text),
      brightest: theme.dark ? new Vector3(1, 1, 1) : new Vector3(0, 0, 0),
    };
    for (const [name, value] of Object.entries(colours)) this.#uniforms[name]!.value = value;
    this.#dim();
    this.#renderer.setClearColor(theme.stage);
  }

  lookFrom(viewpoint: keyof typeof VIEWPOINTS): void {
    const [azimuth, polar] = VIEWPOINTS[viewpoint];
    this.#camera.position.setFromSpherical(new Spherical(this.#fittingDistance(), polar, azimuth));
    this.#turned = 0;
    this.#controls.update();
    this.#changed = true;
  }

  /** @param radians to the fly's left of where the camera was put, by a viewpoint or by the reader */
  turnTo(radians: number): void {
    this.#camera.position.applyAxisAngle(this.#camera.up, radians - this.#turned);
    this.#turned = radians;
    this.#controls.update();
    this.#changed = true;
  }

  /** Points out neurons with a ring each, whether they spike or not, and draws all others fainter. */
  mark(neurons: readonly number[]): void {
    this.#marked = neurons;
    this.#uniforms['anyMarked']!.value = neurons.length > 0;
    this.#fitMarks();
    this.#arrange();
    this.#dim();
  }

  #fitMarks(): void {
    const scale = Math.max(0.6, Math.min(1, this.#size.width / FULL_MARK_WIDTH));
    const size = scale * MARK_PIXELS * Math.max(1, this.#marked.length) ** MARK_EXPONENT;
    this.#uniforms['markPixels']!.value = Math.max(SMALLEST_MARK_PIXELS, size);
  }

  /** Names the neurons that may be lit from now on: those that spike in a run that is shown. */
  expect(neurons: Iterable<number>, isBesideRun: boolean): void {
    this.#spiking = [...neurons];
    this.#isBesideRun = isBesideRun;
    this.#arrange();
    this.#dim();
  }

  /** Where neurons of several types overlap no type should hide another, so they are drawn in a mixed order. */
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
    const geometry = new BufferGeometry()
      .setAttribute('position', new BufferAttribute(positions, 3))
      .setAttribute('traits', new BufferAttribute(traits, 4))
      .setAttribute('light', new BufferAttribute(light, LIGHT_STRIDE, true).setUsage(DynamicDrawUsage));
    this.#lit.geometry.dispose();
    this.#lit.geometry = geometry;
    this.#lit.visible = drawn.length > 0;
    this.#changed = true;
  }

  /** Neurons at rest are fainter while a run is shown, and fainter still while some are pointed out. */
  #dim(): void {
    const strength = this.#theme?.dark === false ? REST_STRENGTH.light : REST_STRENGTH.dark;
    this.#uniforms['restStrength']!.value =
      strength * (this.#isBesideRun ? BESIDE_A_RUN : 1) * (this.#marked.length > 0 ? BESIDE_MARKS : 1);
    this.#changed = true;
  }

  /** Colours are multiplied by their opacity in the shader, and lie over what was drawn before. */
  #material(vertexShader: string, fragmentShader: string): ShaderMaterial {
    return new ShaderMaterial({
      vertexShader,
      fragmentShader,
      uniforms: this.#uniforms,
      depthTest: false,
      depthWrite: false,
      transparent: true,
      blending: CustomBlending,
      blendEquation: AddEquation,
      blendSrc: OneFactor,
      blendDst: OneMinusSrcAlphaFactor,
    });
  }

  /** The bytes of `light` have changed. */
  show(): void {
    const shown = this.#lit.geometry.getAttribute('light') as BufferAttribute;
    gather(this.light, LIGHT_STRIDE, this.#drawn, shown.array as Uint8Array);
    shown.needsUpdate = true;
    this.#changed = true;
  }

  /** Draws if anything has changed since the last time. @returns whether it drew */
  render(): boolean {
    if (!this.#changed) return false;
    this.#changed = false;
    const { x, y, z } = this.#camera.position.clone().normalize();
    const { x: halfX, y: halfY, z: halfZ } = this.#halfExtent;
    const halfDepth = Math.abs(x) * halfX + Math.abs(y) * halfY + Math.abs(z) * halfZ;
    this.#uniforms['depth']!.value.set(this.#camera.position.length() - halfDepth, 2 * halfDepth);
    this.#renderer.render(this.#scene, this.#camera);
    this.#placeLabels();
    return true;
  }

  get drawCalls(): number {
    return this.#renderer.info.render.calls;
  }

  /** The neuron under a point of the canvas: of those that are close one that is lit, then the nearest. */
  pick(x: number, y: number): Picked | undefined {
    const { width, height } = this.#size;
    const [m0, m1, , m3, m4, m5, , m7, m8, m9, , m11, m12, m13, , m15] = this.#camera.projectionMatrix
      .clone()
      .multiply(this.#camera.matrixWorldInverse).elements;
    const positions = this.#positions;
    let best: Picked | undefined;
    let bestScore = -Infinity;
    for (let i = 0; i < this.#atlas.neuronCount; i++) {
      const px = positions[3 * i]!;
      const py = positions[3 * i + 1]!;
      const pz = positions[3 * i + 2]!;
      const w = m3 * px + m7 * py + m11 * pz + m15;
      const sx = ((m0 * px + m4 * py + m8 * pz + m12) / w + 1) * 0.5 * width;
      if (Math.abs(sx - x) > PICK_RADIUS_PIXELS) continue;
      const sy = (1 - (m1 * px + m5 * py + m9 * pz + m13) / w) * 0.5 * height;
      const distance = Math.hypot(sx - x, sy - y);
      if (distance > PICK_RADIUS_PIXELS) continue;
      const light = Math.max(this.light[LIGHT_STRIDE * i]!, this.light[LIGHT_STRIDE * i + 1]!);
      const score = (light > 0 ? PICK_RADIUS_PIXELS : 0) - distance;
      if (score > bestScore) {
        bestScore = score;
        best = { neuron: i, x: sx, y: sy };
      }
    }
    return best;
  }

  /**
   * Turns the axes of the atlas (low x is the fly's left, y points down, low z is the front) into those of the
   * scene, seen from the front: the fly's left is on the right, as with anybody one looks in the face.
   */
  #place(positions: Float32Array): Float32Array {
    const each = 3 * Math.ceil(positions.length / (3 * MEASURED_NEURONS));
    const centre = [0, 1, 2].map((axis) => {
      const along = Float32Array.from(
        { length: Math.ceil(positions.length / each) },
        (_, k) => positions[each * k + axis]!,
      ).sort();
      const low = along[Math.floor(OUTLYING_SHARE * along.length)] ?? 0;
      const high = along[Math.ceil((1 - OUTLYING_SHARE) * along.length) - 1] ?? 0;
      this.#halfExtent.setComponent(axis, Math.max(1e-3, (high - low) / 2));
      return (low + high) / 2;
    });
    return positions.map((value, at) => centre[at % 3]! - value);
  }

  /** Neurons of a crowded super class are fainter, so that the few of another are seen between them. */
  #kindStrengths(): number[] {
    const counts = new Array<number>(KINDS).fill(0);
    for (let i = 0; i < this.#atlas.neuronCount; i++) counts[this.#traits[4 * i]!]!++;
    return counts.map((count) => {
      const crowding = (KINDS * count) / this.#atlas.neuronCount;
      return crowding === 0 ? 0 : Math.min(STRONGEST_KIND, Math.max(FAINTEST_KIND, crowding ** -0.5));
    });
  }

  #centreOf(side: number): Vector3 {
    const centre = new Vector3();
    let count = 0;
    for (let i = 0; i < this.#atlas.neuronCount; i++) {
      if (SIDES[this.#atlas.sides[i]!] !== SIDES[side]) continue;
      centre.x += this.#positions[3 * i]!;
      count++;
    }
    centre.x /= Math.max(1, count);
    centre.y = -this.#halfExtent.y;
    return centre;
  }

  #placeLabels(): void {
    const { width, height } = this.#size;
    const [left, right] = this.#sideCentres.map((centre) => {
      const { x, y, z } = centre.clone().project(this.#camera);
      return { x: ((x + 1) / 2) * width, y: ((1 - y) / 2) * height, depth: z };
    });
    // Seen from the side, one half hides the other, and so would the labels: the nearer one stays.
    const isOneSeen = Math.abs(left!.x - right!.x) < this.#labelWidth;
    const nearest = Math.min(left!.depth, right!.depth);
    const isNoneNearer = left!.depth === right!.depth;
    const middle = (left!.y + right!.y) / 2;
    [left!, right!].forEach(({ x, y, depth }, side) => {
      const { style } = this.sideLabels[side]!;
      style.transform = `translate(${x}px, ${isOneSeen ? middle : y}px) translate(-50%, 20%)`;
      style.visibility = isOneSeen && (isNoneNearer || depth > nearest) ? 'hidden' : '';
    });
  }

  /** Distance at which the whole brain is in view, whatever the shape of the canvas. */
  #fittingDistance(): number {
    const tangent = Math.tan(((FIELD_OF_VIEW_DEGREES / 2) * Math.PI) / 180);
    const { x, y, z } = this.#halfExtent;
    return Math.max((1.3 * y) / tangent, (1.06 * x) / (tangent * this.#camera.aspect)) + 0.3 * z;
  }

  #fit(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement!;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.#size = { width: clientWidth, height: clientHeight };
    this.#labelWidth = Math.max(...this.sideLabels.map(({ offsetWidth }) => offsetWidth)) + LABEL_GAP_PIXELS;
    const before = this.#fittingDistance();
    this.#renderer.setSize(clientWidth, clientHeight, false);
    this.#camera.aspect = clientWidth / clientHeight;
    this.#camera.setViewOffset(
      clientWidth,
      clientHeight,
      0,
      -LOWERED * clientHeight,
      clientWidth,
      clientHeight,
    );
    const after = this.#fittingDistance();
    this.#camera.position.multiplyScalar(after / before);
    this.#controls.minDistance = 0.2 * after;
    this.#controls.maxDistance = 1.5 * after;
    this.#controls.update();
    this.#fitMarks();
    const tangent = Math.tan(((FIELD_OF_VIEW_DEGREES / 2) * Math.PI) / 180);
    this.#uniforms['pixelsPerUnit']!.value = (clientHeight * this.#renderer.getPixelRatio()) / (2 * tangent);
    this.#changed = true;
  }

  #onKey(event: KeyboardEvent): void {
    const place = new Spherical().setFromVector3(this.#camera.position);
    const turn: Record<string, () => void> = {
      ArrowLeft: () => (place.theta += KEYBOARD_TURN_RADIANS),
      ArrowRight: () => (place.theta -= KEYBOARD_TURN_RADIANS),
      ArrowUp: () => (place.phi -= KEYBOARD_TURN_RADIANS),
      ArrowDown: () => (place.phi += KEYBOARD_TURN_RADIANS),
      '+': () => (place.radius /= 1.1),
      '-': () => (place.radius *= 1.1),
    };
    const act = turn[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    this.#camera.position.setFromSpherical(place.makeSafe());
    this.#controls.update();
    this.#changed = true;
  }
}

/** Copies the values of some neurons, one after another. @returns `into` */
function gather<Values extends Float32Array | Uint8Array>(
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
