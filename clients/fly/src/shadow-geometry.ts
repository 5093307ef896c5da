/** A soft disc below the fly. */
import { BufferAttribute, BufferGeometry, Color } from 'three';

const RADIUS = 2.3;
const SEGMENTS = 36;
/** Opacities from the centre to the edge. */
const SHADOW = [0.34, 0.3, 0.22, 0.13, 0.06, 0.02, 0];
/** On a dark background a shadow is invisible, so the lit ground around it is drawn instead. */
const LIT_GROUND = [0, 0.02, 0.1, 0.13, 0.08, 0.03, 0];

export function shadowGeometry(colour: string, onDark: boolean): BufferGeometry {
  const { r, g, b } = new Color(colour);
  const positions: number[] = [];
  const colours: number[] = [];
  const indices: number[] = [];
  const rings = onDark ? LIT_GROUND : SHADOW;
  rings.forEach((opacity, ring) => {
    const radius = (RADIUS * ring) / (rings.length - 1);
    for (let i = 0; i < SEGMENTS; i++) {
      const angle = (2 * Math.PI * i) / SEGMENTS;
      positions.push(radius * Math.cos(angle), 0.004, radius * Math.sin(angle) - 0.1);
      colours.push(r, g, b, opacity);
      if (ring === 0) continue;
      const [at, next] = [ring * SEGMENTS + i, ring * SEGMENTS + ((i + 1) % SEGMENTS)];
      indices.push(at - SEGMENTS, next - SEGMENTS, at, next - SEGMENTS, next, at);
    }
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('color', new BufferAttribute(new Float32Array(colours), 4));
  geometry.setIndex(indices);
  return geometry;
}
