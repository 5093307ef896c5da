import { join } from 'node:path';
import type { SourceFile } from '../connectome/connectome.js';
import type { NeuronIds } from './neuron-ids.js';
import type { Progress } from './progress.js';
import { readTable } from './read-table.js';
import type { ColumnChoice, TableRow } from './table-row.js';

/** Reads the tables of one directory, whose rows refer to neurons by root id. */
export class TableReader {
  /** Sentences on the tables, as on rows that were left out. */
  readonly remarks: string[] = [];

  /** @param sources tables that were read before; those that are read join them */
  constructor(
    readonly dir: string,
    readonly neurons: NeuronIds,
    readonly sources: SourceFile[],
    readonly progress: Progress,
  ) {}

  /**
   * Reads a table and counts the rows that name a neuron which the brain lacks.
   * @param onRow returns false for such a row
   */
  async read(path: string, columns: ColumnChoice, onRow: (row: TableRow) => boolean): Promise<void> {
    let omitted = 0;
    let first = '';
    const source = await readTable(join(this.dir, path), columns, this.progress, (row) => {
      if (!onRow(row) && omitted++ === 0) first = firstAt(row.place);
    });
    this.sources.push(source);
    if (omitted === 0) return;
    const [rows, they] = omitted === 1 ? ['row names', 'it was'] : ['rows name', 'they were'];
    this.remarks.push(
      `${source.file}: ${omitted} ${rows} a root id that ${this.neurons.file} lacks (${first}); ${they} left out.`,
    );
  }
}

/** Words for the place of an earlier row. */
export function firstAt(place: string): string {
  return `first ${place.startsWith('line') ? 'on' : 'in'} ${place}`;
}

/** The columns that a table is asked for, by what a data set says that they are. */
export class TableColumns<Role extends string> {
  readonly names: string[] = [];
  readonly #places = new Map<string, readonly number[]>();

  /**
   * @param columns names; the first of several that has a value counts
   * @param optional columns that the table may lack
   * @param found columns of the table
   */
  constructor(
    columns: { readonly [Each in Role]?: string | readonly string[] },
    optional: readonly string[] = [],
    found: readonly string[],
  ) {
    for (const [role, names] of Object.entries(columns) as [string, string | readonly string[]][]) {
      const wanted = [names].flat();
      const there = wanted.filter((name) => found.includes(name));
      // The table is asked for a column that it lacks, which is its fault, unless it may lack it.
      const asked = there.length > 0 || optional.includes(role) ? there : wanted.slice(0, 1);
      this.#places.set(
        role,
        asked.map((name) => this.ask(name)),
      );
    }
  }

  /** Asks for one more. @returns its place in each row */
  ask(name: string): number {
    return this.names.push(name) - 1;
  }

  /** Places in each row, none for what the table lacks. */
  places(role: Role): readonly number[] {
    return this.#places.get(role) ?? [];
  }

  /** The first place of each that is there. */
  firstPlaces(): Partial<Record<Role, number>> {
    const places = Array.from(this.#places, ([role, [first]]) => [role, first]);
    return Object.fromEntries(places) as Partial<Record<Role, number>>;
  }

  /** Place of the first column with a value in a row, else of the first. */
  placeIn(row: TableRow, role: Role): number {
    const places = this.places(role);
    return places.find((place) => row.text(place) !== '') ?? places[0]!;
  }
}
