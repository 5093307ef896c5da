/** What is kept of a condition that was run apart from its answer, as bytes, and the answer that it becomes. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ExperimentPlan } from './plan.js';
import type { ConditionParameters, ConditionResult, ExperimentEvent, SpikeTable } from './result.js';
import { TotalsSum, type RunCost } from './totals.js';

/** Neurons with at least one spike in any trial, ascending, and the number of their spikes. */
export interface SparseCounts {
  readonly neurons: Uint32Array;
  readonly spikes: Uint32Array;
}

/** What came of a condition of the grid. */
export type ConditionOutcome =
  | {
      readonly kind: 'run';
      readonly result: ConditionResult;
      readonly cost: Omit<RunCost, 'index'>;
      /** Where its spikes decide on others. */
      readonly counts?: SparseCounts;
    }
  /** A lesion of neurons that never spike in the baseline. */
  | { readonly kind: 'unchanged'; readonly parameters: ConditionParameters['parameters'] }
  /** Fewer groups responded than the axis has places. */
  | { readonly kind: 'absent' };

/** A fast one: it halves results to a tenth, and further levels take much longer and save little. */
const DEFLATE_LEVEL = 1;
/** Marks a column of numbers in JSON, as a member that is a text; reports, which may be called so, are no texts. */
const COLUMN = '$column';
const COLUMN_TYPES = { Uint8Array, Uint16Array, Uint32Array } as const;
type Column = InstanceType<(typeof COLUMN_TYPES)[keyof typeof COLUMN_TYPES]>;

/** Equal outcomes give equal bytes. They are read by this version of the answers alone (ANSWER_VERSION). */
export function encodeOutcome(outcome: ConditionOutcome): Buffer {
  const json = JSON.stringify(outcome, (_, value: unknown) =>
    isColumn(value)
      ? {
          [COLUMN]: value.constructor.name,
          bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'),
        }
      : value,
  );
  return deflateRawSync(json, { level: DEFLATE_LEVEL });
}

export function decodeOutcome(bytes: Uint8Array): ConditionOutcome {
  return JSON.parse(inflateRawSync(bytes).toString(), (_, value: unknown) => {
    if (!isEncodedColumn(value)) return value;
    const column = Uint8Array.from(Buffer.from(value.bytes, 'base64'));
    return new COLUMN_TYPES[value[COLUMN]](column.buffer);
  }) as ConditionOutcome;
}

interface EncodedColumn {
  readonly [COLUMN]: keyof typeof COLUMN_TYPES;
  /** In base64. */
  readonly bytes: string;
}

function isEncodedColumn(value: unknown): value is EncodedColumn {
  return typeof value === 'object' && value !== null && typeof (value as EncodedColumn)[COLUMN] === 'string';
}

function isColumn(value: unknown): value is Column {
  return Object.values(COLUMN_TYPES).some((type) => value instanceof type);
}

export function sparseCounts(counts: Uint32Array): SparseCounts {
  const neurons = Uint32Array.from(counts.keys()).filter((neuron) => counts[neuron]! > 0);
  return { neurons, spikes: neurons.map((neuron) => counts[neuron]!) };
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
    if (outcome?.kind === 'run') {
      const { cost, result } = outcome;
      totals.addRun({ ...cost, index, isRunaway: cost.isRunaway && isAnswered });
      if (isAnswered) yield { kind: 'condition', condition: withTablesOf(result, rows) };
    } else if (outcome?.kind === 'unchanged' && isAnswered) {
      totals.addUnchanged(outcome.parameters);
    }
  }
  yield { kind: 'totals', totals: { ...totals.totals(), ...(isPartial && { partial: true }) } };
}

/** The first rows of a table are the same, however many are kept. */
function withTablesOf(result: ConditionResult, rows: number): ConditionResult {
  const reports = Object.entries(result.reports).map(([name, report]) => [
    name,
    'table' in report ? firstRows(report, rows) : report,
  ]);
  return { ...result, reports: Object.fromEntries(reports) as ConditionResult['reports'] };
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
