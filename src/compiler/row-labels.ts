/** Takes from a row what its table says of a neuron: labels in the words of the service, and a position in nm. */
import {
  LABEL_COLUMNS,
  type LabelColumn,
  type NeuronColumn,
  type NeuronTable,
  type ValueNames,
} from './dataset.js';
import type { TransmitterSource } from './signs.js';
import type { TableRow } from './table-row.js';

/** Labels whose other values would be misunderstood; the rest may be anything. */
const CLOSED: readonly LabelColumn[] = ['side', 'transmitter'];
const POSITION = /^[[(]? *(-?\d+(?:\.\d+)?)[ ,]+(-?\d+(?:\.\d+)?)[ ,]+(-?\d+(?:\.\d+)?) *[\])]?$/;

export type Labels = Partial<Record<LabelColumn, string>>;

export class RowLabels {
  /** Columns to be asked of the table; the id comes first. */
  readonly names: string[] = [];
  readonly #places = new Map<NeuronColumn, readonly number[]>();
  readonly #largest: readonly (readonly [place: number, transmitter: string])[];
  readonly #where: readonly (readonly (readonly [place: number, values: readonly string[]])[])[];
  readonly #values: ReadonlyMap<LabelColumn, ReadonlyMap<string, string>>;

  /** @param found columns of the table */
  constructor(
    readonly table: NeuronTable,
    values: ValueNames,
    found: readonly string[],
  ) {
    const { columns, optional = [], largest = {}, where = [] } = table;
    const placeOf = (name: string) => this.names.push(name) - 1;
    for (const column of ['id', ...Object.keys(columns)] as NeuronColumn[]) {
      if (this.#places.has(column)) continue;
      const wanted = [columns[column]!].flat();
      const there = wanted.filter((name) => found.includes(name));
      // The table is asked for a column that it lacks, which is its fault, unless it may lack it.
      const asked = there.length > 0 || optional.includes(column) ? there : wanted.slice(0, 1);
      if (asked.length > 0) this.#places.set(column, asked.map(placeOf));
    }
    this.#largest = Object.entries(largest).map(([name, transmitter]) => [placeOf(name), transmitter]);
    const known = where.filter((all) => Object.keys(all).every((name) => found.includes(name)));
    this.#where = (known.length > 0 ? known : where.slice(0, 1)).map((all) =>
      Object.entries(all).map(([name, allowed]) => [placeOf(name), allowed] as const),
    );
    this.#values = new Map(
      Object.entries(values).map(([label, names]) => [label as LabelColumn, new Map(Object.entries(names))]),
    );
  }

  isNeuron(row: TableRow): boolean {
    if (this.#where.length === 0) return true;
    return this.#where.some((all) =>
      all.every(([place, allowed]) => {
        const text = row.text(place);
        return allowed.includes(text) || (allowed.includes('*') && text !== '');
      }),
    );
  }

  labelsOf(row: TableRow): Labels {
    const labels: Labels = {};
    for (const label of LABEL_COLUMNS) {
      if (this.#places.has(label)) labels[label] = this.#label(row, label);
    }
    return labels;
  }

  /** @returns the transmitter of a neuron and how the table gives it */
  transmitterOf(row: TableRow, named: string): readonly [transmitter: string, source: TransmitterSource] {
    if (named !== '') return [named, 'named'];
    let best = '';
    let bestAverage = 0;
    for (const [place, transmitter] of this.#largest) {
      const average = row.fraction(place);
      if (average > bestAverage) {
        best = transmitter;
        bestAverage = average;
      }
    }
    return [best, best === '' ? 'none' : 'mean'];
  }

  /** In nm; undefined where the row gives none. */
  positionOf(row: TableRow): readonly number[] | undefined {
    const axes = (['x', 'y', 'z'] as const).flatMap((axis) => this.#places.get(axis) ?? []);
    const [place = axes[0]!] = this.#places.get('position') ?? [];
    const text = axes.length === 3 ? axes.map((each) => row.text(each)).join(' ') : row.text(place);
    if (text.trim() === '') return undefined;
    const parts = POSITION.exec(text);
    if (parts === null) throw row.fault(place, 'three numbers, such as [227220 216884 139400]');
    const { voxel_nm: voxel = [1, 1, 1] } = this.table;
    return parts.slice(1).map((part, axis) => Math.round(Number(part) * voxel[axis]!));
  }

  get hasPositions(): boolean {
    return (
      this.#places.has('position') || ['x', 'y', 'z'].every((axis) => this.#places.has(axis as NeuronColumn))
    );
  }

  #label(row: TableRow, label: LabelColumn): string {
    const places = this.#places.get(label)!;
    const place = places.find((each) => row.text(each) !== '') ?? places[0]!;
    if (label === 'sign') return String(row.sign(place));
    const text = row.text(place);
    const names = this.#values.get(label);
    const name = names?.get(text) ?? names?.get(text.toLowerCase());
    if (name !== undefined || text === '') return name ?? '';
    if (!CLOSED.includes(label)) return text;
    throw row.fault(place, `one of ${[...(names?.keys() ?? [])].join(', ')} or empty`);
  }
}
