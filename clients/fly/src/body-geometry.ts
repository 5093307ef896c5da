/** The shape of the fly without its wings, as one geometry. */
import {
  type BufferGeometry,
  Color,
  ConeGeometry,
  IcosahedronGeometry,
  LatheGeometry,
  Quaternion,
  SphereGeometry,
  Vector2,
  Vector3,
} from 'three';
import { LEGS } from './anatomy.js';
import { ABDOMEN_SEGMENTS, LEG_SEGMENTS, SEGMENT_LENGTH } from './bones.js';
import { Builder } from './builder.js';

const COLOURS = {
  thorax: '#ad7838',
  thoraxStripe: '#7d5226',
  belly: '#dcb77c',
  head: '#c79550',
  face: '#e2bd7c',
  eye: '#b3261c',
  eyeDark: '#7c120e',
  ocellus: '#e8d9b0',
  antenna: '#d39a4a',
  dark: '#3a2412',
  abdomen: '#dba956',
  band: '#3f2814',
  plate: '#e8a08a',
  leg: '#c8924c',
  joint: '#8f6230',
  proboscis: '#d8a868',
  lobe: '#b06a48',
  haltere: '#f0dfae',
} as const;

function ellipsoid(
  [rx, ry, rz]: readonly [number, number, number],
  [x, y, z]: readonly [number, number, number] = [0, 0, 0],
  detail = 18,
): BufferGeometry {
  return new SphereGeometry(1, detail, Math.round(0.7 * detail)).scale(rx, ry, rz).translate(x, y, z);
}

/** A solid of revolution about the z axis, from radii at ascending z. */
function turned(profile: readonly (readonly [z: number, radius: number])[], sides = 10): BufferGeometry {
  return new LatheGeometry(
    profile.map(([z, radius]) => new Vector2(Math.max(radius, 1e-4), z)),
    sides,
  ).rotateX(Math.PI / 2);
}

/** A cone from a point in a direction. */
function bristle(
  place: readonly [number, number, number],
  direction: readonly [number, number, number],
  length: number,
  radius = 0.011,
): BufferGeometry {
  const along = new Vector3(...direction).normalize();
  return new ConeGeometry(radius, length, 4, 1, true)
    .translate(0, length / 2, 0)
    .applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), along))
    .translate(...place);
}

const mixed = (low: string, high: string): ((share: number, into: Color) => void) => {
  const [from, to] = [new Color(low), new Color(high)];
  return (share, into) => void into.lerpColors(from, to, Math.min(1, Math.max(0, share)));
};

/** The whole body except the wings. */
export function bodyGeometry(): BufferGeometry {
  const body = new Builder();
  addThorax(body);
  addHead(body);
  addAbdomen(body);
  addLegs(body);
  return body.build();
}

function addThorax(body: Builder): void {
  const [belly, back, stripe] = [
    mixed(COLOURS.belly, COLOURS.thorax),
    new Color(COLOURS.thorax),
    new Color(COLOURS.thoraxStripe),
  ];
  body.add('thorax', ellipsoid([0.46, 0.48, 0.6], [0, 0, 0], 28), (x, y, _z, into) => {
    belly((y + 0.25) / 0.35, into);
    // Stripes along the back.
    const striped = Math.max(0, Math.cos(x * 26)) ** 3 * Math.min(1, Math.max(0, (y - 0.2) * 5));
    if (y > 0.1) into.lerpColors(into.equals(back) ? back : into.clone(), stripe, 0.75 * striped);
  });
  // The scutellum, a cushion over the waist.
  body.add('thorax', ellipsoid([0.24, 0.13, 0.19], [0, 0.34, -0.5], 14), COLOURS.thorax);
  for (const side of [1, -1]) {
    for (const [x, y, z, length] of [
      [0.16, 0.46, 0.1, 0.3],
      [0.17, 0.45, -0.16, 0.34],
      [0.3, 0.36, 0.18, 0.26],
      [0.33, 0.33, -0.12, 0.28],
      [0.36, 0.26, -0.34, 0.26],
      [0.3, 0.3, 0.4, 0.2],
      [0.14, 0.4, -0.64, 0.36],
      [0.2, 0.38, -0.54, 0.3],
    ] as const) {
      body.add('thorax', bristle([side * x, y, z], [side * 0.35, 1, -0.9], length), COLOURS.dark);
    }
    body.add(
      side === 1 ? 'leftHaltere' : 'rightHaltere',
      turned(
        [
          [-0.09, 0.02],
          [-0.05, 0.06],
          [0, 0.075],
          [0.04, 0.055],
          [0.05, 0],
        ],
        8,
      ).translate(side * 0.2, 0, 0),
      COLOURS.haltere,
    );
    body.add(
      side === 1 ? 'leftHaltere' : 'rightHaltere',
      bristle([side * 0.2, 0, 0], [-side, 0, 0.1], 0.22, 0.022),
      COLOURS.haltere,
    );
  }
}

function addHead(body: Builder): void {
  const face = mixed(COLOURS.face, COLOURS.head);
  body.add('head', ellipsoid([0.36, 0.37, 0.24], [0, 0, 0.12], 22), (_x, y, z, into) =>
    face((y + 0.1) / 0.3 + (0.25 - z) * 2, into),
  );
  body.add('head', ellipsoid([0.13, 0.13, 0.16], [0, 0, -0.12], 10), COLOURS.face);
  for (const side of [1, -1]) {
    // Each facet has its own shade.
    const eye = new IcosahedronGeometry(1, 7).scale(0.235, 0.34, 0.27).rotateY(-side * 0.25);
    eye.translate(side * 0.3, 0.04, 0.12).computeVertexNormals();
    const [light, dark] = [new Color(COLOURS.eye), new Color(COLOURS.eyeDark)];
    body.add('head', eye, (x, y, z, into) => {
      const facet = 0.5 + 0.5 * Math.sin(x * 91 + y * 67) * Math.sin(z * 83 - y * 59);
      into.lerpColors(light, dark, 0.15 + 0.55 * facet);
    });
    const antenna = side === 1 ? 'leftAntenna' : 'rightAntenna';
    body.add(antenna, ellipsoid([0.045, 0.045, 0.06], [0, 0, 0.03], 8), COLOURS.joint);
    body.add(antenna, ellipsoid([0.062, 0.1, 0.062], [0, -0.08, 0.1], 10), COLOURS.antenna);
    // The arista: a feathered bristle.
    body.add(
      antenna,
      bristle([side * 0.03, -0.04, 0.14], [side * 0.55, 0.3, 0.75], 0.4, 0.012),
      COLOURS.dark,
    );
    for (let i = 1; i <= 4; i++) {
      const share = i / 5;
      const place = [side * (0.03 + 0.21 * share), -0.04 + 0.12 * share, 0.14 + 0.29 * share] as const;
      body.add(antenna, bristle(place, [side * 0.1, 1, 0.5], 0.13, 0.006), COLOURS.dark);
      body.add(antenna, bristle(place, [side * 0.8, -0.7, 0.5], 0.11, 0.006), COLOURS.dark);
    }
    body.add('head', bristle([side * 0.1, 0.34, 0.14], [side * 0.4, 1, 0.5], 0.22), COLOURS.dark);
    body.add('head', bristle([side * 0.2, 0.32, 0.0], [side * 0.7, 1, -0.4], 0.2), COLOURS.dark);
    body.add(
      side === 1 ? 'leftLobe' : 'rightLobe',
      ellipsoid([0.085, 0.06, 0.11], [side * 0.05, 0, 0.02], 10),
      COLOURS.lobe,
    );
  }
  for (const x of [-0.05, 0, 0.05]) {
    body.add('head', ellipsoid([0.022, 0.022, 0.022], [x, 0.36, x === 0 ? 0.14 : 0.08], 6), COLOURS.ocellus);
  }
  body.add(
    'rostrum',
    turned([
      [-0.06, 0.15],
      [0.1, 0.13],
      [0.24, 0.085],
      [0.3, 0.07],
    ]),
    COLOURS.proboscis,
  );
  body.add(
    'haustellum',
    turned([
      [-0.03, 0.05],
      [0.06, 0.075],
      [0.2, 0.06],
      [0.28, 0.05],
      [0.29, 0],
    ]),
    COLOURS.joint,
  );
}

/** Radius in the middle of each abdominal segment. A female abdomen ends in a point. */
const ABDOMEN_RADII = [0.4, 0.47, 0.49, 0.46, 0.36, 0.22] as const;

function addAbdomen(body: Builder): void {
  const [light, band, belly] = [
    new Color(COLOURS.abdomen),
    new Color(COLOURS.band),
    new Color(COLOURS.belly),
  ];
  ABDOMEN_RADII.forEach((radius, i) => {
    const before = i === 0 ? 0.26 : (ABDOMEN_RADII[i - 1]! + radius) / 2;
    const after = i === ABDOMEN_SEGMENTS - 1 ? 0.1 : (radius + ABDOMEN_RADII[i + 1]!) / 2;
    const back = SEGMENT_LENGTH + 0.07;
    const bandFrom = -0.48 * back;
    const shape = turned(
      [
        [-back - 0.02, 0.6 * after],
        [-back, after * 0.98],
        [-back + 0.03, after + 0.014],
        [bandFrom - 0.012, (after + radius) / 2 + 0.01],
        [bandFrom + 0.012, Math.max(radius, (before + after) / 2)],
        [-0.15 * SEGMENT_LENGTH, before],
        [0.06, before * 0.93],
        [0.1, 0.7 * before],
      ],
      24,
    ).scale(1, 0.93, 1);
    body.add(`abdomen${i}`, shape, (_x, y, z, into) => {
      // Each segment has a dark band at its rear edge, on the back; the underside is pale.
      const isBand = Math.min(1, Math.max(0, (bandFrom - z) * 60 + 0.5));
      const isBack = Math.min(1, Math.max(0, (y / radius + 0.45) * 3));
      into.lerpColors(belly, light, isBack).lerp(band, isBand * isBack * (i === 0 ? 0.5 : 0.95));
    });
  });
  for (const plate of ['upperPlate', 'lowerPlate'] as const) {
    const up = plate === 'upperPlate' ? 1 : -1;
    body.add(plate, ellipsoid([0.075, 0.035, 0.12], [0, up * 0.03, -0.09], 10), COLOURS.plate);
    body.add(plate, bristle([0, up * 0.05, -0.17], [0, up * 0.3, -1], 0.07, 0.008), COLOURS.dark);
  }
}

/** Radii of a leg's segments at their beginning and at their thickest point. */
const LEG_RADII = {
  coxa: [0.085, 0.1],
  femur: [0.05, 0.085],
  tibia: [0.04, 0.05],
  tarsus: [0.032, 0.036],
} as const;

function addLegs(body: Builder): void {
  for (const { name, lengths, pair } of LEGS) {
    LEG_SEGMENTS.forEach((segment, i) => {
      const length = lengths[i]!;
      const [thin, thick] = LEG_RADII[segment];
      const bone = `${name} ${segment}` as const;
      if (segment === 'tarsus') {
        // Five joints and a pair of claws.
        const profile = Array.from({ length: 5 }, (_, joint) => {
          const [from, to] = [(joint / 5) * length, ((joint + 1) / 5) * length];
          return [
            [from, thin * 0.62],
            [from + 0.02, thin],
            [to - 0.02, thick],
            [to, thin * 0.62],
          ] as const;
        }).flat();
        body.add(bone, turned([...profile, [length, 0]], 6), COLOURS.joint);
        for (const claw of [1, -1]) {
          body.add(bone, bristle([0, 0, length - 0.02], [claw * 0.7, 0.1, 0.7], 0.09, 0.012), COLOURS.dark);
        }
        return;
      }
      const shade = mixed(COLOURS.leg, COLOURS.joint);
      const shape = turned(
        [
          [-0.6 * thin, 0],
          [-0.4 * thin, thin * 0.8],
          [0, thin],
          [0.3 * length, thick],
          [0.85 * length, thin * 0.95],
          [length, thin * 0.85],
          [length + 0.5 * thin, 0],
        ],
        9,
      );
      body.add(bone, shape, (_x, _y, z, into) => shade((z / length - 0.8) * 5, into));
      if (segment === 'tibia') {
        body.add(
          bone,
          bristle([0, -thin * 0.7, 0.97 * length], [0, -0.8, 0.9], pair === 1 ? 0.16 : 0.1, 0.01),
          COLOURS.dark,
        );
      }
      if (segment === 'femur') {
        for (const share of [0.3, 0.5, 0.7]) {
          body.add(bone, bristle([0, thick * 0.8, share * length], [0, 1, 0.6], 0.11, 0.008), COLOURS.dark);
        }
      }
    });
  }
}
