/** Reads the tables of neurons: the first of a data set lists them, and each says something of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MAXIMUM_NEURONS } from '../connectome/connectome.js';
import type { CodedError } from '../errors.js';
import type { NeuronColumns } from './brain.js';
import {
  type Dataset,
  LABEL_COLUMNS,
  type LabelColumn,
  type NeuronColumn,
  type NeuronTable,
} from './dataset.js';
import { NeuronIds } from './neuron-ids.js';
import { type MarkedPositions, positionsOf } from './positions.js';
import type { Progress } from './progress.js';
import { readTable } from './read-table.js';
import type { TransmitterSource } from './signs.js';
import { firstAt, TableColumns, TableReader } from './table-reader.js';
import { tableFault, type TableRow } from './table-row.js';

/** Labels whose other values would be misunderstood; the rest may be anything. */
const CLOSED: readonly LabelColumn[] = ['side', 'transmitter'];
const POSITION = /^[[(]? *(-?\d+(?:\.\d+)?)[ ,]+(-?\d+(?:\.\d+)?)[ ,]+(-?\d+(?:\.\d+)?) *[\])]?$/;

/**
 * Reads all tables of neurons.
 * @returns the neurons in ascending order of their ids, and the reader of all other tables of the data set
 * @throws CodedError TABLE_INVALID
 */
export async function readNeurons(
  dir: string,
  { tables: [list, ...others], values }: Dataset,
  progress: Progress,
): Promise<{ readonly tables: TableReader; readonly labels: NeuronLabels }> {
  const listed: ListedNeuron[] = [];
  let rowCount = 0;
  let facts!: NeuronFacts;
  const columnsOf = (table: NeuronTable) => (found: readonly string[]) =>
    (facts = new NeuronFacts(table, values, found)).columns.names;
  const source = await readTable(join(dir, list!.file), columnsOf(list!), progress, (row) => {
    rowCount++;
    if (!facts.areOfNeuron(row)) return;
    listed.push({ id: row.rootId(facts.idPlace), place: row.place, said: facts.of(row) });
  });
  const ids = sortedById(source.file, listed);
  const tables = new TableReader(dir, new NeuronIds(ids, source.file), [source], progress);
  if (rowCount > ids.length) {
    const rest = rowCount - ids.length;
    tables.remarks.push(`${source.file}: ${ids.length} of ${rowCount} rows are neurons; ${rest} are not.`);
  }
  const labels = new NeuronLabels(ids.length);
  listed.forEach(({ said }, neuron) => labels.put(neuron, said));
  for (const table of others) {
    const { file, several = false, estimated = false } = table;
    if (estimated && !existsSync(join(dir, file))) continue;
    const placeOf = new Map<number, string>();
    await tables.read(file, columnsOf(table), (row) => {
      const neuron = tables.neurons.find(row.id(facts.idPlace));
      if (neuron === undefined) return false;
      if (!several) {
        const earlier = placeOf.get(neuron);
        if (earlier !== undefined) throw duplicate(file, row.place, ids[neuron]!, earlier);
        placeOf.set(neuron, row.place);
      }
      labels.put(neuron, facts.of(row));
      return true;
    });
    const without = ids.length - placeOf.size;
    if (without > 0 && !several) {
      tables.remarks.push(`${file} has no row for ${without} of ${ids.length} neurons.`);
    }
  }
  return { tables, labels };
}

/** A row of the table that lists the neurons. */
interface ListedNeuron {
  readonly id: string;
  readonly place: string;
  readonly said: Facts;
}

/** Sorts neurons by id, in place. @returns the ids */
function sortedById(file: string, listed: ListedNeuron[]): string[] {
  if (listed.length === 0) throw tableFault(file, null, 'expected rows of neurons, found none');
  if (listed.length > MAXIMUM_NEURONS) {
    throw tableFault(file, null, `expected at most ${MAXIMUM_NEURONS} neurons, found ${listed.length}`);
  }
  // Ids have no leading zeros, so a longer one is a larger number.
  listed.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : Number(a.id > b.id)));
  listed.forEach(({ id, place }, i) => {
    const earlier = listed[i - 1];
    if (earlier?.id === id) throw duplicate(file, place, id, earlier.place);
  });
  return listed.map(({ id }) => id);
}

function duplicate(file: string, place: string, id: string, earlier: string): CodedError {
  const what = `expected one row per neuron, found ${id} a second time (${firstAt(earlier)})`;
  return tableFault(file, place, what);
}

/** Labels and position of a neuron as a row says them, in the words of the service. */
interface Facts {
  readonly labels: Partial<Record<LabelColumn, string>>;
  readonly transmitterSource: TransmitterSource | undefined;
  readonly positionNm: readonly number[] | undefined;
  readonly isEstimated: boolean;
}

/** Takes from the rows of a table what they say of a neuron. */
class NeuronFacts {
  readonly columns: TableColumns<NeuronColumn>;
  readonly idPlace: number;
  readonly #positionPlaces: readonly number[];
  readonly #largest: readonly (readonly [place: number, transmitter: string])[];
  readonly #where: readonly (readonly (readonly [place: number, values: readonly string[]])[])[];
  readonly #values: ReadonlyMap<string, ReadonlyMap<string, string>>;

  /** @param found columns of the table */
  constructor(
    readonly table: NeuronTable,
    values: Dataset['values'],
    found: readonly string[],
  ) {
    const { largest = {}, where = [] } = table;
    const columns = new TableColumns<NeuronColumn>(table.columns, table.optional, found);
    this.columns = columns;
    this.idPlace = columns.places('id')[0]!;
    const axes = (['x', 'y', 'z'] as const).flatMap((axis) => columns.places(axis));
    this.#positionPlaces = axes.length === 3 ? axes : columns.places('position');
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
      all.every(([place, allowed]) => {
        const text = row.text(place);
        return allowed.includes(text) || (allowed.includes('*') && text !== '');
      }),
    );
  }

  of(row: TableRow): Facts {
    const labels: Partial<Record<LabelColumn, string>> = {};
    for (const label of LABEL_COLUMNS) {
      if (this.columns.places(label).length > 0) labels[label] = this.#label(row, label);
    }
    let transmitterSource: TransmitterSource | undefined;
    if (labels.transmitter !== undefined) {
      const named = labels.transmitter;
      labels.transmitter ||= this.#largestOf(row);
      transmitterSource = named !== '' ? 'named' : labels.transmitter === '' ? 'none' : 'mean';
    }
    const { estimated = false } = this.table;
    return { labels, transmitterSource, positionNm: this.#positionNm(row), isEstimated: estimated };
  }

  #label(row: TableRow, label: LabelColumn): string {
    const place = this.columns.placeIn(row, label);
    if (label === 'sign') return String(row.sign(place));
    const text = row.text(place);
    const names = this.#values.get(label);
    const name = names?.get(text) ?? names?.get(text.toLowerCase());
    if (name !== undefined || text === '') return name ?? '';
    if (!CLOSED.includes(label)) return text;
    throw row.fault(place, `one of ${[...(names?.keys() ?? [])].join(', ')} or empty`);
  }

  /** The transmitter with the largest mean probability, the first of equal ones. */
  #largestOf(row: TableRow): string {
    let best = '';
    let bestAverage = 0;
    for (const [place, transmitter] of this.#largest) {
      const average = row.fraction(place);
      if (average > bestAverage) {
        best = transmitter;
        bestAverage = average;
      }
    }
    return best;
  }

  #positionNm(row: TableRow): readonly number[] | undefined {
    const text = this.#positionPlaces.map((place) => row.text(place)).join(' ');
    if (text.trim() === '') return undefined;
    const parts = POSITION.exec(text);
    if (parts === null) {
      throw row.fault(this.#positionPlaces[0]!, 'three numbers, such as [227220 216884 139400]');
    }
    const { voxel_nm: voxel = [1, 1, 1] } = this.table;
    return parts.slice(1).map((part, axis) => Math.round(Number(part) * voxel[axis]!));
  }
}

/** Labels of neurons and where they lie, filled in from one table after the other. */
export class NeuronLabels {
  readonly columns: Readonly<Record<LabelColumn, string[]>>;
  readonly transmitterSources: TransmitterSource[];
  /** Labels that some table has a column for. */
  readonly given = new Set<LabelColumn>();
  readonly #measured: MarkedPositions;
  readonly #estimated: MarkedPositions;

  constructor(readonly count: number) {
    const columns = LABEL_COLUMNS.map((label) => [label, new Array<string>(count).fill('')]);
    this.columns = Object.fromEntries(columns) as Record<LabelColumn, string[]>;
    this.transmitterSources = new Array<TransmitterSource>(count).fill('none');
    this.#measured = noPositions(count);
    this.#estimated = noPositions(count);
  }

  put(neuron: number, { labels, transmitterSource, positionNm, isEstimated }: Facts): void {
    for (const [label, text] of Object.entries(labels) as [LabelColumn, string][]) {
      this.given.add(label);
      this.columns[label][neuron] = text;
    }
    if (transmitterSource !== undefined) this.transmitterSources[neuron] = transmitterSource;
    const marked = isEstimated ? this.#estimated : this.#measured;
    // The first of several points counts.
    if (positionNm === undefined || marked.isMarked[neuron] === 1) return;
    marked.isMarked[neuron] = 1;
    marked.nm.set(positionNm, 3 * neuron);
  }

  positions(): Pick<NeuronColumns, 'positionsNm' | 'positionEstimated'> {
    return positionsOf(this.columns, this.#measured, this.#estimated);
  }
}

function noPositions(count: number): MarkedPositions {
  return { isMarked: new Uint8Array(count), nm: new Int32Array(3 * count) };
}
