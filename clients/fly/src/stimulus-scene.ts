/**
 * Draws the stimuli around the fly: an approaching object, a drop at its mouth, a plume of odour. They are engineered
 * to be distinguishable, and none is to scale.
 */
import * as THREE from 'three';
import { STANDING_HEIGHT, type Vec3 } from './anatomy.js';

/**
 * Strengths by the ids of stimuli of version 1, from 0 (invisible) to 1. The strength of `loom` is the nearness of the
 * object. Other names are ignored.
 */
export type Stimuli = Readonly<Record<string, number>>;

/** Position of the fly, as in `Fly.place`. */
interface Stand {
  readonly x: number;
  readonly z: number;
  readonly heading: number;
  readonly height: number;
}

const AT_ORIGIN: Stand = { x: 0, z: 0, heading: 0, height: STANDING_HEIGHT };
const TASTES = { sugar: '#f4c04e', bitter: '#6f8f3a' } as const;
const PLUMES = { food: '#e0a030', pheromone: '#d9669f', humid: '#5aa5f0' } as const;
const PUFFS = 36;
const PUFF_MS = 2600;
const [PLUME_FROM, PLUME_TO]: readonly [Vec3, Vec3] = [
  [0.35, 1.15, 2.5],
  [0, 0.95, 0.85],
];
const [FAR, NEAR]: readonly [Vec3, Vec3] = [
  [0.5, 1.5, 2.6],
  [0.2, 1.45, 2.05],
];
/** Fraction of its distance that is left at a strength of 1. The object looks larger in proportion to 1 / distance. */
const OBJECT_LEFT = 0.14;
const OBJECT_RADIUS = 0.12;
const WAVES = 3;
const WAVE_MS = 900;
const GLOW_PIXELS = 32;
const SEEN = 0.01;

export class StimulusScene {
  /** Object to add to the scene that the fly is in. */
  readonly object = new THREE.Group();
  /** Objects that turn and rise with the fly, and objects around it. */
  readonly #held = new THREE.Group();
  readonly #around = new THREE.Group();
  readonly #object: THREE.Mesh<THREE.SphereGeometry, THREE.MeshStandardMaterial>;
  readonly #taste = new THREE.Group();
  readonly #drop: THREE.Mesh<THREE.SphereGeometry, THREE.MeshStandardMaterial>;
  readonly #hair: THREE.Mesh;
  readonly #wing = new THREE.Group();
  readonly #waves: THREE.InstancedMesh;
  readonly #puffs: THREE.InstancedMesh<THREE.IcosahedronGeometry, THREE.MeshBasicMaterial>;
  readonly #heat: THREE.Sprite;
  readonly #light: THREE.Sprite;
  readonly #disposables: { dispose(): void }[] = [];

  constructor() {
    this.#object = this.#mesh(
      new THREE.SphereGeometry(1, 32, 20),
      new THREE.MeshStandardMaterial({ roughness: 0.9 }),
    );
    this.#drop = this.#mesh(
      new THREE.SphereGeometry(0.13, 20, 14),
      new THREE.MeshStandardMaterial({ roughness: 0.1, transparent: true, opacity: 0.9 }),
    );
    const wood = new THREE.MeshStandardMaterial({ color: '#a98a62', roughness: 0.9 });
    const stick = this.#mesh(new THREE.CylinderGeometry(0.03, 0.05, 1.3, 8), wood);
    stick.position.set(0, 0.17, 0.64);
    stick.rotation.x = -1.83;
    this.#taste.add(this.#drop, stick);
    this.#hair = this.#mesh(new THREE.ConeGeometry(0.04, 1.7, 8).translate(0, -0.85, 0), wood);
    const membrane = new THREE.MeshStandardMaterial({
      color: '#9db4e8',
      transparent: true,
      opacity: 0.6,
      side: THREE.DoubleSide,
      depthWrite: false,
    });
    const blade = this.#mesh(
      new THREE.CircleGeometry(0.5, 28)
        .scale(0.42, 1, 1)
        .rotateX(-Math.PI / 2)
        .translate(0, 0, -0.5),
      membrane,
    );
    this.#wing.add(blade);
    this.#waves = this.#instances(
      new THREE.TorusGeometry(1, 0.035, 6, 32),
      new THREE.MeshBasicMaterial({ color: '#7f9be0', transparent: true, opacity: 0.7, depthWrite: false }),
      WAVES,
    );
    this.#puffs = this.#instances(
      new THREE.IcosahedronGeometry(1, 1),
      new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.6, depthWrite: false }),
      PUFFS,
    );
    const glow = glowTexture();
    this.#disposables.push(glow);
    [this.#heat, this.#light] = [this.#glow(glow, '#ff6a2a'), this.#glow(glow, '#8a7bff')];
    this.#held.add(this.#taste, this.#hair);
    this.#around.add(this.#object, this.#wing, this.#waves, this.#puffs, this.#heat, this.#light);
    this.object.add(this.#held, this.#around);
    this.object.name = 'stimuli (engineered)';
    this.setBackground('dark');
    this.show({}, 0);
  }

  /** Sets the background, so that the approaching object contrasts with it. */
  setBackground(background: 'dark' | 'light'): void {
    this.#object.material.color.set(background === 'dark' ? '#7d8494' : '#1d1f26');
  }

  /**
   * Shows the stimuli at a moment. The same arguments always give the same picture.
   * @param timeMs moves fluttering and drifting objects
   * @param place of the fly, in the coordinates of the parent of `object`
   * @param facing direction from which stimuli come, in radians like `place.heading`
   */
  show(stimuli: Stimuli, timeMs: number, place: Stand = AT_ORIGIN, facing = 0): void {
    const of = (id: string): number => Math.min(1, Math.max(0, stimuli[id] ?? 0));
    this.#held.position.set(place.x, place.height - STANDING_HEIGHT, place.z);
    this.#held.rotation.y = place.heading;
    this.#around.position.set(place.x, 0, place.z);
    this.#around.rotation.y = facing;
    this.#showObject(of('loom'));
    this.#showTaste(of('sugar'), of('bitter'));
    this.#showHair(of('touch'), timeMs);
    this.#showSong(of('song'), timeMs);
    this.#showPlumes(of, timeMs);
    showGlow(this.#heat, of('heat'), [0.3, 0.35, 1.75], 2.1 + 0.2 * Math.sin(timeMs / 130));
    showGlow(this.#light, of('colour'), [0.3, 1.55, 1.6], 1.9);
    this.#light.material.color.setHSL(0.55 + 0.2 * Math.sin(timeMs / 700), 0.9, 0.62);
  }

  /** Frees the memory of the GPU. */
  dispose(): void {
    this.object.removeFromParent();
    for (const each of this.#disposables) each.dispose();
  }

  #showObject(near: number): void {
    this.#object.visible = near > SEEN;
    this.#object.position.set(...between(FAR, NEAR, near));
    this.#object.position.y += this.#held.position.y;
    this.#object.scale.setScalar(OBJECT_RADIUS / (1 + OBJECT_LEFT - near));
  }

  #showTaste(sugar: number, bitter: number): void {
    const strength = Math.max(sugar, bitter);
    this.#taste.visible = strength > SEEN;
    this.#taste.position.set(0, 0.2, 1.1 + 0.7 * (1 - strength));
    this.#drop.material.color.set(bitter > sugar ? TASTES.bitter : TASTES.sugar);
  }

  #showHair(touch: number, timeMs: number): void {
    this.#hair.visible = touch > SEEN;
    const stroke = 0.12 * Math.sin(timeMs / 110);
    this.#hair.position.set(0.12 + 0.5 * stroke, 1.0 + 0.6 * (1 - touch), 1.06 + 0.5 * stroke);
    // The tip, which is its origin, lies on the antennae.
    this.#hair.rotation.set(Math.PI + 0.75 + stroke, 0, 0.35);
  }

  #showSong(song: number, timeMs: number): void {
    this.#wing.visible = this.#waves.visible = song > SEEN;
    if (!this.#wing.visible) return;
    this.#wing.position.set(-0.4, 1.05, 1.75);
    this.#wing.rotation.set(0.2 + 0.35 * Math.sin(timeMs / 24), 2.4, 0.5);
    for (let i = 0; i < WAVES; i++) {
      const share = ((timeMs / WAVE_MS + i / WAVES) % 1) * song;
      at.set(...between([-0.3, 1, 1.6], [0, 0.98, 0.95], share));
      // They run from the wing towards the antennae.
      matrix.makeRotationY(Math.PI - 0.4).scale(sized.setScalar(0.08 + 0.3 * share));
      this.#waves.setMatrixAt(i, matrix.setPosition(at));
    }
    this.#waves.instanceMatrix.needsUpdate = true;
  }

  #showPlumes(of: (id: string) => number, timeMs: number): void {
    const kinds = (Object.keys(PLUMES) as (keyof typeof PLUMES)[]).filter((kind) => of(kind) > SEEN);
    this.#puffs.visible = kinds.length > 0;
    if (kinds.length === 0) return;
    for (let i = 0; i < PUFFS; i++) {
      const kind = kinds[i % kinds.length]!;
      // The golden angle spreads the puffs evenly.
      const [share, angle] = [(timeMs / PUFF_MS + i * 0.618) % 1, i * 2.4 + timeMs / 900];
      const radius = (0.08 + 0.4 * share * (1 - 0.5 * share)) * ((i % 5) + 1) * 0.2;
      const [x, y, z] = between(PLUME_FROM, PLUME_TO, share);
      at.set(x + radius * Math.cos(angle), y + radius * Math.sin(angle), z);
      const size = (0.035 + 0.05 * share) * Math.sin(Math.PI * share) * of(kind);
      this.#puffs.setMatrixAt(i, matrix.makeScale(size, size, size).setPosition(at));
      this.#puffs.setColorAt(i, colour.set(PLUMES[kind]));
    }
    this.#puffs.instanceMatrix.needsUpdate = true;
    this.#puffs.instanceColor!.needsUpdate = true;
  }

  #mesh<G extends THREE.BufferGeometry, M extends THREE.Material>(
    geometry: G,
    material: M,
  ): THREE.Mesh<G, M> {
    this.#disposables.push(geometry, material);
    return new THREE.Mesh(geometry, material);
  }

  #instances<G extends THREE.BufferGeometry, M extends THREE.Material>(
    geometry: G,
    material: M,
    count: number,
  ): THREE.InstancedMesh<G, M> {
    const mesh = new THREE.InstancedMesh(geometry, material, count);
    // Their positions change, so bounds measured once would be wrong.
    mesh.frustumCulled = false;
    this.#disposables.push(geometry, material, mesh);
    return mesh;
  }

  #glow(map: THREE.DataTexture, color: string): THREE.Sprite {
    const material = new THREE.SpriteMaterial({ map, color, transparent: true, depthWrite: false });
    this.#disposables.push(material);
    return new THREE.Sprite(material);
  }
}

function showGlow(sprite: THREE.Sprite, strength: number, place: Vec3, size: number): void {
  sprite.visible = strength > SEEN;
  sprite.position.set(...place);
  sprite.scale.setScalar(size);
  sprite.material.opacity = 0.85 * strength;
}

function between(from: Vec3, to: Vec3, share: number): [number, number, number] {
  return [0, 1, 2].map((axis) => from[axis]! + share * (to[axis]! - from[axis]!)) as [number, number, number];
}

/** White that fades from the centre to the edge. */
function glowTexture(): THREE.DataTexture {
  const pixels = new Uint8Array(4 * GLOW_PIXELS ** 2).fill(255);
  for (let i = 0; i < GLOW_PIXELS ** 2; i++) {
    const [x, y] = [i % GLOW_PIXELS, Math.floor(i / GLOW_PIXELS)].map((p) => (2 * p + 1) / GLOW_PIXELS - 1);
    pixels[4 * i + 3] = 255 * Math.max(0, 1 - Math.hypot(x!, y!)) ** 1.6;
  }
  const texture = new THREE.DataTexture(pixels, GLOW_PIXELS, GLOW_PIXELS);
  texture.magFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** Reused by each call, so that drawing allocates nothing. */
const [at, sized, matrix, colour] = [
  new THREE.Vector3(),
  new THREE.Vector3(),
  new THREE.Matrix4(),
  new THREE.Color(),
];
