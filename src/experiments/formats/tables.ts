/** The tables of an experiment: their columns, and the rows of a condition as arrays, one for each column. */
import { SIDES, type Connectome, type ConnectomeMetadata } from '../../engine/connectome/connectome.js';
import { neuronPopulationName } from '../../engine/connectome/model-id.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { CodedError } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { GROUP_LABELS, type ExperimentDocument } from '../document/document.js';
import { axisKindOf } from '../kinds/axis-kinds.js';
import {
  eventKindOf,
  GROUP_TABLES,
  REPORT_KINDS,
  tablesFilledBy,
  typesThatFill,
} from '../kinds/report-kinds.js';
import type { GroupRow, GroupTable } from '../kinds/report-kind.js';
import type {
  ColumnType,
  ColumnValues,
  ParameterColumn,
  TableColumn,
  EventTable,
} from '../kinds/result-rows.js';
import { labelMember } from '../kinds/groups.js';
import type { AnsweredCondition, ExperimentHead } from '../document/result.js';
import type { ColumnNames, TableName } from './formats.js';
import { own } from '../../engine/own.js';

export interface TableBatch {
  readonly condition: number;
  readonly rows: number;
  /** One array of length `rows` for each column. */
  readonly values: readonly ColumnValues[];
  /** True if rows of the condition were left out, because of the limit on rows. */
  readonly truncated: boolean;
}

export interface Table {
  readonly name: string;
  /** True for a table of events; false for a table of groups. */
  readonly isOfEvents: boolean;
  /** Names of the reports that fill it. */
  readonly reports: readonly string[];
  readonly columns: readonly TableColumn[];
  /** Makes batches on demand, each of at most MAX_BATCH_ROWS rows. */
  batchesOf(condition: AnsweredCondition): Iterable<TableBatch>;
}

/** Turns the batches of a table into bytes. */
export interface TableEncoder {
  /** @param metadata stored by Arrow and Parquet */
  begin(metadata: ReadonlyMap<string, string>): Iterable<Uint8Array>;
  /** @param batch rows of one condition; all batches of a condition follow one another */
  append(batch: TableBatch): Iterable<Uint8Array>;
  end(): Iterable<Uint8Array>;
}

/** Metadata for Arrow and Parquet, so that a file explains itself. */
export function tableMetadata(head: ExperimentHead): ReadonlyMap<string, string> {
  return new Map([
    ['id', head.id],
    ['model', head.model],
    ['wiring', head.wiring],
    ['side_convention', head.side_convention],
    ['experiment', JSON.stringify(head.experiment)],
  ]);
}

/** Metadata key for left-out rows: of a batch in Arrow; in Parquet with the list of conditions. */
export const TRUNCATED = 'truncated';

/** Making and encoding so many rows takes the thread about 10 ms. */
export const MAX_BATCH_ROWS = 4096;

/** The labels of neurons that a table needs. A client of the service has no more of the connectome. */
export interface LabelledNeurons extends Pick<Connectome, 'typeIndices' | 'sides' | 'neuronId'> {
  readonly metadata: Pick<ConnectomeMetadata, 'types' | 'wiring' | 'dataset' | 'release'>;
}

export interface TableRequest {
  readonly connectome: LabelledNeurons;
  readonly experiment: ExperimentDocument;
  readonly table?: TableName | undefined;
  readonly names?: ColumnNames | undefined;
}

/**
 * The requested table. By default the first table of groups that a report fills; if all reports are tables of events, that of
 * the first report. A table of groups does not read the neurons of the connectome.
 * @throws CodedError INVALID_PARAMETER if nothing fills the table, or its columns cannot have the requested names
 */
export function tableOf({ connectome, experiment, table, names }: TableRequest): Table {
  const name = table ?? defaultTable(experiment, names);
  const types = typesThatFill(name);
  const reports = Object.keys(experiment.reports).filter((report) =>
    types.includes(experiment.reports[report]!.type),
  );
  if (reports.length === 0) {
    throw new CodedError(
      'INVALID_PARAMETER',
      `table: ${name} needs a report of type ${types.join(' or ')}; the reports are ${reportTypes(experiment)}.`,
      { path: '/reports' },
    );
  }
  if (names !== undefined) return namedSpikes(connectome, experiment, name, reports, names);
  const groups = GROUP_TABLES.get(name);
  if (groups?.isOfControls && !experiment.controls) {
    throw new CodedError('INVALID_PARAMETER', `table: ${name} needs controls; the experiment has none.`, {
      path: '/controls',
    });
  }
  if (groups !== undefined) return groupTable(groups, experiment, reports);
  return tableOfEvents(connectome, experiment, name, reports);
}

function defaultTable({ reports }: ExperimentDocument, names: ColumnNames | undefined): string {
  if (names !== undefined) return NAMED_TABLE;
  const filled = Object.values(reports).flatMap(({ type }) => tablesFilledBy(type));
  return [...GROUP_TABLES.keys()].find((name) => filled.includes(name)) ?? filled[0] ?? NAMED_TABLE;
}

function reportTypes({ reports }: ExperimentDocument): string {
  return (
    Object.entries(reports)
      .map(([name, { type }]) => `${name} (${type})`)
      .join(', ') || 'none'
  );
}

/** The columns that show the parameters of a row's condition. */
function parameterColumns({ sweep = [] }: ExperimentDocument): readonly ParameterColumn[] {
  return sweep.flatMap((axis) => axisKindOf(axis).columnsOf(axis));
}

/** The table whose columns can be named as in other programs. */
const NAMED_TABLE = Object.keys(REPORT_KINDS).find((type) => eventKindOf({ type })?.takesNames)!;

/** Some rows of one condition, from which columns are made. */
interface Piece {
  readonly condition: AnsweredCondition;
  readonly length: number;
  readonly truncated: boolean;
}

interface GroupPiece extends Piece {
  readonly rows: readonly GroupRow[];
}

/** Rows of one report. */
interface EventPiece extends Piece, Pick<EventTable, 'trials' | 'steps' | 'neurons' | 'columns'> {
  /** Number of the report among those of the table. */
  readonly report: number;
}

interface Column<P extends Piece> {
  readonly column: TableColumn;
  valuesOf(piece: P): ColumnValues;
}

function tableFrom<P extends Piece>(
  table: Pick<Table, 'name' | 'isOfEvents' | 'reports'>,
  columns: readonly Column<P>[],
  piecesOf: (condition: AnsweredCondition) => Iterable<P>,
): Table {
  return {
    ...table,
    columns: columns.map(({ column }) => column),
    *batchesOf(condition) {
      for (const piece of piecesOf(condition)) {
        const { length: rows, truncated } = piece;
        const values = columns.map((column) => column.valuesOf(piece));
        yield { condition: condition.index, rows, values, truncated };
      }
    },
  };
}

/** A table of groups: columns that identify the group, columns of the kind, the number of trials. */
function groupTable(
  { name, columnsOf, controlColumns = [], rowsOfEach = () => 1 }: GroupTable,
  experiment: ExperimentDocument,
  reports: readonly string[],
): Table {
  const documents = reports.map((report) => experiment.reports[report]!);
  const labels = GROUP_LABELS.filter((label) => documents.some(({ group_by: by }) => by.includes(label)));
  const columns = [
    inEachRow({ name: 'condition', type: 'int32' }, (_, { index }) => index),
    ...parameterColumns(experiment).map(({ column, valueIn }) =>
      inEachRow(column, (_, { parameters }) => valueIn(parameters)),
    ),
    inEachRow({ name: 'report', type: 'label', labels: reports }, ({ report }) => report),
    ...labels
      .map(labelMember)
      .map((member) => inEachRow({ name: member, type: 'text' }, ({ group }) => group[member] ?? '')),
    inEachRow({ name: 'neurons', type: 'int32' }, ({ group }) => group.neurons),
    ...columnsOf(documents).map(({ column, valueOf }) => inEachRow(column, valueOf)),
    ...(experiment.controls ? controlColumns : []).map(({ column, valueOf }) => inEachRow(column, valueOf)),
    inEachRow({ name: 'trials', type: 'int32' }, () => experiment.trials),
  ];
  return tableFrom({ name, isOfEvents: false, reports }, columns, function* (condition) {
    let rows: GroupRow[] = [];
    const piece = () => ({ condition, rows, length: rows.length, truncated: false });
    for (const [report, reportName] of reports.entries()) {
      const groups = own(condition.reports, reportName);
      if (groups === undefined || 'table' in groups) continue;
      const rowsOfGroup = rowsOfEach(groups);
      for (const group of groups) {
        for (let at = 0; at < rowsOfGroup; at++) {
          rows.push({ report, group, at });
          if (rows.length < MAX_BATCH_ROWS) continue;
          yield piece();
          rows = [];
        }
      }
    }
    if (rows.length > 0) yield piece();
  });
}

/** @param valueOf by the type of the column: a number, a text, or a position in `labels` */
function inEachRow(
  column: TableColumn,
  valueOf: (row: GroupRow, condition: AnsweredCondition) => number | string,
): Column<GroupPiece> {
  return {
    column,
    valuesOf({ rows, condition }) {
      const values = rows.map((row) => valueOf(row, condition));
      if (column.type === 'text') return values as string[];
      return new (column.type === 'double' ? Float64Array : Int32Array)(values as number[]);
    },
  };
}

/** A table with a row for each event. If several reports fill it, a column names the report. */
function tableOfEvents(
  connectome: LabelledNeurons,
  experiment: ExperimentDocument,
  name: string,
  reports: readonly string[],
): Table {
  const { metadata, typeIndices, sides } = connectome;
  const columnsOfKind = columnsOf(name, Object.keys(experiment.inputs)).map(
    (ofKind, at): Column<EventPiece> => ({
      column: ofKind,
      valuesOf({ columns }) {
        const { values } = columns[at]!;
        return values instanceof Float64Array ? values.slice() : Int32Array.from(values);
      },
    }),
  );
  // Types of different classes may share a name, but a dictionary must have each label only once.
  const typeNames = [...new Set(metadata.types.map(({ name }) => name))];
  const placesOfNames = new Map(typeNames.map((name, place) => [name, place]));
  const typePlaces = metadata.types.map(({ name }) => placesOfNames.get(name)!);
  const isLabel = ({ column }: Column<EventPiece>) => column.type === 'label';
  const rootIds = memoized((neuron) => connectome.neuronId(neuron));
  const report = eventColumn('report', reports, ({ length, report: place }) =>
    new Int32Array(length).fill(place),
  );
  return eventRows(name, reports, [
    CONDITION,
    ...(reports.length > 1 ? [report] : []),
    TRIAL,
    eventColumn('t_ms', 'double', timesPer(STEPS_PER_MS)),
    ...columnsOfKind.filter(isLabel),
    eventColumn('root_id', 'text', ({ neurons }) => Array.from(neurons, rootIds)),
    eventColumn('type', typeNames, ({ neurons }) =>
      Int32Array.from(neurons, (neuron) => typePlaces[typeIndices[neuron]!]!),
    ),
    eventColumn('side', SIDES, ({ neurons }) => Int32Array.from(neurons, (neuron) => sides[neuron]!)),
    ...columnsOfKind.filter((each) => !isLabel(each)),
  ]);
}

/** The columns that the kind of a table of events adds. */
function columnsOf(table: string, inputNames: readonly string[]): readonly TableColumn[] {
  return eventKindOf({ type: table })!.columnsOf?.(inputNames) ?? [];
}

/** The table of spikes with the columns of other programs. Their ids are integers, so the connectome must have root ids. */
function namedSpikes(
  connectome: LabelledNeurons,
  experiment: ExperimentDocument,
  table: string,
  reports: readonly string[],
  names: ColumnNames,
): Table {
  const fault = namingFault(connectome.metadata.wiring, table, reports);
  if (fault !== null) throw new CodedError('INVALID_PARAMETER', `names: ${names} ${fault}`);
  const ids = memoized((neuron) => BigInt(connectome.neuronId(neuron)));
  const idColumn = (name: string) =>
    eventColumn(name, 'int64', ({ neurons }) => BigInt64Array.from(Array.from(neurons, ids)));
  if (names === 'sonata') {
    const population = neuronPopulationName(connectome.metadata);
    return eventRows(table, reports, [
      eventColumn('timestamps', 'double', timesPer(STEPS_PER_MS)),
      eventColumn('population', [population], ({ length }) => new Int32Array(length)),
      idColumn('node_ids'),
      CONDITION,
      TRIAL,
    ]);
  }
  const parameters = parameterColumns(experiment);
  // Scripts for these files distinguish experiments by this name, so each condition has its own.
  const nameOf = ({ parameters: values }: AnsweredCondition) =>
    [
      experiment.name ?? 'experiment',
      ...parameters.map(({ column: { name }, valueIn }) => `${name}=${valueIn(values)}`),
    ].join(' ');
  return eventRows(table, reports, [
    eventColumn('t', 'double', timesPer(1000 * STEPS_PER_MS)),
    eventColumn('trial', 'int64', ({ trials }) => BigInt64Array.from(Array.from(trials, BigInt))),
    idColumn('flywire_id'),
    eventColumn('exp_name', 'text', ({ length, condition }) =>
      new Array<string>(length).fill(nameOf(condition)),
    ),
  ]);
}

/** @returns the reason for which the columns cannot be named as in another program, or null */
function namingFault(wiring: string, table: string, reports: readonly string[]): string | null {
  if (table !== NAMED_TABLE) return `names the columns of the table ${NAMED_TABLE}; found ${table}`;
  if (reports.length > 1) {
    return `needs exactly one report of type spikes, so that no spike counts twice; found ${reports.join(', ')}`;
  }
  if (wiring === 'synthetic') return 'needs root ids, and the neurons of a synthetic brain have none';
  return null;
}

/** @param type a type; or the labels, if values are positions in a list of labels */
function eventColumn(
  name: string,
  type: Exclude<ColumnType, 'label'> | readonly string[],
  valuesOf: Column<EventPiece>['valuesOf'],
): Column<EventPiece> {
  const column: TableColumn =
    typeof type === 'string' ? { name, type } : { name, type: 'label', labels: type };
  return { column, valuesOf };
}

const CONDITION = eventColumn('condition', 'int32', ({ length, condition }) =>
  new Int32Array(length).fill(condition.index),
);
const TRIAL = eventColumn('trial', 'int32', ({ trials }) => Int32Array.from(trials));

/** Divides, because a quotient is the double nearest to the decimal fraction. A loop, because Float64Array.from is several times slower. */
function timesPer(stepsPerUnit: number) {
  return ({ steps }: EventPiece): Float64Array => {
    const times = new Float64Array(steps);
    for (let row = 0; row < times.length; row++) times[row]! /= stepsPerUnit;
    return times;
  };
}

function eventRows(name: string, reports: readonly string[], columns: readonly Column<EventPiece>[]): Table {
  return tableFrom({ name, isOfEvents: true, reports }, columns, function* (condition) {
    for (const [report, reportName] of reports.entries()) {
      const table = own(condition.reports, reportName);
      if (table === undefined || !('table' in table)) continue;
      const { trials, steps, neurons, columns, truncated } = table;
      let from = 0;
      // A report that was cut before its first row gives an empty batch, which carries `truncated`.
      do {
        const to = Math.min(from + MAX_BATCH_ROWS, steps.length);
        if (to > from || truncated) {
          yield {
            condition,
            report,
            length: to - from,
            truncated,
            trials: trials.subarray(from, to),
            steps: steps.subarray(from, to),
            neurons: neurons.subarray(from, to),
            columns: columns.map((own) => ({ ...own, values: own.values.subarray(from, to) })),
          };
        }
        from = to;
      } while (from < steps.length);
    }
  });
}

/** Remembers values by neuron: few neurons spike often, and each id read from the connectome is a new string. */
function memoized<T>(make: (neuron: number) => T): (neuron: number) => T {
  const made = new Map<number, T>();
  return (neuron) => getOrInsert(made, neuron, make);
}

/** A table of events in JSON, for clients that read the answer of a service. */
export interface TableColumns {
  readonly trial: readonly number[];
  readonly t_ms: readonly number[];
  readonly root_id: readonly string[];
  readonly truncated?: boolean;
  /** The columns of its kind. */
  readonly [column: string]: unknown;
}

/**
 * Converts a table from JSON to the form that writers of tables take.
 * @param report the name of its report
 * @param indexOf the index of a neuron in the connectome, by its id
 */
export function eventTableOf(
  given: TableColumns,
  { reports, inputs }: ExperimentDocument,
  report: string,
  indexOf: (id: string) => number,
): EventTable {
  const { trial, t_ms: timesMs, root_id: ids, truncated } = given;
  const table = reports[report]!.type;
  const columns = columnsOf(table, Object.keys(inputs)).map((column) => {
    const { name, labels } = column;
    const values =
      labels === undefined
        ? Float64Array.from(given[name] as readonly number[])
        : Uint8Array.from(given[name] as readonly string[], (label) => labels.indexOf(label));
    return { column, values };
  });
  return {
    table,
    trials: Uint8Array.from(trial),
    steps: Uint32Array.from(timesMs, (ms) => Math.round(ms * STEPS_PER_MS)),
    neurons: Uint32Array.from(ids, (id) => indexOf(id)),
    columns,
    truncated: truncated === true,
  };
}
