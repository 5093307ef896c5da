/** What is kept of a condition that was run apart from its answer, as bytes, and the answer that it becomes. */
import { promisify } from 'node:util';
import {
  deflateRaw as deflateRawCallback,
  inflateRaw as inflateRawCallback,
  type ZlibOptions,
} from 'node:zlib';
import { CodedError } from '../../errors.js';
import { conditionResult } from './condition-result.js';
import type { ExperimentPlan } from './plan.js';
import type { ConditionParameters, ExperimentEvent, SpikeTable } from './result.js';
import type { ConditionCounts } from './summary.js';
import { TotalsSum, type RunCost } from './totals.js';

const deflateRaw = promisify<Uint8Array, ZlibOptions, Buffer>(deflateRawCallback);
const inflateRaw = promisify<Uint8Array, Buffer>(inflateRawCallback);

/** Neurons with at least one spike in any trial, ascending, and the number of their spikes. */
export interface SparseSpikes {
  readonly neurons: Uint32Array;
  readonly spikes: Uint32Array;
}

/** What came of a condition of the grid. */
export type ConditionOutcome =
  | {
      readonly kind: 'run';
      readonly counts: ConditionCounts;
      readonly cost: Omit<RunCost, 'index'>;
      /** Where its spikes decide on others. */
      readonly spikesOfAll?: SparseSpikes;
    }
  /** A lesion of neurons that never spike in the baseline. */
  | { readonly kind: 'unchanged'; readonly parameters: ConditionParameters['parameters'] }
  /** Fewer groups responded than the axis has places. */
  | { readonly kind: 'absent' };

/** A fast one: further levels take much longer and save little. */
const DEFLATE_LEVEL = 1;
/** Marks a column of numbers in JSON, as a member that is a text; labels, which may be called so, are no lists. */
const COLUMN = '$column';
const COLUMN_TYPES = { Uint8Array, Uint16Array, Uint32Array, Float64Array } as const;
type Column = InstanceType<(typeof COLUMN_TYPES)[keyof typeof COLUMN_TYPES]>;
const LENGTH_BYTES = 4;

/** Stands in the JSON for a column. */
interface ColumnPlace {
  readonly [COLUMN]: readonly [type: keyof typeof COLUMN_TYPES, offset: number, byteLength: number];
}

/**
 * The length of a JSON text, the text, and the columns as they are, all of it deflated outside of this thread: tables
 * of spikes may have many megabytes. Equal outcomes give equal bytes. They are read by this version of the answers
 * alone (ANSWER_VERSION).
 */
export async function encodeOutcome(outcome: ConditionOutcome): Promise<Buffer> {
  const columns: Uint8Array[] = [];
  let offset = 0;
  const json = JSON.stringify(outcome, (_, value: unknown) => {
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
  return deflateRaw(Buffer.concat([length, text, ...columns]), { level: DEFLATE_LEVEL });
}

export async function decodeOutcome(bytes: Uint8Array): Promise<ConditionOutcome> {
  const inflated = await inflateRaw(bytes);
  const columnsFrom = LENGTH_BYTES + inflated.readUInt32LE();
  const text = inflated.toString('utf8', LENGTH_BYTES, columnsFrom);
  return JSON.parse(text, (_, value: unknown) => {
    if (!isColumnPlace(value)) return value;
    const [type, offset, byteLength] = value[COLUMN];
    const from = columnsFrom + offset;
    // A copy: no view may begin at just any byte.
    const column = Uint8Array.from(inflated.subarray(from, from + byteLength));
    return new COLUMN_TYPES[type](column.buffer);
  }) as ConditionOutcome;
}

function isColumnPlace(value: unknown): value is ColumnPlace {
  return typeof value === 'object' && value !== null && Array.isArray((value as ColumnPlace)[COLUMN]);
}

function isColumn(value: unknown): value is Column {
  return Object.values(COLUMN_TYPES).some((type) => value instanceof type);
}

/** @param spikes of every neuron */
export function sparseSpikes(spikes: Uint32Array): SparseSpikes {
  const neurons: number[] = [];
  for (let neuron = 0; neuron < spikes.length; neuron++) if (spikes[neuron]! > 0) neurons.push(neuron);
  return {
    neurons: Uint32Array.from(neurons),
    spikes: Uint32Array.from(neurons, (neuron) => spikes[neuron]!),
  };
}

export interface AnswerOfOutcomes {
  /** The first condition of the answer, as with runExperiment. */
  readonly from: number;
  /** Rows that all tables of the answer may have together, as in the limits of a plan. */
  readonly tableRows: number;
  /** Of the conditions that the answer needs, some may be missing. */
  readonly isPartial: boolean;
}

/** The conditions whose outcomes an answer needs, ascending. */
export function neededIndices(plan: ExperimentPlan, from: number): number[] {
  const needed = plan.grid.neededFrom(from);
  return Array.from(needed.keys()).filter((index) => needed[index] === 1);
}

/**
 * The events that runExperiment yields for the same plan, from what was kept.
 * @param outcomes those of neededIndices, in that order; undefined is left out, in a partial answer alone
 * @throws CodedError NOT_FOUND where an outcome of a complete answer is missing
 */
export async function* eventsOfOutcomes(
  plan: ExperimentPlan,
  outcomes: AsyncIterable<readonly [index: number, outcome: ConditionOutcome | undefined]>,
  { from, tableRows, isPartial }: AnswerOfOutcomes,
): AsyncGenerator<ExperimentEvent, void, void> {
  yield { kind: 'head', head: plan.head };
  const totals = new TotalsSum(plan);
  const rows = plan.rowsOfTable(tableRows);
  for await (const [index, outcome] of outcomes) {
    const isAnswered = index >= from;
    // The job was ended, or had to make room for others, after its results began to be read.
    if (outcome === undefined && !isPartial) {
      throw new CodedError('NOT_FOUND', 'The results of the job were removed while they were being read.');
    }
    if (outcome?.kind === 'run') {
      const { cost, counts } = outcome;
      totals.addRun({ ...cost, index, isRunaway: cost.isRunaway && isAnswered });
      if (isAnswered) {
        yield { kind: 'condition', condition: conditionResult(withTablesOf(counts, rows), plan.reports) };
      }
    } else if (outcome?.kind === 'unchanged' && isAnswered) {
      totals.addUnchanged(outcome.parameters);
    }
  }
  yield { kind: 'totals', totals: { ...totals.totals(), ...(isPartial && { partial: true }) } };
}

/** The first rows of a table are the same, however many are kept. */
function withTablesOf(counts: ConditionCounts, rows: number): ConditionCounts {
  const reports = counts.reports.map((report) => ('table' in report ? firstRows(report, rows) : report));
  return { ...counts, reports };
}

function firstRows(table: SpikeTable, rows: number): SpikeTable {
  if (table.steps.length <= rows) return table;
  return {
    ...table,
    trials: table.trials.subarray(0, rows),
    steps: table.steps.subarray(0, rows),
    neurons: table.neurons.subarray(0, rows),
    ...(table.inputs !== undefined && { inputs: table.inputs.subarray(0, rows) }),
    truncated: true,
  };
}
