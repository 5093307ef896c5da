/** Shows the body that acts out the drives of a run, synchronous with the brain. */
import * as THREE from 'three';
import { Orbit } from '../brain/orbit.js';
import type { FullRun, Model } from '../service/client.js';
import { createFly, type Drives, type Fly, type Stimuli, StimulusScene } from '../../fly/src/fly.js';
import type { Moment, Playback } from '../playback.js';
import { onThemeChange, readTheme } from '../theme.js';
import { DEFAULT_SLOW_DOWN } from '../../fly/src/choreography.js';
import { withLessMotion } from '../window.js';

const FIELD_OF_VIEW_DEGREES = 28;
/** Tangent of half the field of view. */
const TANGENT = Math.tan((FIELD_OF_VIEW_DEGREES / 2) * (Math.PI / 180));
const MAX_PIXEL_RATIO = 2;
const KEYBOARD_TURN_RADIANS = 0.2;
/** Distance between the marks on the ground, and their number on each side of the grid. */
const MARK_SPACING = 1.2;
const MARKS = 14;
/** Extents that must be in view: those of a standing fly, and of a flying fly with spread wings. */
const VIEWS = {
  standing: { centreHeight: 0.5, halfHeight: 1.45, halfWidth: 2.25 },
  flying: { centreHeight: 1.9, halfHeight: 2, halfWidth: 2.4 },
} as const;
/** The nearest part of the fly is at most this much nearer to the camera than its centre. */
const NEAREST_PART = 1.2;
/** Fraction of the picture that wings may fill, so that they do not touch the edge. */
const WING_SHARE = 0.86;
const [STANDING_HEIGHT, FLYING_HEIGHT] = [0.95, 2.2];
const AZIMUTH_RADIANS = 0.9;
const POLAR_RADIANS = 1.25;
/** Time of the run at which a stimulus has its full strength. */
const ARRIVES_IN_MS = 5;

export class FlyView {
  readonly #canvas: HTMLCanvasElement;
  readonly #name: HTMLElement;
  readonly #behaviour: HTMLElement;
  readonly #renderer: THREE.WebGLRenderer;
  readonly #scene = new THREE.Scene();
  readonly #camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW_DEGREES, 1, 0.1, 60);
  readonly #orbit: Orbit;
  readonly #fly: Fly = createFly({ travels: false });
  readonly #stimuli = new StimulusScene();
  readonly #ground: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;
  readonly #sky = new THREE.HemisphereLight('#dfe8ff', '#6a5238');
  #run: FullRun | undefined;
  #isLive = false;
  /** Direction of a live stimulus, and the time for which stimuli have moved. */
  #facing = 0;
  #liveMs = 0;
  #changed = true;

  /**
   * @param frame has a canvas, and a caption for the name of the fly and its behaviour
   * @throws Error if the browser has no WebGL
   */
  constructor(
    private readonly model: Model,
    private readonly playback: Playback,
    private readonly frame: HTMLElement,
  ) {
    this.#canvas = frame.querySelector('canvas')!;
    this.#name = frame.querySelector('.who')!;
    this.#behaviour = frame.querySelector('.who + span')!;
    this.#renderer = new THREE.WebGLRenderer({ canvas: this.#canvas, antialias: true });
    // Checking for errors would wait for the shader compiler.
    this.#renderer.debug.checkShaderErrors = false;
    this.#ground = groundMarks();
    const [sun, rim] = [
      new THREE.DirectionalLight('#fff3dd', 2.6),
      new THREE.DirectionalLight('#9ab8ff', 1.6),
    ];
    sun.position.set(3, 6, 4);
    rim.position.set(-4, 3, -5);
    this.#scene.add(this.#fly.object, this.#stimuli.object, this.#ground, this.#sky, sun, rim);

    this.#orbit = new Orbit(this.#canvas, TANGENT, 0, () => this.#follow());
    this.#orbit.keepBetween(1, 1);
    // The camera stays above the ground.
    this.#orbit.maxPolar = Math.PI / 2 - 0.02;
    this.#orbit.place(AZIMUTH_RADIANS, POLAR_RADIANS, 1);
    this.#canvas.addEventListener('keydown', (event) => this.#onKey(event));
    // The renderer loses its background with the context.
    this.#canvas.addEventListener('webglcontextrestored', () => this.#paintIn());
    new ResizeObserver(() => this.#fit()).observe(this.frame);
    this.#fit();
    this.#paintIn();
    onThemeChange(() => this.#paintIn());
    playback.onMoment((moment) => this.#act(moment));
    playback.onFrame(() => this.#render());
  }

  /** Its name in the caption. */
  set name(name: string) {
    this.#name.textContent = `${name} `;
  }

  show(run: FullRun): void {
    this.#fly.load(run, this.model);
    this.#run = run;
    this.setLive(false);
    this.playback.refresh();
  }

  /** Ends the act, until a run is shown again. */
  rest(): void {
    this.#run = undefined;
    this.#isLive = false;
  }

  /** Draws again. The canvas then has its picture until the end of the frame. */
  picture(): HTMLCanvasElement {
    this.#changed = true;
    this.#render();
    return this.#canvas;
  }

  /** Makes the fly live, from rest, until a run is shown again. A pointer does not turn a live fly. */
  setLive(isLive: boolean): void {
    if (isLive && !this.#isLive) this.#fly.reset();
    this.#isLive = isLive;
    this.#orbit.isDraggable = !isLive;
    this.#canvas.style.touchAction = isLive ? 'none' : 'pan-y';
    if (!isLive) this.playback.refresh();
  }

  /**
   * @param drive drives to act out
   * @param elapsedMs since the last call
   */
  actLive(drive: Drives, elapsedMs: number, stimuli: Stimuli): void {
    this.#fly.act(drive, elapsedMs);
    this.#liveMs += withLessMotion.matches ? 0 : elapsedMs;
    if (Object.keys(stimuli).length === 0) this.#facing = this.#fly.place.heading;
    this.#showFly(stimuli, this.#liveMs, this.#facing);
  }

  #act({ timeMs }: Moment): void {
    if (this.#run === undefined || this.#isLive) return;
    this.#fly.showAt(timeMs);
    const { stimulus, duration_ms: durationMs } = this.#run;
    // An object approaches during the whole run; any other stimulus is there at once.
    const strength = stimulus === 'loom' ? timeMs / durationMs : Math.min(1, timeMs / ARRIVES_IN_MS);
    this.#showFly({ [stimulus]: strength }, timeMs * DEFAULT_SLOW_DOWN, 0);
  }

  #showFly(stimuli: Stimuli, timeMs: number, facing: number): void {
    const { x, z, heading, height } = this.#fly.place;
    this.#stimuli.show(stimuli, timeMs, { x: 0, z: 0, heading, height }, facing);
    // The fly stays in the centre and turns; the ground moves below it.
    this.#fly.object.rotation.y = heading;
    this.#ground.position.set(-x % MARK_SPACING, 0, -z % MARK_SPACING);
    this.#follow();
    const { behaviour } = this.#fly;
    const label = `${this.#name.textContent}acts out its drives: it ${behaviour}. Left and right arrow keys turn the drawing.`;
    if (this.#canvas.ariaLabel !== label) {
      this.#behaviour.textContent = behaviour;
      this.#canvas.ariaLabel = label;
    }
    this.#changed = true;
  }

  #render(): void {
    if (!this.#changed) return;
    this.#changed = false;
    this.#renderer.render(this.#scene, this.#camera);
  }

  #paintIn(): void {
    const theme = readTheme();
    const background = theme.dark ? 'dark' : 'light';
    this.#fly.setBackground(background);
    this.#stimuli.setBackground(background);
    this.#renderer.setClearColor(theme.stage);
    this.#sky.intensity = theme.dark ? 1.5 : 2.2;
    this.#ground.material.color.set(theme.muted);
    this.#changed = true;
  }

  #fit(): void {
    const { clientWidth, clientHeight } = this.frame;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, MAX_PIXEL_RATIO));
    this.#renderer.setSize(clientWidth, clientHeight, false);
    this.#camera.aspect = clientWidth / clientHeight;
    this.#camera.updateProjectionMatrix();
    this.#follow();
  }

  /** Moves the camera so that the fly is in view; keeps its direction. */
  #follow(): void {
    const risen = (this.#fly.place.height - STANDING_HEIGHT) / (FLYING_HEIGHT - STANDING_HEIGHT);
    const share = Math.min(1, Math.max(0, risen));
    const between = (key: keyof typeof VIEWS.standing): number =>
      VIEWS.standing[key] + share * (VIEWS.flying[key] - VIEWS.standing[key]);
    const towards = new THREE.Vector3(...this.#orbit.direction);
    const right = this.#camera.up.clone().cross(towards).normalize();
    const up = towards.clone().cross(right);
    const { aspect } = this.#camera;
    const distanceFor = (halfHeight: number): number =>
      Math.max(halfHeight, between('halfWidth') / aspect) / TANGENT + NEAREST_PART;
    const tips = this.#fly.wingTips.map((tip) =>
      tip.applyAxisAngle(this.#camera.up, this.#fly.place.heading),
    );
    const seenFrom = (centre: THREE.Vector3) =>
      tips.map((tip) => {
        const from = tip.clone().sub(centre);
        return { x: from.dot(right), y: from.dot(up), nearer: from.dot(towards) };
      });

    // Raised wings move the centre of the picture up, which leaves less empty space below the fly.
    const centre = new THREE.Vector3(0, between('centreHeight'), 0);
    const usual = distanceFor(between('halfHeight'));
    const aboveEdge = seenFrom(centre).map(({ y, nearer }) => y - WING_SHARE * TANGENT * (usual - nearer));
    const raised = Math.max(0, ...aboveEdge) / 2;
    centre.y += raised;
    const distance = Math.max(
      distanceFor(between('halfHeight') + raised),
      ...seenFrom(centre).map(
        ({ x, y, nearer }) => Math.max(y, Math.abs(x) / aspect) / (WING_SHARE * TANGENT) + nearer,
      ),
    );
    this.#camera.position.copy(towards.multiplyScalar(distance).add(centre));
    this.#camera.lookAt(centre);
    this.#changed = true;
  }

  #onKey(event: KeyboardEvent): void {
    const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (turn === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#orbit.turn(turn * KEYBOARD_TURN_RADIANS);
  }
}

/** Points on the ground, fainter with distance, which make walking visible. */
function groundMarks(): THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> {
  const positions: number[] = [];
  const colours: number[] = [];
  for (let i = -MARKS; i <= MARKS; i++) {
    for (let j = -MARKS; j <= MARKS; j++) {
      const [x, z] = [i * MARK_SPACING, j * MARK_SPACING];
      positions.push(x, 0, z);
      colours.push(1, 1, 1, Math.max(0, 1 - Math.hypot(i, j) / MARKS) ** 2);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(colours), 4));
  return new THREE.Points(
    geometry,
    new THREE.PointsMaterial({ size: 0.07, vertexColors: true, transparent: true, depthWrite: false }),
  );
}
