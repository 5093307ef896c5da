/**
 * A fly for three.js that acts out the drives of the Neural Experiment Service. Drives and movements are engineered for
 * animation, so that each drive is visible. This is not a simulation of a body.
 */
import * as THREE from 'three';
import { type Behaviour, behaviourOf } from './behaviour.js';
import { bodyGeometry } from './body-geometry.js';
import { advanceInSteps, Choreography, DEFAULT_SLOW_DOWN } from './choreography.js';
import type { Drives } from './drive-formulas.js';
import { AT_REST, type Motion } from './motion.js';
import { poseOf } from './pose.js';
import { Rig } from './rig.js';
import { drivesOf, type Model, type Run } from './run-drives.js';
import { shadowGeometry } from './shadow-geometry.js';
import { type Stimuli, StimulusScene } from './stimulus-scene.js';
import { wingGeometry } from './wing-geometry.js';
import { wingTipsOf } from './wing-tips.js';

export { StimulusScene };
export type { Behaviour, Drives, Model, Run, Stimuli };

export interface FlyOptions {
  /** Brightness of the background. It decides the colours of wings and shadow. */
  readonly background?: 'dark' | 'light';
  /** If true, the fly moves over the ground. If false, it walks on the spot, and `place` gives its virtual position. */
  readonly travels?: boolean;
  /** A soft shadow on the ground, y = 0. */
  readonly shadow?: boolean;
  /** ms of movement for each ms of a run; 50 by default. */
  readonly slowDown?: number;
}

export interface Place {
  /** On the ground, in the coordinates of the parent. */
  readonly x: number;
  readonly z: number;
  /** In radians: 0 along +z, positive to the fly's left. */
  readonly heading: number;
  /** Height of the centre of its body above the ground. */
  readonly height: number;
}

/** After a longer pause, such as that of a tab in the background, it continues without catching up. */
const MAX_CATCH_UP_MS = 1000;
const WING_COLOURS = {
  dark: { membrane: '#c9d8ff', vein: '#d9b98a', shadow: '#9fb4e6' },
  light: { membrane: '#8a7f6a', vein: '#4a3216', shadow: '#1b1408' },
} as const;

export function createFly(options: FlyOptions = {}): Fly {
  return new Fly(options);
}

/** A fly 1.3 high and 2.8 long that faces +z; scale `object` as needed. */
export class Fly {
  /** Object to add to a scene, which needs lights. */
  readonly object = new THREE.Group();
  readonly #stand = new THREE.Group();
  readonly #body: THREE.SkinnedMesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  readonly #wings: THREE.SkinnedMesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  readonly #shadow: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial> | undefined;
  readonly #skeleton: THREE.Skeleton;
  readonly #rig = new Rig();
  readonly #travels: boolean;
  readonly #slowDown: number;
  #choreography: Choreography | undefined;
  #motion: Motion = AT_REST;

  constructor({
    background = 'dark',
    travels = true,
    shadow = true,
    slowDown = DEFAULT_SLOW_DOWN,
  }: FlyOptions = {}) {
    this.#travels = travels;
    this.#slowDown = slowDown;
    const { bones } = this.#rig;
    // Vertices are in their bones' coordinates, so the bone inverses are identities.
    this.#skeleton = new THREE.Skeleton(
      bones,
      bones.map(() => new THREE.Matrix4()),
    );
    this.#body = new THREE.SkinnedMesh(
      bodyGeometry(),
      new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.42, metalness: 0.05 }),
    );
    this.#wings = new THREE.SkinnedMesh(
      new THREE.BufferGeometry(),
      new THREE.MeshStandardMaterial({
        vertexColors: true,
        transparent: true,
        depthWrite: false,
        side: THREE.DoubleSide,
        forceSinglePass: true,
        roughness: 0.5,
      }),
    );
    this.#body.castShadow = true;
    for (const mesh of [this.#body, this.#wings]) {
      mesh.bind(this.#skeleton, new THREE.Matrix4());
      // This sphere contains every pose, so three.js need not measure the mesh.
      mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(0, 1.6, 0), 5);
    }
    this.#stand.add(...bones, this.#body, this.#wings);
    if (shadow) {
      this.#shadow = new THREE.Mesh(
        new THREE.BufferGeometry(),
        new THREE.MeshBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
      );
      this.#stand.add(this.#shadow);
    }
    this.object.add(this.#stand);
    this.object.name = 'fly (engineered)';
    this.setBackground(background);
    this.#show(AT_REST);
  }

  setBackground(background: 'dark' | 'light'): void {
    const { membrane, vein, shadow } = WING_COLOURS[background];
    this.#wings.geometry.dispose();
    this.#wings.geometry = wingGeometry(membrane, vein);
    if (this.#shadow === undefined) return;
    this.#shadow.geometry.dispose();
    this.#shadow.geometry = shadowGeometry(shadow, background === 'dark');
  }

  /**
   * Acts out drives for some time. Games call this for each frame.
   * @param drive of a response; a game may let it fade
   * @param elapsedMs since the last call
   */
  act(drive: Drives, elapsedMs: number): void {
    this.#show(advanceInSteps(this.#motion, drive, Math.min(elapsedMs, MAX_CATCH_UP_MS)));
  }

  /** Returns the fly to its origin, at rest. */
  reset(): void {
    this.#show(AT_REST);
  }

  /**
   * Loads a run for showAt(). Each frame has drives from its own channel rates.
   * @param run response with view=full
   * @param model answer of GET /api/v1/model from the same service, with the formulas of the drives
   */
  load(run: Run, model: Model): void {
    this.#choreography = new Choreography(drivesOf(run, model), this.#slowDown);
  }

  /**
   * Shows the pose at a moment of the loaded run. The same moment always gives the same pose. After the end of the run,
   * the fly comes to rest.
   * @param timeMs since the start of the run, in its own time
   * @throws Error if no run is loaded; RangeError if timeMs is no number
   */
  showAt(timeMs: number): void {
    if (this.#choreography === undefined) throw new Error('No run is loaded: call load() before showAt().');
    this.#show(this.#choreography.at(timeMs));
  }

  /** Its position, or its virtual position if it does not travel. If the ground moves by the opposite, feet do not slip. */
  get place(): Place {
    const { x, z, heading } = this.#motion;
    return { x, z, heading, height: poseOf(this.#motion).body.centre[1] };
  }

  /**
   * Tips of its wings, in the coordinates of `object`: a camera can keep these points in view. They are constant
   * during a wing beat.
   */
  get wingTips(): readonly THREE.Vector3[] {
    this.#stand.updateMatrix();
    return wingTipsOf(poseOf(this.#motion)).map((tip) =>
      new THREE.Vector3(...tip).applyMatrix4(this.#stand.matrix),
    );
  }

  /** Behaviour in a word or two, for a caption. */
  get behaviour(): Behaviour {
    return behaviourOf(this.#motion);
  }

  /** Frees the memory of the GPU. The fly must not be used afterwards. */
  dispose(): void {
    this.object.removeFromParent();
    for (const mesh of [this.#body, this.#wings, this.#shadow]) {
      mesh?.geometry.dispose();
      mesh?.material.dispose();
    }
    this.#skeleton.dispose();
  }

  #show(motion: Motion): void {
    this.#motion = motion;
    const pose = poseOf(motion);
    if (this.#travels) {
      this.#stand.position.set(pose.place.x, 0, pose.place.z);
      this.#stand.rotation.y = pose.place.heading;
    }
    this.#rig.show(pose);
    if (this.#shadow !== undefined) {
      const height = pose.body.centre[1];
      this.#shadow.material.opacity = 1.25 / (0.4 + height);
      this.#shadow.scale.setScalar(0.8 + 0.25 * height);
    }
  }
}
