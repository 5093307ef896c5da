/** The list of all kinds of sweep axes. */
import type { Static } from '../../engine/schema/json-schema.js';
import { each } from './axes/each.js';
import { set } from './axes/set.js';
import type { AxisKind } from './axis-kind.js';

/** By the member that only axes of this kind have. */
export const AXIS_KINDS = { each, set };

type AnyAxisKind = (typeof AXIS_KINDS)[keyof typeof AXIS_KINDS];
/** An axis of a given document. */
export type GivenAxis = Static<AnyAxisKind['schema']>;
/** An axis of a complete document. */
export type SweepAxis = Parameters<AnyAxisKind['columnsOf']>[0];

export function axisKindName(axis: GivenAxis | SweepAxis): keyof typeof AXIS_KINDS {
  return (Object.keys(AXIS_KINDS) as (keyof typeof AXIS_KINDS)[]).find((kind) => kind in axis)!;
}

export function axisKindOf(axis: GivenAxis | SweepAxis): AxisKind<GivenAxis, SweepAxis> {
  return AXIS_KINDS[axisKindName(axis)] as AxisKind<GivenAxis, SweepAxis>;
}

/** The name of the swept parameter, which is also its member in the `parameters` of a condition. */
export function parameterOf(axis: GivenAxis | SweepAxis): string {
  return (axis as unknown as Readonly<Record<string, string>>)[axisKindOf(axis).parameter]!;
}
