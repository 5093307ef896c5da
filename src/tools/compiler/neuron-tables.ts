/** Reads the tables of neurons. The first table of a data set lists all neurons; the others add labels and positions. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MAX_NEURONS } from '../../engine/connectome/connectome.js';
import { MAX_LABEL_LENGTH } from '../../engine/connectome/selector-schema.js';
import type { CodedError } from '../../engine/errors.js';
import { UNPRINTABLE } from '../../engine/schema/json-schema.js';
import {
  type Dataset,
  LABEL_COLUMNS,
  type LabelColumn,
  type NeuronColumn,
  type NeuronTable,
} from './dataset.js';
import { NeuronIds } from './neuron-ids.js';
import { positionsOf } from './positions.js';
import type { Progress } from './progress.js';
import { readTable } from './read-table.js';
import type { TransmitterProbabilities, TransmitterSource } from './signs.js';
import { firstAt, TableColumns, TableReader, unreadColumns } from './table-reader.js';
import { DECIMAL, tableFault, type TableRow } from './table-row.js';

/** Labels that allow only known values, because other code depends on them. Other labels may have any value. */
const CLOSED: readonly LabelColumn[] = ['side', 'transmitter'];
/** Labels that selectors can name. */
const NAMEABLE = new RegExp(`^[^${UNPRINTABLE}]{0,${MAX_LABEL_LENGTH}}$`, 'u');
const AXES = ['x', 'y', 'z'] as const;
const COORDINATE = new RegExp(`^${DECIMAL}$`);
const POSITION = new RegExp(`^[[(]? *(${DECIMAL})[ ,]+(${DECIMAL})[ ,]+(${DECIMAL}) *[\\])]?$`);
/** Positions are stored as whole nm in 32 bits. */
const MAX_NM = 2 ** 31;

/**
 * Reads all tables of neurons.
 * @returns the neurons in ascending order of their ids, and the reader of all other tables of the data set
 * @throws CodedError TABLE_INVALID
 */
export async function readNeurons(
  dir: string,
  { tables: [list, ...others], values, missing }: Dataset,
  progress: Progress,
): Promise<{ readonly tables: TableReader; readonly labels: NeuronLabels }> {
  const listed: ListedNeuron[] = [];
  let rowCount = 0;
  let facts!: NeuronFacts;
  let unread: string[] | undefined;
  const columnsOf = (table: NeuronTable) => (found: readonly string[]) => {
    facts = new NeuronFacts(table, values, missing, found);
    unread ??= unreadColumns(basename(table.file), found, facts.columns.names);
    return facts.columns.names;
  };
  const source = await readTable(join(dir, list!.file), columnsOf(list!), progress, (row) => {
    rowCount++;
    if (!facts.areOfNeuron(row)) return;
    listed.push({ id: row.rootId(facts.idColumn), location: row.location, said: facts.of(row) });
  });
  const ids = sortedById(source.file, listed);
  const tables = new TableReader(dir, new NeuronIds(ids, source.file), [source], progress);
  tables.unread.push(...unread!);
  if (rowCount > ids.length) {
    const rest = rowCount - ids.length;
    tables.remarks.push(`${source.file}: ${ids.length} of ${rowCount} rows are neurons; ${rest} are not.`);
  }
  const labels = new NeuronLabels(ids.length, Object.values(list!.largest ?? {}));
  listed.forEach(({ said }, neuron) => labels.put(neuron, said));
  for (const table of others) {
    const { file, several = false, estimated = false } = table;
    if (estimated && !existsSync(join(dir, file))) continue;
    const locationOf = new Map<number, string>();
    await tables.read(file, columnsOf(table), (row) => {
      const neuron = tables.neurons.find(row.id(facts.idColumn));
      if (neuron === undefined) return false;
      if (!several) {
        const earlier = locationOf.get(neuron);
        if (earlier !== undefined) throw duplicate(file, row.location, ids[neuron]!, earlier);
        locationOf.set(neuron, row.location);
      }
      labels.put(neuron, facts.of(row), estimated);
      return true;
    });
    const without = ids.length - locationOf.size;
    if (without > 0 && !several) {
      tables.remarks.push(`${file} has no row for ${without} of ${ids.length} neurons.`);
    }
  }
  return { tables, labels };
}

/** A row of the table that lists the neurons. */
type ListedNeuron = Readonly<{ id: string; location: string; said: Facts }>;

/** Sorts neurons by id, in location. @returns the ids */
function sortedById(file: string, listed: ListedNeuron[]): string[] {
  if (listed.length === 0) throw tableFault(file, null, 'expected rows of neurons, found none');
  if (listed.length > MAX_NEURONS) {
    throw tableFault(file, null, `expected at most ${MAX_NEURONS} neurons, found ${listed.length}`);
  }
  // Ids have no leading zeros, so a longer one is a larger number.
  listed.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : Number(a.id > b.id)));
  listed.forEach(({ id, location }, i) => {
    const earlier = listed[i - 1];
    if (earlier?.id === id) throw duplicate(file, location, id, earlier.location);
  });
  return listed.map(({ id }) => id);
}

function duplicate(file: string, location: string, id: string, earlier: string): CodedError {
  const what = `expected one row per neuron, found ${id} a second time (${firstAt(earlier)})`;
  return tableFault(file, location, what);
}

type Facts = ReturnType<NeuronFacts['of']>;

/** Extracts labels and positions of neurons from the rows of one table. */
class NeuronFacts {
  readonly columns: TableColumns<NeuronColumn>;
  readonly idColumn: number;
  readonly #positionColumns: readonly number[];
  readonly #largest: readonly (readonly [column: number, transmitter: string])[];
  readonly #where: readonly (readonly (readonly [column: number, values: readonly string[]])[])[];
  readonly #values: ReadonlyMap<string, ReadonlyMap<string, string>>;

  /** @param found columns of the table */
  constructor(
    readonly table: NeuronTable,
    values: Dataset['values'],
    private readonly missing: Dataset['missing'],
    found: readonly string[],
  ) {
    const { largest = {}, where = [] } = table;
    const hasAxis = AXES.some((axis) => found.includes(String(table.columns[axis])));
    // A point needs all three axes, so with one of them the others must exist.
    const optional = table.optional?.filter((role) => !hasAxis || !AXES.some((axis) => axis === role));
    const columns = new TableColumns<NeuronColumn>(table.columns, optional, found);
    this.columns = columns;
    this.idColumn = columns.columnIndicesOf('id')[0]!;
    const axes = AXES.flatMap((axis) => columns.columnIndicesOf(axis));
    this.#positionColumns = axes.length === 3 ? axes : columns.columnIndicesOf('position');
    this.#largest = Object.entries(largest).map(([name, transmitter]) => [columns.ask(name), transmitter]);
    const known = where.filter((all) => Object.keys(all).every((name) => found.includes(name)));
    this.#where = (known.length > 0 ? known : where.slice(0, 1)).map((all) =>
      Object.entries(all).map(([name, allowed]) => [columns.ask(name), allowed] as const),
    );
    this.#values = new Map(
      Object.entries(values).map(([label, names]) => [label, new Map(Object.entries(names))]),
    );
  }

  areOfNeuron(row: TableRow): boolean {
    if (this.#where.length === 0) return true;
    return this.#where.some((all) =>
      all.every(([column, allowed]) => {
        const text = row.text(column);
        // A data set may name a value as its tables have it, or as any format has it.
        const isNamed = allowed.includes(text) || allowed.includes(row.label(column));
        return isNamed || (allowed.includes('*') && text !== '');
      }),
    );
  }

  /** Labels and position of a neuron from one row. Values of the data set are translated to those of the service. */
  of(row: TableRow) {
    const labels: Partial<Record<LabelColumn, string>> = {};
    for (const label of LABEL_COLUMNS) {
      if (this.columns.columnIndicesOf(label).length > 0) labels[label] = this.#label(row, label);
    }
    let transmitterSource: TransmitterSource | undefined;
    /** The probability of each transmitter of `largest`; absent if the table has none. */
    let probabilities: readonly number[] | undefined;
    if (labels.transmitter !== undefined) {
      const named = labels.transmitter;
      if (this.#largest.length > 0) probabilities = this.#largest.map(([column]) => row.fraction(column));
      labels.transmitter ||= this.#largestOf(probabilities);
      transmitterSource = named !== '' ? 'named' : labels.transmitter === '' ? 'none' : 'mean';
    }
    const positionNm = this.#positionNm(row);
    return { labels, transmitterSource, probabilities, positionNm };
  }

  #label(row: TableRow, label: LabelColumn): string {
    const column = this.columns.columnIndexIn(row, label);
    if (label === 'sign') return String(row.sign(column));
    const text = this.#labelText(row.label(column));
    const names = this.#values.get(label);
    const name = names?.get(text) ?? names?.get(text.toLowerCase());
    if (name !== undefined || text === '') return name ?? '';
    if (!CLOSED.includes(label)) {
      if (label === 'preset_type' || NAMEABLE.test(text)) return text;
      throw row.fault(column, `at most ${MAX_LABEL_LENGTH} characters without control characters`);
    }
    throw row.fault(column, `one of ${[...(names?.keys() ?? [])].join(', ')} or empty`);
  }

  #labelText(text: string): string {
    if (this.missing === undefined) return text;
    const trimmed = text.trim();
    return this.missing.includes(trimmed) ? '' : trimmed;
  }

  /** The transmitter with the largest mean probability; the first one if several are equal. */
  #largestOf(probabilities: readonly number[] = []): string {
    const largest = Math.max(0, ...probabilities);
    return largest === 0 ? '' : this.#largest[probabilities.indexOf(largest)]![1];
  }

  #positionNm(row: TableRow): readonly number[] | undefined {
    const texts = this.#positionColumns.map((column) => this.#labelText(row.text(column)));
    const text = texts.join(' ');
    if (text.trim() === '') return undefined;
    const { voxel_nm: voxel = [1, 1, 1] } = this.table;
    const parts = POSITION.exec(text)?.slice(1) ?? [];
    const nm = parts.map((part, axis) => Math.round(Number(part) * voxel[axis]!));
    if (nm.length === 3 && nm.every((each) => Math.abs(each) < MAX_NM)) return nm;
    if (texts.length === AXES.length) {
      const wrong = texts.findIndex((each) => !COORDINATE.test(each) || Math.abs(Number(each)) >= MAX_NM);
      throw row.fault(
        this.#positionColumns[Math.max(0, wrong)]!,
        'a number of nm, or empty with the other axes',
      );
    }
    throw row.fault(this.#positionColumns[0]!, 'three numbers, such as [227220 216884 139400]');
  }
}

/** Labels and positions of neurons, filled in from one table after the other. */
export class NeuronLabels {
  readonly columns: Readonly<Record<LabelColumn, string[]>>;
  readonly transmitterSources: TransmitterSource[];
  /** Labels for which at least one table has a column. */
  readonly given = new Set<LabelColumn>();
  readonly probabilities: TransmitterProbabilities & { readonly ofNeurons: (readonly number[])[] };
  readonly #measured = new Map<number, readonly number[]>();
  readonly #estimated = new Map<number, readonly number[]>();

  /** @param transmitters those with a probability in the table */
  constructor(
    readonly count: number,
    transmitters: readonly string[],
  ) {
    this.probabilities = { transmitters, ofNeurons: new Array<readonly number[]>(count).fill([]) };
    const columns = LABEL_COLUMNS.map((label) => [label, new Array<string>(count).fill('')]);
    this.columns = Object.fromEntries(columns) as Record<LabelColumn, string[]>;
    this.transmitterSources = new Array<TransmitterSource>(count).fill('none');
  }

  /** @param isEstimated true if the position is */
  put(
    neuron: number,
    { labels, transmitterSource, probabilities, positionNm }: Facts,
    isEstimated = false,
  ): void {
    for (const [label, text] of Object.entries(labels) as [LabelColumn, string][]) {
      this.given.add(label);
      this.columns[label][neuron] = text;
    }
    if (transmitterSource !== undefined) this.transmitterSources[neuron] = transmitterSource;
    if (probabilities !== undefined) this.probabilities.ofNeurons[neuron] = probabilities;
    const positions = isEstimated ? this.#estimated : this.#measured;
    // A neuron may have several points; the first one counts.
    if (positionNm !== undefined && !positions.has(neuron)) positions.set(neuron, positionNm);
  }

  positions() {
    return positionsOf(this.columns, this.#measured, this.#estimated);
  }
}
