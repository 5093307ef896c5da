/** Reach of the wings, for a camera that keeps the whole fly in view. */
import { type Vec3, WING_BASE, WING_LENGTH } from './anatomy.js';
import { fromThorax, type Pose, type Wing } from './pose.js';

/**
 * The wing tips at the turning points of the beat and at mid-height. They are constant during a beat, so a view that
 * contains them does not shake.
 * @returns four points in the coordinates of the fly
 */
export function wingTipsOf({ body, wings }: Pose): readonly Vec3[] {
  return wings.flatMap((wing, i) =>
    [wing.highest, 0].map((up) => {
      const [x, y, z] = tipOf(wing, up);
      // x, y and z are of the left wing; the right one is its mirror image.
      return fromThorax(body, [(i === 0 ? 1 : -1) * x, y, z]);
    }),
  );
}

/** In the coordinates of the thorax. */
function tipOf({ out }: Wing, up: number): Vec3 {
  const [x, y, z] = WING_BASE;
  const [length, height] = [WING_LENGTH * Math.cos(up), WING_LENGTH * Math.sin(up)];
  return [x + length * Math.sin(out), y + height, z - length * Math.cos(out)];
}
