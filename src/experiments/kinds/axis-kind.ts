/**
 * The interface of a kind of sweep axis. Each kind is one object in a file of `axes`, and an axis has a member of the
 * kind's name. Checks of an axis are in document/parse-sweep.ts: pages load this file, but not the library Ajv.
 */
import type { Connectome } from '../../engine/connectome/connectome.js';
import type { SetSelector } from '../../engine/connectome/set-selector.js';
import type { JsonPath } from '../../engine/schema/json-path.js';
import type { SchemaOf } from '../../engine/schema/json-schema.js';
import type { GroupLabel } from './fields.js';
import type { Axis } from './grid.js';
import type { ParameterColumn } from './result-rows.js';

export interface AxisKind<Given extends object, Complete extends object> {
  readonly schema: SchemaOf<Given>;
  /** The schema of a complete axis, if it has other members. */
  readonly complete?: SchemaOf<Complete>;
  /** The member whose value names the swept parameter. A condition's `parameters` have a member of that name. */
  readonly parameter: string;
  /** The selector in the member of the kind's name, if the axis needs neurons. */
  selectorOf?(axis: Complete): SetSelector | undefined;
  /**
   * @param neurons those of its selector
   * @throws CodedError INVALID_PARAMETER
   */
  planned(connectome: Connectome, axis: Complete, neurons: Uint32Array | undefined, path: JsonPath): Axis;
  columnsOf(axis: Complete): readonly ParameterColumn[];
  /** The values, if it sets a number. */
  numbersOf?(axis: Complete): readonly number[];
  /** The labels of its groups, if it has groups. */
  labelsOf?(axis: Complete): readonly GroupLabel[];
  /** The conditions in words. @param name that of the parameter in words, such as `rate of sugar` */
  words(axis: Complete, name: string, unit: string): string;
}
