import { BufferAttribute, BufferGeometry, Color } from 'three';
import { type BoneName, BONES } from './bones.js';

/** Writes the colour of a vertex with these coordinates into `into`. */
export type Paint = (x: number, y: number, z: number, into: Color) => void;

const plain =
  (colour: string): Paint =>
  (_x, _y, _z, into) =>
    void into.set(colour);

/** Collects shapes into one geometry. Each vertex belongs to one bone. */
export class Builder {
  readonly #positions: number[] = [];
  readonly #normals: number[] = [];
  readonly #colours: number[] = [];
  readonly #bones: number[] = [];
  readonly #indices: number[] = [];

  /** Adds a shape to a bone. `paint` is called for each vertex. */
  add(bone: BoneName, shape: BufferGeometry, paint: Paint | string, alpha?: (index: number) => number): this {
    const first = this.#bones.length;
    const positions = shape.getAttribute('position');
    const normals = shape.getAttribute('normal');
    const colour = new Color();
    const applied = typeof paint === 'string' ? plain(paint) : paint;
    for (let i = 0; i < positions.count; i++) {
      const [x, y, z] = [positions.getX(i), positions.getY(i), positions.getZ(i)];
      this.#positions.push(x, y, z);
      this.#normals.push(normals.getX(i), normals.getY(i), normals.getZ(i));
      applied(x, y, z, colour);
      this.#colours.push(colour.r, colour.g, colour.b, alpha?.(i) ?? 1);
      this.#bones.push(BONES.indexOf(bone));
    }
    const index = shape.getIndex();
    for (let i = 0; i < (index?.count ?? positions.count); i++) {
      this.#indices.push(first + (index?.getX(i) ?? i));
    }
    shape.dispose();
    return this;
  }

  build(): BufferGeometry {
    const geometry = new BufferGeometry();
    const count = this.#bones.length;
    const bones = new Uint8Array(4 * count);
    const weights = new Uint8Array(4 * count);
    this.#bones.forEach((bone, i) => {
      bones[4 * i] = bone;
      weights[4 * i] = 255;
    });
    const colours = Uint16Array.from(this.#colours, (share) => Math.round(share * 65535));
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(this.#positions), 3));
    geometry.setAttribute(
      'normal',
      new BufferAttribute(
        Int8Array.from(this.#normals, (n) => Math.round(127 * n)),
        3,
        true,
      ),
    );
    geometry.setAttribute('color', new BufferAttribute(colours, 4, true));
    geometry.setAttribute('skinIndex', new BufferAttribute(bones, 4));
    geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4, true));
    geometry.setIndex(this.#indices);
    return geometry;
  }
}
