/** The result of a cell, condition or control, and its form as bytes, which jobs store. */
import { CodedError } from '../../engine/errors.js';
import type { SpikeCounts } from '../kinds/report-kind.js';
import type { ConditionCounts } from './condition-counts.js';
import type { ConditionParameters } from '../document/result.js';
import { joinedBytes } from '../../engine/bytes.js';

/** The result of a cell. */
export type ConditionResult =
  | {
      readonly kind: 'run';
      readonly counts: ConditionCounts;
      /** All numbers are integers, so sums do not depend on the order. */
      readonly cost: {
        readonly brainMs: number;
        readonly inputEvents: number;
        readonly synapticEvents: number;
        /** Tells whether, in some trial, more neurons responded than a stimulus should excite. */
        readonly isRunaway: boolean;
      };
      /** Present if the neurons were drawn to match a group. */
      readonly matched?: {
        /** Labels and bins of activity that too few neurons had. */
        readonly short: readonly string[];
        /** Set if fewer neurons were free than the group has: their number, of that of the group. */
        readonly fewer?: string;
        /** Names the set of neurons; empty if the result is the baseline's. Cells of one baseline and set are run once. */
        readonly set?: string;
      };
      /** Spikes of all neurons in all trials, if they decide about other cells. */
      readonly spikesOfAll?: SpikeCounts;
    }
  /** Not run, because the result is the baseline's: the silenced neurons never spike there, or no connection changes. */
  | { readonly kind: 'unchanged'; readonly parameters: ConditionParameters['parameters'] }
  /** Not run, because fewer groups responded than the axis has coordinates, or the group or an earlier control has the same neurons. */
  | { readonly kind: 'absent' };

export type RunConditionResult = ConditionResult & { readonly kind: 'run' };

/** Marks a reference to a column in JSON. A label may have this name too, but its value is a text and never a list. */
const COLUMN = '$column';
const COLUMN_TYPES = { Uint8Array, Uint16Array, Uint32Array, Float64Array } as const;
type Column = InstanceType<(typeof COLUMN_TYPES)[keyof typeof COLUMN_TYPES]>;
const LENGTH_BYTES = 4;
/** Increment it if the counts of a kind or of a condition change form. Stored results of other versions are refused. */
export const RESULT_VERSION = 2;

/** Refers from the JSON to a column after it. */
interface ColumnReference {
  readonly [COLUMN]: readonly [type: keyof typeof COLUMN_TYPES, offset: number, byteLength: number];
}

/**
 * Packs a result as the length of a JSON text, that text, and the columns as raw bytes. Equal results give equal bytes.
 *
 * Jobs store these bytes, so old names stay in them: `outcome` is the result, and `index` of its counts is the cell.
 */
export function packedResult(result: ConditionResult): Uint8Array<ArrayBuffer> {
  const columns: Uint8Array[] = [];
  let offset = 0;
  const json = JSON.stringify({ version: RESULT_VERSION, outcome: result }, (_, value: unknown) => {
    if (!isColumn(value)) return value;
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    columns.push(bytes);
    const type = value.constructor.name as keyof typeof COLUMN_TYPES;
    const reference: ColumnReference = { [COLUMN]: [type, offset, bytes.length] };
    offset += bytes.length;
    return reference;
  });
  const text = new TextEncoder().encode(json);
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, text.length, true);
  return joinedBytes([length, text, ...columns]);
}

/** @throws CodedError NOT_FOUND if another version of the service stored the bytes */
export function unpackedResult(bytes: Uint8Array): ConditionResult {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const columnsFrom = LENGTH_BYTES + view.getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, columnsFrom));
  const { version, outcome: result } = JSON.parse(text, (_, value: unknown) => {
    if (!isColumnReference(value)) return value;
    const [type, offset, byteLength] = value[COLUMN];
    const from = columnsFrom + offset;
    // Copied, because a typed array must begin at a multiple of its element size.
    const column = Uint8Array.from(bytes.subarray(from, from + byteLength));
    return new COLUMN_TYPES[type](column.buffer);
  }) as { readonly version?: number; readonly outcome: ConditionResult };
  if (version === RESULT_VERSION) return result;
  throw otherVersion();
}

/** The error for results of another version, and the failure of a job that only another version could finish. */
export function otherVersion(): CodedError {
  return new CodedError(
    'NOT_FOUND',
    'The results were kept by another version of the service: submit the experiment again.',
  );
}

function isColumnReference(value: unknown): value is ColumnReference {
  return typeof value === 'object' && value !== null && Array.isArray((value as ColumnReference)[COLUMN]);
}

function isColumn(value: unknown): value is Column {
  return Object.values(COLUMN_TYPES).some((type) => value instanceof type);
}
