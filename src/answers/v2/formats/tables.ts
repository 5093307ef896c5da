/** The tables of an open experiment: their columns, and the rows of a condition as columns of plain arrays. */
import { SIDES, type Connectome, type ConnectomeMetadata } from '../../../connectome/connectome.js';
import { STEPS_PER_MS } from '../../../experiment/protocol.js';
import { CodedError } from '../../../errors.js';
import {
  GROUP_LABELS,
  type ExperimentDocument,
  type GroupLabel,
  type ReportType,
  type SweepAxis,
} from '../document.js';
import type { ConditionResult, GroupResult, GroupResults, ParameterValue } from '../result.js';
import type { ColumnNames, TableName } from './formats.js';

/** The text of a `label` column is one of a list that is known before the first row. */
export type ColumnType = 'int32' | 'int64' | 'double' | 'text' | 'label';

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Of `double` alone: NaN stands for no value. */
  readonly nullable?: boolean;
  /** Of `label`. */
  readonly labels?: readonly string[];
}

/** By the type of the column: Int32Array, BigInt64Array, Float64Array, strings, places in `labels`. */
export type ColumnValues = Int32Array | BigInt64Array | Float64Array | readonly string[];

/** Rows of one condition. */
export interface TableBatch {
  readonly condition: number;
  readonly rows: number;
  /** One array of length `rows` for each column. */
  readonly values: readonly ColumnValues[];
  /** Whether the condition has more rows than the limit on spikes let through. */
  readonly truncated: boolean;
}

export interface Table {
  readonly name: TableName;
  readonly columns: readonly TableColumn[];
  /** Lazily, none larger than MAXIMUM_BATCH_ROWS. */
  batchesOf(condition: ConditionResult): Iterable<TableBatch>;
}

/** Bounds what a format holds in memory at a time, a few MB, and how long it keeps its thread. */
export const MAXIMUM_BATCH_ROWS = 16_384;

/** The value of an `each` axis in its baseline, in a table. No cell type has this name. */
const NO_GROUP = 'none';
const ONE_GROUP = 'all';

/** What a table says of neurons; a client of a service has no more of its connectome. */
export interface LabelledNeurons extends Pick<Connectome, 'typeIndices' | 'sides' | 'neuronId'> {
  readonly metadata: Pick<ConnectomeMetadata, 'types' | 'wiring' | 'release'>;
}

interface TableRequest {
  readonly connectome: LabelledNeurons;
  readonly experiment: ExperimentDocument;
  readonly table?: TableName;
  readonly names?: ColumnNames;
}

/**
 * The table that is asked for, or the default one: `rates`, or where all reports are tables, that of the first.
 * @throws CodedError INVALID_PARAMETER where no report fills it, or its columns cannot be named so
 */
export function tableOf({ connectome, experiment, table, names }: TableRequest): Table {
  const name = table ?? defaultTable(experiment, names);
  const reports = reportsOf(name, experiment);
  if (reports.length === 0) {
    throw new CodedError(
      'INVALID_PARAMETER',
      `table: ${name} needs a report of type ${typesThatFill(name).join(' or ')}; the reports are ${reportTypes(experiment)}.`,
      { path: '/reports' },
    );
  }
  if (names !== undefined) return namedSpikes(connectome, experiment, name, reports, names);
  switch (name) {
    case 'rates':
      return ratesTable(experiment, reports);
    case 'histogram':
      return histogramTable(experiment, reports);
    default:
      return spikesTable(connectome, experiment, name, reports);
  }
}

/** A table of groups, which needs no connectome: of every report that fills it. */
export function groupTableOf(name: 'rates' | 'histogram', experiment: ExperimentDocument): Table {
  const reports = reportsOf(name, experiment);
  return name === 'rates' ? ratesTable(experiment, reports) : histogramTable(experiment, reports);
}

function reportsOf(table: TableName, { reports }: ExperimentDocument): string[] {
  const types = typesThatFill(table);
  return Object.keys(reports).filter((report) => types.includes(reports[report]!.type));
}

function typesThatFill(table: TableName): readonly ReportType[] {
  return table === 'rates' ? ['rate', 'histogram'] : [table];
}

function defaultTable({ reports }: ExperimentDocument, names: ColumnNames | undefined): TableName {
  if (names !== undefined) return 'spikes';
  const types = Object.values(reports).map(({ type }) => type);
  if (types.some((type) => type === 'rate' || type === 'histogram')) return 'rates';
  return types[0] === 'inputs' ? 'inputs' : 'spikes';
}

function reportTypes({ reports }: ExperimentDocument): string {
  return (
    Object.entries(reports)
      .map(([name, { type }]) => `${name} (${type})`)
      .join(', ') || 'none'
  );
}

/** Columns that say which condition a row belongs to, and their values in a condition. */
interface ParameterColumn {
  readonly column: TableColumn;
  valueIn(parameters: ConditionResult['parameters']): number | string;
}

function parameterColumns({ sweep = [] }: ExperimentDocument): readonly ParameterColumn[] {
  return sweep.flatMap(columnsOfAxis);
}

function columnsOfAxis(axis: SweepAxis): readonly ParameterColumn[] {
  if ('set' in axis) {
    return [
      {
        column: { name: axis.set, type: 'double' },
        valueIn: (parameters) => parameters[axis.set] as number,
      },
    ];
  }
  const { as, group_by: labels } = axis;
  const column = (name: string, text: (group: Readonly<Record<string, string>>) => string) => ({
    column: { name, type: 'text' as const },
    valueIn: (parameters: Readonly<Record<string, ParameterValue>>) => {
      const group = parameters[as];
      return group === null || typeof group !== 'object' ? NO_GROUP : text(group);
    },
  });
  return labels.length === 0
    ? [column(as, () => ONE_GROUP)]
    : labels.map(memberOf).map((label) => column(`${as}.${label}`, (group) => group[label] ?? ''));
}

/** What a group's label is called in an answer. */
function memberOf(label: GroupLabel): 'root_id' | 'type' | 'side' | 'super_class' {
  return label === 'neuron' ? 'root_id' : label;
}

/** The labels by which any of the reports is grouped, in the order of GROUP_LABELS. */
function groupColumns(experiment: ExperimentDocument, reports: readonly string[]) {
  return GROUP_LABELS.filter((label) =>
    reports.some((report) => experiment.reports[report]!.group_by.includes(label)),
  ).map(memberOf);
}

/** A row of a table of groups. */
interface GroupRow {
  readonly condition: ConditionResult;
  /** Place among the reports of the table. */
  readonly report: number;
  readonly group: GroupResult;
  /** Place among the rows of the group. */
  readonly at: number;
}

interface GroupColumn {
  readonly column: TableColumn;
  /** By the type of the column: a number, a text, or a place in `labels`. */
  valueOf(row: GroupRow): number | string;
}

/** One row a condition, report and group. */
function ratesTable(experiment: ExperimentDocument, reports: readonly string[]): Table {
  const double = (name: string, valueOf: (group: GroupResult) => number | undefined): GroupColumn => ({
    column: { name, type: 'double', nullable: true },
    valueOf: ({ group }) => valueOf(group) ?? NaN,
  });
  const own = [
    double('responding', ({ responding }) => responding?.mean),
    double('rate_hz_mean', ({ rate_hz: rateHz }) => rateHz?.mean),
    double('rate_hz_sd', ({ rate_hz: rateHz }) => rateHz?.sd),
  ];
  return groupTable('rates', experiment, reports, own, () => 1);
}

/** One row a condition, report, group and bin. A condition that was stopped has none. */
function histogramTable(experiment: ExperimentDocument, reports: readonly string[]): Table {
  const windows = reports.map((report) => {
    const { start_ms: startMs, bin_ms: binMs } = experiment.reports[report]!;
    return { startStep: Math.round(startMs * STEPS_PER_MS), binSteps: Math.round(binMs! * STEPS_PER_MS) };
  });
  const own: readonly GroupColumn[] = [
    {
      column: { name: 'bin_start_ms', type: 'double' },
      valueOf: ({ report, at }) => {
        const { startStep, binSteps } = windows[report]!;
        // Sums of steps are exact; those of multiples of 0.1 ms need not be.
        return (startStep + at * binSteps) / STEPS_PER_MS;
      },
    },
    { column: { name: 'rate_hz', type: 'double' }, valueOf: ({ group, at }) => group.bins_hz![at]! },
  ];
  return groupTable('histogram', experiment, reports, own, (groups) => groups.at(0)?.bins_hz?.length ?? 0);
}

/**
 * A table of groups of neurons: which group a row is of, columns of its own, the number of trials.
 * @param rowsOfEach how many rows each of some groups has: those of a report in a condition have equally many
 */
function groupTable(
  name: 'rates' | 'histogram',
  experiment: ExperimentDocument,
  reports: readonly string[],
  ownColumns: readonly GroupColumn[],
  rowsOfEach: (groups: GroupResults) => number,
): Table {
  const columns: readonly GroupColumn[] = [
    { column: { name: 'condition', type: 'int32' }, valueOf: ({ condition }) => condition.index },
    ...parameterColumns(experiment).map(({ column, valueIn }) => ({
      column,
      valueOf: ({ condition }: GroupRow) => valueIn(condition.parameters),
    })),
    { column: { name: 'report', type: 'label', labels: reports }, valueOf: ({ report }) => report },
    ...groupColumns(experiment, reports).map((label) => ({
      column: { name: label, type: 'text' as const },
      valueOf: ({ group }: GroupRow) => group[label] ?? '',
    })),
    { column: { name: 'neurons', type: 'int32' }, valueOf: ({ group }) => group.neurons },
    ...ownColumns,
    { column: { name: 'trials', type: 'int32' }, valueOf: () => experiment.trials },
  ];
  return {
    name,
    columns: columns.map(({ column }) => column),
    *batchesOf(condition) {
      const groups = reports.map((report) => groupsOf(condition, report));
      const rowsOfGroup = groups.map(rowsOfEach);
      let left = groups.reduce((sum, { length }, report) => sum + length * rowsOfGroup[report]!, 0);
      let rows = 0;
      let values: FilledColumn[] = [];
      let filled = 0;
      for (const report of reports.keys()) {
        for (const group of groups[report]!) {
          for (let at = 0; at < rowsOfGroup[report]!; at++) {
            if (filled === 0) {
              rows = Math.min(left, MAXIMUM_BATCH_ROWS);
              values = columns.map(({ column }) => emptyColumn(column, rows));
            }
            const row = { condition, report, group, at };
            for (const [place, column] of columns.entries()) values[place]![filled] = column.valueOf(row);
            if (++filled < rows) continue;
            yield { condition: condition.index, rows, values: values as ColumnValues[], truncated: false };
            left -= rows;
            filled = 0;
          }
        }
      }
    },
  };
}

const NO_GROUPS: GroupResults = [];

function groupsOf(condition: ConditionResult, report: string): GroupResults {
  const result = condition.reports[report];
  return result === undefined || 'table' in result ? NO_GROUPS : result;
}

/** Takes values of the type of its column. */
type FilledColumn = (number | string)[];

function emptyColumn({ type }: TableColumn, rows: number): FilledColumn {
  switch (type) {
    case 'int32':
    case 'label':
      return new Int32Array(rows) as unknown as FilledColumn;
    case 'double':
      return new Float64Array(rows) as unknown as FilledColumn;
    default:
      return new Array<string>(rows);
  }
}

/** Some rows of a table of spikes. */
interface SpikeRows {
  readonly condition: ConditionResult;
  /** Place among the reports of the table. */
  readonly report: number;
  readonly trials: Uint8Array;
  readonly steps: Uint16Array;
  readonly neurons: Uint32Array;
  readonly inputs: Uint8Array | undefined;
}

interface SpikeColumn {
  readonly column: TableColumn;
  valuesOf(rows: SpikeRows): ColumnValues;
}

/** One row a spike, or input event. Where several reports fill it, a column says which. */
function spikesTable(
  connectome: LabelledNeurons,
  experiment: ExperimentDocument,
  name: 'spikes' | 'inputs',
  reports: readonly string[],
): Table {
  const { metadata, typeIndices, sides } = connectome;
  const rootIds = memoized((neuron) => connectome.neuronId(neuron));
  const report: SpikeColumn = {
    column: { name: 'report', type: 'label', labels: reports },
    valuesOf: (rows) => new Int32Array(rows.steps.length).fill(rows.report),
  };
  const input: SpikeColumn = {
    column: { name: 'input', type: 'label', labels: Object.keys(experiment.inputs) },
    valuesOf: ({ inputs }) => Int32Array.from(inputs!),
  };
  return spikeRows(name, reports, [
    CONDITION,
    ...(reports.length > 1 ? [report] : []),
    { column: { name: 'trial', type: 'int32' }, valuesOf: ({ trials }) => Int32Array.from(trials) },
    { column: { name: 't_ms', type: 'double' }, valuesOf: timesMs },
    ...(name === 'inputs' ? [input] : []),
    {
      column: { name: 'root_id', type: 'text' },
      valuesOf: ({ neurons }) => Array.from(neurons, rootIds),
    },
    {
      column: { name: 'type', type: 'label', labels: metadata.types.map((type) => type.name) },
      valuesOf: ({ neurons }) => Int32Array.from(neurons, (neuron) => typeIndices[neuron]!),
    },
    {
      column: { name: 'side', type: 'label', labels: SIDES },
      valuesOf: ({ neurons }) => Int32Array.from(neurons, (neuron) => sides[neuron]!),
    },
  ]);
}

/** Columns as other programs name them. Their neurons are integers, so only a measured connectome has them. */
function namedSpikes(
  connectome: LabelledNeurons,
  experiment: ExperimentDocument,
  table: TableName,
  reports: readonly string[],
  names: ColumnNames,
): Table {
  const { wiring, release } = connectome.metadata;
  const fault = namingFault(wiring, table, reports);
  if (fault !== null) throw new CodedError('INVALID_PARAMETER', `names: ${names} ${fault}`);
  const ids = memoized((neuron) => BigInt(connectome.neuronId(neuron)));
  const idColumn = (name: string): SpikeColumn => ({
    column: { name, type: 'int64' },
    valuesOf: ({ neurons }) => BigInt64Array.from(Array.from(neurons, ids)),
  });
  if (names === 'sonata') {
    return spikeRows(table, reports, [
      { column: { name: 'timestamps', type: 'double' }, valuesOf: timesMs },
      {
        column: { name: 'population', type: 'label', labels: [`flywire_${release}`] },
        valuesOf: ({ steps }) => new Int32Array(steps.length),
      },
      idColumn('node_ids'),
      CONDITION,
      { column: { name: 'trial', type: 'int32' }, valuesOf: ({ trials }) => Int32Array.from(trials) },
    ]);
  }
  const parameters = parameterColumns(experiment);
  return spikeRows(table, reports, [
    {
      column: { name: 't', type: 'double' },
      valuesOf: ({ steps }) => times(steps, 1000 * STEPS_PER_MS),
    },
    {
      column: { name: 'trial', type: 'int64' },
      valuesOf: ({ trials }) => BigInt64Array.from(Array.from(trials, BigInt)),
    },
    idColumn('flywire_id'),
    {
      column: { name: 'exp_name', type: 'text' },
      valuesOf: ({ steps, condition }) =>
        new Array<string>(steps.length).fill(experimentName(experiment, parameters, condition)),
    },
  ]);
}

/** @returns why the columns cannot have the names of another program, or null */
function namingFault(wiring: string, table: TableName, reports: readonly string[]): string | null {
  if (table !== 'spikes') return `names the columns of the table spikes; found ${table}`;
  if (reports.length > 1) {
    return `needs exactly one report of type spikes, so that no spike counts twice; found ${reports.join(', ')}`;
  }
  if (wiring === 'synthetic') return 'needs root ids, and the neurons of a synthetic brain have none';
  return null;
}

/** Readers of these files tell experiments apart by this name, so each condition has its own. */
function experimentName(
  { name = 'experiment' }: ExperimentDocument,
  parameters: readonly ParameterColumn[],
  { parameters: values }: ConditionResult,
): string {
  return [name, ...parameters.map(({ column, valueIn }) => `${column.name}=${valueIn(values)}`)].join(' ');
}

const CONDITION: SpikeColumn = {
  column: { name: 'condition', type: 'int32' },
  valuesOf: ({ steps, condition }) => new Int32Array(steps.length).fill(condition.index),
};

function timesMs({ steps }: SpikeRows): Float64Array {
  return times(steps, STEPS_PER_MS);
}

/** A division gives the double nearest to the decimal fraction. Float64Array.from is several times as slow. */
function times(steps: Uint16Array, stepsPerUnit: number): Float64Array {
  const times = new Float64Array(steps);
  for (let row = 0; row < times.length; row++) times[row]! /= stepsPerUnit;
  return times;
}

function spikeRows(name: TableName, reports: readonly string[], columns: readonly SpikeColumn[]): Table {
  return {
    name,
    columns: columns.map(({ column }) => column),
    *batchesOf(condition) {
      for (const [report, reportName] of reports.entries()) {
        const spikes = condition.reports[reportName];
        if (spikes === undefined || !('table' in spikes)) continue;
        const { trials, steps, neurons, inputs, truncated } = spikes;
        let from = 0;
        // A report that was cut before its first row has an empty batch, which tells so.
        do {
          const to = Math.min(from + MAXIMUM_BATCH_ROWS, steps.length);
          const rows = {
            condition,
            report,
            trials: trials.subarray(from, to),
            steps: steps.subarray(from, to),
            neurons: neurons.subarray(from, to),
            inputs: inputs?.subarray(from, to),
          };
          if (to > from || truncated) {
            const values = columns.map((column) => column.valuesOf(rows));
            yield { condition: condition.index, rows: to - from, values, truncated };
          }
          from = to;
        } while (from < steps.length);
      }
    },
  };
}

/** A few neurons spike often, and reading an id from the connectome makes a new string. */
function memoized<T>(make: (neuron: number) => T): (neuron: number) => T {
  const made = new Map<number, T>();
  return (neuron) => {
    let value = made.get(neuron);
    if (value === undefined) {
      value = make(neuron);
      made.set(neuron, value);
    }
    return value;
  };
}
