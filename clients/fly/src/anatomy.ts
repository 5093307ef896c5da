/**
 * Dimensions of the fly (Drosophila melanogaster, female) in mm of a real fly. Forward is +z, up is +y, left is +x.
 */
export type Vec3 = readonly [x: number, y: number, z: number];

export interface Leg {
  readonly name: string;
  /** 1 left, -1 right. */
  readonly side: 1 | -1;
  /** 0 front, 1 middle, 2 hind. */
  readonly pair: 0 | 1 | 2;
  /** Position of the joint with the thorax, relative to the centre of the thorax. */
  readonly hip: Vec3;
  /** Direction of the coxa in the body, not normalized. */
  readonly coxa: Vec3;
  /** Lengths of coxa, femur, tibia and tarsus. */
  readonly lengths: readonly [number, number, number, number];
  /** Position of the standing foot, relative to the point on the ground below the centre of the thorax. */
  readonly stands: readonly [x: number, z: number];
  /** Phase of the leg within a step, in cycles. Legs of one tripod have the same phase. */
  readonly stepOffset: number;
}

export const WING_LENGTH = 2.3;
/** Position of the left wing's joint, relative to the centre of the thorax. */
export const WING_BASE: Vec3 = [0.34, 0.3, 0.12];

/** Height of the centre of the thorax of a standing fly. */
export const STANDING_HEIGHT = 0.86;

const PAIRS = [
  { hip: [0.2, -0.34, 0.42], coxa: [0.5, -0.6, 0.6], lengths: [0.34, 0.66, 0.6, 0.52], stands: [1.02, 1.5] },
  { hip: [0.28, -0.4, 0.08], coxa: [0.7, -0.6, 0.05], lengths: [0.2, 0.74, 0.7, 0.6], stands: [1.58, 0.12] },
  {
    hip: [0.25, -0.38, -0.22],
    coxa: [0.6, -0.6, -0.3],
    lengths: [0.22, 0.78, 0.8, 0.66],
    stands: [1.2, -1.32],
  },
] as const;

/** L1, L2, L3, R1, R2, R3. The tripods are L1, R2, L3 and R1, L2, R3. */
export const LEGS: readonly Leg[] = ([1, -1] as const).flatMap((side) =>
  PAIRS.map(({ hip, coxa, lengths, stands }, i): Leg => {
    const pair = i as 0 | 1 | 2;
    return {
      name: `${side === 1 ? 'L' : 'R'}${pair + 1}`,
      side,
      pair,
      hip: [side * hip[0], hip[1], hip[2]],
      coxa: [side * coxa[0], coxa[1], coxa[2]],
      lengths,
      stands: [side * stands[0], stands[1]],
      stepOffset: (side === 1) === (pair !== 1) ? 0 : 0.5,
    };
  }),
);
