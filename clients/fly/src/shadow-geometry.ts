/** A soft disc below the fly. */
import { type BufferGeometry, Color, Float32BufferAttribute, RingGeometry } from 'three';

const RADIUS = 2.3;
const SEGMENTS = 36;
/** Opacities from the centre to the edge. */
const SHADOW = [0.34, 0.3, 0.22, 0.13, 0.06, 0.02, 0];
/** On a dark background a shadow is invisible, so the lit ground around it is drawn instead. */
const LIT_GROUND = [0, 0.02, 0.1, 0.13, 0.08, 0.03, 0];

export function shadowGeometry(colour: string, onDark: boolean): BufferGeometry {
  const { r, g, b } = new Color(colour);
  const opacities = onDark ? LIT_GROUND : SHADOW;
  const disc = new RingGeometry(0, RADIUS, SEGMENTS, opacities.length - 1)
    .rotateX(-Math.PI / 2)
    .translate(0, 0.004, -0.1);
  // The vertices come ring by ring, and the last one of a ring is at the place of its first.
  const colours = opacities.flatMap((opacity) =>
    Array.from({ length: SEGMENTS + 1 }, () => [r, g, b, opacity]),
  );
  return disc.setAttribute('color', new Float32BufferAttribute(colours.flat(), 4));
}
