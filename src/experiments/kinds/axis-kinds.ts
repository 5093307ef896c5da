/**
 * A kind of sweep axis is told by the member of its name. It is one object in one file of `axes`; how an axis is checked
 * and completed is in document/parse-sweep.ts, as pages load these files, but no Ajv.
 */
import type { Connectome } from '../../connectome/connectome.js';
import type { SetSelector } from '../../connectome/set-selector.js';
import type { JsonPath } from '../../schema/json-path.js';
import type { SchemaOf, Static } from '../../schema/json-schema.js';
import type { Axis } from '../plan/sweep.js';
import { each } from './axes/each.js';
import { set } from './axes/set.js';
import type { ParameterColumn } from './table-column.js';

/** By the member that only axes of the kind have. */
export const AXIS_KINDS = { each, set };

type AnyAxisKind = (typeof AXIS_KINDS)[keyof typeof AXIS_KINDS];
/** An axis as somebody writes it. */
export type GivenAxis = Static<AnyAxisKind['schema']>;
/** An axis of a complete document. */
export type SweepAxis = Parameters<AnyAxisKind['columnsOf']>[0];

export interface AxisKind<Given extends object = GivenAxis, Complete extends object = SweepAxis> {
  readonly schema: SchemaOf<Given>;
  /** The member that names what varies: its value is the name of a member in the parameters of a condition. */
  readonly parameter: string;
  /** Neurons that it needs, if any; the selector stands in the member of the kind's name. */
  selectorOf?(axis: Complete): SetSelector | undefined;
  /**
   * @param neurons of its selector
   * @throws CodedError INVALID_PARAMETER
   */
  planned(connectome: Connectome, axis: Complete, neurons: Uint32Array | undefined, path: JsonPath): Axis;
  columnsOf(axis: Complete): readonly ParameterColumn[];
}

export function axisKindName(axis: GivenAxis | SweepAxis): keyof typeof AXIS_KINDS {
  return (Object.keys(AXIS_KINDS) as (keyof typeof AXIS_KINDS)[]).find((name) => name in axis)!;
}

export function axisKindOf(axis: GivenAxis | SweepAxis): AxisKind {
  return AXIS_KINDS[axisKindName(axis)] as AxisKind;
}

/** The name of the parameter that varies, as `parameters` of a condition has it. */
export function parameterOf(axis: GivenAxis | SweepAxis): string {
  return (axis as unknown as Readonly<Record<string, string>>)[axisKindOf(axis).parameter]!;
}
