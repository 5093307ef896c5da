/** The rigid parts of the fly. */
import { LEGS } from './anatomy.js';

/** Segments of the abdomen, from the thorax to the tip. Each overlaps the next. */
export const ABDOMEN_SEGMENTS = 6;
export const SEGMENT_LENGTH = 0.2;
export const LEG_SEGMENTS = ['coxa', 'femur', 'tibia', 'tarsus'] as const;
const SIDES = ['left', 'right'] as const;

/** In the order of the bone indices in the geometry. */
export const BONES = [
  'thorax',
  'head',
  'rostrum',
  'haustellum',
  'leftLobe',
  'rightLobe',
  ...SIDES.map((side) => `${side}Antenna` as const),
  ...SIDES.map((side) => `${side}Haltere` as const),
  ...Array.from({ length: ABDOMEN_SEGMENTS }, (_, i) => `abdomen${i}` as const),
  'upperPlate',
  'lowerPlate',
  ...LEGS.flatMap(({ name }) => LEG_SEGMENTS.map((segment) => `${name} ${segment}` as const)),
  ...SIDES.map((side) => `${side}Wing` as const),
  ...SIDES.map((side) => `${side}Blur` as const),
] as const;
export type BoneName = (typeof BONES)[number];
