/** The brain as a cloud of its neurons, in one draw call. */
import {
  AddEquation,
  BufferAttribute,
  BufferGeometry,
  CustomBlending,
  DynamicDrawUsage,
  OneFactor,
  PerspectiveCamera,
  Points,
  Scene,
  ShaderMaterial,
  Spherical,
  SrcColorFactor,
  Vector3,
  WebGLRenderer,
  ZeroFactor,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { rgbOf, superClassIndex, type Theme } from '../theme.js';
import type { CompactAtlas } from '../../../connectome/atlas-binary.js';
import { SIDES } from '../../../connectome/connectome.js';
import { displayPositions } from './display-positions.js';
import { FRAGMENT_SHADER, KINDS, VERTEX_SHADER } from './shaders.js';

const FIELD_OF_VIEW_DEGREES = 28;
const MAXIMUM_PIXEL_RATIO = 2;
const KEYBOARD_TURN_RADIANS = 0.12;
const PICK_RADIUS_PIXELS = 9;
/** Of the neurons at either end of an axis this share may lie outside the view. */
const OUTLYING_SHARE = 0.003;
const FAINTEST_KIND = 0.5;
const STRONGEST_KIND = 1.3;
/** Strength of neurons at rest; less beside a run, whose light must not be lost among them. */
const REST_STRENGTH = { dark: 0.3, light: 0.26 };
const BESIDE_A_RUN = 0.4;
/** Bytes of `light` for each neuron: the run, the kept run, and two that keep the stride aligned. */
export const LIGHT_STRIDE = 4;

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
  readonly light: Uint8Array;
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(FIELD_OF_VIEW_DEGREES, 1, 0.01, 20);
  readonly #controls: OrbitControls;
  readonly #material: ShaderMaterial;
  readonly #positions: Float32Array;
  readonly #traits: Uint8Array;
  readonly #traitsAttribute: BufferAttribute;
  readonly #lightAttribute: BufferAttribute;
  readonly #halfExtent = new Vector3();
  readonly #sideCentres: readonly Vector3[];
  #restStrength = REST_STRENGTH.dark;
  #isBesideRun = false;
  #changed = true;

  /** @throws Error where the browser has no WebGL */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly sideLabels: readonly HTMLElement[],
    private readonly atlas: CompactAtlas,
  ) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: 'high-performance' });
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, MAXIMUM_PIXEL_RATIO));

    this.#positions = this.#place(displayPositions(atlas));
    this.#sideCentres = [0, 1].map((side) => this.#centreOf(side));
    this.light = new Uint8Array(LIGHT_STRIDE * atlas.neuronCount);
    this.#traits = new Uint8Array(4 * atlas.neuronCount);
    for (let i = 0; i < atlas.neuronCount; i++) {
      this.#traits[4 * i] = superClassIndex(atlas.types[atlas.typeIndices[i]!]!.superClass);
      this.#traits[4 * i + 1] = atlas.estimated[i]!;
    }

    const geometry = new BufferGeometry();
    this.#lightAttribute = new BufferAttribute(this.light, LIGHT_STRIDE, true).setUsage(DynamicDrawUsage);
    this.#traitsAttribute = new BufferAttribute(this.#traits, 4);
    geometry.setAttribute('position', new BufferAttribute(this.#positions, 3));
    geometry.setAttribute('light', this.#lightAttribute);
    geometry.setAttribute('traits', this.#traitsAttribute);
    this.#material = new ShaderMaterial({
      vertexShader: VERTEX_SHADER,
      fragmentShader: FRAGMENT_SHADER,
      depthTest: false,
      depthWrite: false,
      transparent: true,
      blending: CustomBlending,
      blendEquation: AddEquation,
      uniforms: {
        pixelsPerUnit: { value: 1 },
        restSize: { value: 0.0065 },
        glowSize: { value: 0.026 },
        restStrength: { value: this.#restStrength },
        kindColours: { value: Array.from({ length: KINDS }, () => new Vector3()) },
        kindStrengths: { value: this.#kindStrengths() },
        estimatedStrength: { value: atlas.estimated.includes(0) ? 0.6 : 1 },
        runColour: { value: new Vector3() },
        keptColour: { value: new Vector3() },
        onPaper: { value: false },
        anyMarked: { value: false },
      },
    });
    const points = new Points(geometry, this.#material);
    points.frustumCulled = false;
    this.#scene.add(points);

    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.enablePan = false;
    this.#controls.rotateSpeed = 0.6;
    this.#controls.addEventListener('change', () => (this.#changed = true));
    // One finger scrolls the page up and down; it turns the brain sideways.
    canvas.style.touchAction = 'pan-y';
    canvas.addEventListener('keydown', (event) => this.#onKey(event));
    new ResizeObserver(() => this.#fit()).observe(canvas.parentElement!);
    this.#fit();
    this.lookFrom('front');
  }

  setTheme(theme: Theme): void {
    const { uniforms } = this.#material;
    const rgb = (colour: string): Vector3 => new Vector3(...rgbOf(colour));
    uniforms['kindColours']!.value = theme.superClasses.map(rgb);
    uniforms['runColour']!.value = rgb(theme.run);
    uniforms['keptColour']!.value = rgb(theme.kept);
    uniforms['onPaper']!.value = !theme.dark;
    this.#restStrength = theme.dark ? REST_STRENGTH.dark : REST_STRENGTH.light;
    this.dimResting(this.#isBesideRun);
    this.#material.blendSrc = theme.dark ? OneFactor : ZeroFactor;
    this.#material.blendDst = theme.dark ? OneFactor : SrcColorFactor;
    this.#renderer.setClearColor(theme.stage);
    this.#changed = true;
  }

  lookFrom(viewpoint: keyof typeof VIEWPOINTS): void {
    const [azimuth, polar] = VIEWPOINTS[viewpoint];
    this.#camera.position.setFromSpherical(new Spherical(this.#fittingDistance(), polar, azimuth));
    this.#controls.update();
    this.#changed = true;
  }

  /** Points out the neurons of one type, as a run's top_types name it; undefined points out none. */
  mark(type: string | undefined, ofSuperClass: string | undefined): void {
    const index = this.atlas.types.findIndex(
      ({ name, superClass }) =>
        superClass === ofSuperClass && (name === type || (name === '' && type?.startsWith('untyped'))),
    );
    for (let i = 0; i < this.atlas.neuronCount; i++) {
      this.#traits[4 * i + 2] = this.atlas.typeIndices[i] === index ? 1 : 0;
    }
    this.#traitsAttribute.needsUpdate = true;
    this.#material.uniforms['anyMarked']!.value = index >= 0;
    this.#changed = true;
  }

  /** Draws the neurons at rest fainter, for as long as a run is shown. */
  dimResting(isBesideRun: boolean): void {
    this.#isBesideRun = isBesideRun;
    this.#material.uniforms['restStrength']!.value = this.#restStrength * (isBesideRun ? BESIDE_A_RUN : 1);
    this.#changed = true;
  }

  /** The bytes of `light` have changed. */
  show(): void {
    this.#lightAttribute.needsUpdate = true;
    this.#changed = true;
  }

  /** Draws if anything has changed since the last time. @returns whether it drew */
  render(): boolean {
    if (!this.#changed) return false;
    this.#changed = false;
    this.#renderer.render(this.#scene, this.#camera);
    this.#placeLabels();
    return true;
  }

  get drawCalls(): number {
    return this.#renderer.info.render.calls;
  }

  /** The neuron under a point of the canvas, the brightest one of those that are close. */
  pick(x: number, y: number): Picked | undefined {
    const { width, height } = this.canvas.getBoundingClientRect();
    const matrix = this.#camera.projectionMatrix.clone().multiply(this.#camera.matrixWorldInverse).elements;
    const positions = this.#positions;
    let best: Picked | undefined;
    let bestScore = -Infinity;
    for (let i = 0; i < this.atlas.neuronCount; i++) {
      const [px, py, pz] = [positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!];
      const w = matrix[3]! * px + matrix[7]! * py + matrix[11]! * pz + matrix[15]!;
      const sx = ((matrix[0]! * px + matrix[4]! * py + matrix[8]! * pz + matrix[12]!) / w + 1) * 0.5 * width;
      if (Math.abs(sx - x) > PICK_RADIUS_PIXELS) continue;
      const sy = (1 - (matrix[1]! * px + matrix[5]! * py + matrix[9]! * pz + matrix[13]!) / w) * 0.5 * height;
      const distance = Math.hypot(sx - x, sy - y);
      if (distance > PICK_RADIUS_PIXELS) continue;
      const light = Math.max(this.light[LIGHT_STRIDE * i]!, this.light[LIGHT_STRIDE * i + 1]!);
      const score = light - distance;
      if (score > bestScore) {
        bestScore = score;
        best = { neuron: i, x: sx, y: sy };
      }
    }
    return best;
  }

  /**
   * From the axes of the atlas (low x is the fly's left, y points down, low z is the front) to those of the
   * scene, seen from the front: the fly's left is on the right, as with anybody one looks in the face.
   */
  #place(positions: Float32Array): Float32Array {
    const centre = [0, 1, 2].map((axis) => {
      const along = Float32Array.from(
        { length: positions.length / 3 },
        (_, i) => positions[3 * i + axis]!,
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
    for (let i = 0; i < this.atlas.neuronCount; i++) counts[this.#traits[4 * i]!]!++;
    return counts.map((count) => {
      const crowding = (KINDS * count) / this.atlas.neuronCount;
      return crowding === 0 ? 0 : Math.min(STRONGEST_KIND, Math.max(FAINTEST_KIND, crowding ** -0.5));
    });
  }

  #centreOf(side: number): Vector3 {
    const centre = new Vector3();
    let count = 0;
    for (let i = 0; i < this.atlas.neuronCount; i++) {
      if (SIDES[this.atlas.sides[i]!] !== SIDES[side]) continue;
      centre.x += this.#positions[3 * i]!;
      count++;
    }
    centre.x /= Math.max(1, count);
    centre.y = -this.#halfExtent.y;
    return centre;
  }

  #placeLabels(): void {
    this.sideLabels.forEach((label, side) => {
      const { x, y } = this.#sideCentres[side]!.clone().project(this.#camera);
      const { clientWidth, clientHeight } = this.canvas;
      label.style.transform = `translate(${((x + 1) / 2) * clientWidth}px, ${((1 - y) / 2) * clientHeight}px) translate(-50%, 20%)`;
    });
  }

  /** At this distance the whole brain is in view, whatever the shape of the canvas. */
  #fittingDistance(): number {
    const tangent = Math.tan(((FIELD_OF_VIEW_DEGREES / 2) * Math.PI) / 180);
    const { x, y, z } = this.#halfExtent;
    return Math.max((1.3 * y) / tangent, (1.06 * x) / (tangent * this.#camera.aspect)) + 0.3 * z;
  }

  #fit(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement!;
    if (clientWidth === 0 || clientHeight === 0) return;
    const before = this.#fittingDistance();
    this.#renderer.setSize(clientWidth, clientHeight, false);
    this.#camera.aspect = clientWidth / clientHeight;
    this.#camera.updateProjectionMatrix();
    const after = this.#fittingDistance();
    this.#camera.position.multiplyScalar(after / before);
    this.#controls.minDistance = 0.2 * after;
    this.#controls.maxDistance = 1.5 * after;
    this.#controls.update();
    const tangent = Math.tan(((FIELD_OF_VIEW_DEGREES / 2) * Math.PI) / 180);
    this.#material.uniforms['pixelsPerUnit']!.value =
      (clientHeight * this.#renderer.getPixelRatio()) / (2 * tangent);
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
