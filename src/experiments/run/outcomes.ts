/** Outcomes of conditions: what a run gives, and the bytes that a job keeps of them. */
import { promisify } from 'node:util';
import {
  deflateRaw as deflateRawCallback,
  inflateRaw as inflateRawCallback,
  type ZlibOptions,
} from 'node:zlib';
import { CodedError } from '../../errors.js';
import type { SpikeCounts } from '../kinds/report-kind.js';
import type { ConditionCounts } from './condition-counts.js';
import type { ConditionParameters } from './result.js';
import { inOneGo } from './turn.js';

const deflateRaw = promisify<Uint8Array, ZlibOptions, Buffer>(deflateRawCallback);
const inflateRaw = promisify<Uint8Array, Buffer>(inflateRawCallback);

/** Outcome of a condition of the grid. */
export type ConditionOutcome =
  | {
      readonly kind: 'run';
      readonly counts: ConditionCounts;
      /** All numbers are whole, so the order of adding does not matter. */
      readonly cost: {
        readonly brainMs: number;
        readonly inputEvents: number;
        readonly synapticEvents: number;
        /** Tells whether more neurons responded, in any trial, than a stimulus should excite. */
        readonly isRunaway: boolean;
      };
      /** Spikes of all neurons in all trials, where they decide on other conditions. */
      readonly spikesOfAll?: SpikeCounts;
    }
  /** A lesion of neurons that never spike in the baseline, or an edit of no connection. */
  | { readonly kind: 'unchanged'; readonly parameters: ConditionParameters['parameters'] }
  /** Fewer groups responded than the axis has places. */
  | { readonly kind: 'absent' };

export type RunOutcome = ConditionOutcome & { readonly kind: 'run' };

/** A fast one: further levels take much longer and save little. */
const DEFLATE_LEVEL = 1;
/** Marks a column of numbers in JSON, as a member that is a list; labels, which may be called so, are texts. */
const COLUMN = '$column';
const COLUMN_TYPES = { Uint8Array, Uint16Array, Uint32Array, Float64Array } as const;
type Column = InstanceType<(typeof COLUMN_TYPES)[keyof typeof COLUMN_TYPES]>;
const LENGTH_BYTES = 4;
/** Changes whenever the counts of a kind, or of a condition, do: kept outcomes are read by this version alone. */
export const OUTCOME_VERSION = 2;

/** Stands in the JSON for a column. */
interface ColumnPlace {
  readonly [COLUMN]: readonly [type: keyof typeof COLUMN_TYPES, offset: number, byteLength: number];
}

/**
 * The length of a JSON text, the text, and the columns as they are, all of it deflated outside of this thread: tables
 * of spikes may have many megabytes. Equal outcomes give equal bytes.
 */
export async function encodeOutcome(outcome: ConditionOutcome, turn = inOneGo): Promise<Buffer> {
  return deflateRaw(await turn(() => packed(outcome)), { level: DEFLATE_LEVEL });
}

function packed(outcome: ConditionOutcome): Buffer {
  const columns: Uint8Array[] = [];
  let offset = 0;
  const json = JSON.stringify({ version: OUTCOME_VERSION, outcome }, (_, value: unknown) => {
    if (!isColumn(value)) return value;
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    columns.push(bytes);
    const type = value.constructor.name as keyof typeof COLUMN_TYPES;
    const place: ColumnPlace = { [COLUMN]: [type, offset, bytes.length] };
    offset += bytes.length;
    return place;
  });
  const text = Buffer.from(json);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, ...columns]);
}

/** @throws CodedError NOT_FOUND where another version of the service has kept it */
export async function decodeOutcome(bytes: Uint8Array, turn = inOneGo): Promise<ConditionOutcome> {
  const inflated = await inflateRaw(bytes);
  return turn(() => unpacked(inflated));
}

function unpacked(inflated: Buffer): ConditionOutcome {
  const columnsFrom = LENGTH_BYTES + inflated.readUInt32LE();
  const text = inflated.toString('utf8', LENGTH_BYTES, columnsFrom);
  const { version, outcome } = JSON.parse(text, (_, value: unknown) => {
    if (!isColumnPlace(value)) return value;
    const [type, offset, byteLength] = value[COLUMN];
    const from = columnsFrom + offset;
    // A copy: no view may begin at just any byte.
    const column = Uint8Array.from(inflated.subarray(from, from + byteLength));
    return new COLUMN_TYPES[type](column.buffer);
  }) as { readonly version?: number; readonly outcome: ConditionOutcome };
  if (version === OUTCOME_VERSION) return outcome;
  throw new CodedError(
    'NOT_FOUND',
    'The results were kept by another version of the service: submit the experiment again.',
  );
}

function isColumnPlace(value: unknown): value is ColumnPlace {
  return typeof value === 'object' && value !== null && Array.isArray((value as ColumnPlace)[COLUMN]);
}

function isColumn(value: unknown): value is Column {
  return Object.values(COLUMN_TYPES).some((type) => value instanceof type);
}
