/** A kind of sweep axis is told by the member of its name. It is one object in one file of `axes`. */
import type { Connectome } from '../../connectome/connectome.js';
import type { SetSelector } from '../../connectome/set-selector.js';
import type { JsonPath } from '../../schema/json-path.js';
import type { Schema, SchemaOf, Static } from '../../schema/json-schema.js';
import type { InputDocument } from '../document/kind-schemas.js';
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

/** Checks of numbers and names that the axis of a document needs; kinds load no Ajv, as pages load them. */
export interface AxisContext {
  readonly inputs: Readonly<Record<string, InputDocument>>;
  /** The whole document, for the members of its edits. */
  readonly document: object;
  readonly path: JsonPath;
  /** @param schema of a number */
  checksOf(schema: Schema): NumberChecks;
}

/** Checks of a parameter that a sweep may set. Each throws CodedError INVALID_PARAMETER. */
export interface NumberChecks {
  value(value: unknown, path: JsonPath): number;
  values(values: readonly number[], path: JsonPath): readonly number[];
  step(step: unknown, path: JsonPath): number;
}

export interface PendingAxis<Complete extends object = SweepAxis> {
  /** At least so many conditions; the groups of an axis are known only with the neurons. */
  readonly length: bigint;
  readonly expand: () => Complete;
}

export interface AxisKind<Given extends object = GivenAxis, Complete extends object = SweepAxis> {
  readonly schema: SchemaOf<Given>;
  /** The member that names what varies: its value is the name of a member in the parameters of a condition. */
  readonly parameter: string;
  /** @throws CodedError INVALID_PARAMETER, before anything long is expanded */
  parsed(axis: Given, context: AxisContext): PendingAxis<Complete>;
  /** Values that the parameter takes, where the document says them. */
  valuesOf?(axis: Complete): readonly number[];
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
