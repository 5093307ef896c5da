import { basename, join } from 'node:path';
import type { SourceFile } from '../../engine/connectome/connectome.js';
import type { NeuronIds } from './neuron-ids.js';
import type { Progress } from './progress.js';
import { readTable } from './read-table.js';
import { type ColumnChoice, likeColumn, type TableRow } from './table-row.js';

/** Maximum number of columns that a sentence names. */
const MAX_NAMED = 12;

/** Reads the tables of one directory. Their rows refer to neurons by root id. */
export class TableReader {
  /** Sentences on the tables, such as on omitted rows. */
  readonly remarks: string[] = [];
  /** Sentences on tables with many omitted rows, which are probably mistakes. */
  readonly warnings: string[] = [];
  /** Sentences on columns of a table of one's own that nobody asked for, as they may have another name here. */
  readonly unread: string[] = [];

  /** @param sources tables that were read before; `read` appends to them */
  constructor(
    readonly dir: string,
    readonly neurons: NeuronIds,
    readonly sources: SourceFile[],
    readonly progress: Progress,
  ) {}

  /**
   * Reads a table and counts the omitted rows, which name an unknown neuron.
   * @param onRow returns false to omit a row
   */
  async read(path: string, columns: ColumnChoice, onRow: (row: TableRow) => boolean): Promise<void> {
    let rowCount = 0;
    let omitted = 0;
    let first = '';
    const chosen = (found: readonly string[]) => {
      const names = typeof columns === 'function' ? columns(found) : columns;
      this.unread.push(...unreadColumns(basename(path), found, names));
      return names;
    };
    const source = await readTable(join(this.dir, path), chosen, this.progress, (row) => {
      rowCount++;
      if (!onRow(row) && omitted++ === 0) first = firstAt(row.location);
    });
    this.sources.push(source);
    if (omitted === 0) return;
    const [name, they] = omitted === 1 ? ['names', 'it was'] : ['name', 'they were'];
    this.remarks.push(
      `${source.file}: ${omitted} of ${rowCount} rows ${name} a root id that ${this.neurons.file} lacks (${first}); ${they} left out.`,
    );
    // More than a few stray rows.
    if (100 * omitted > rowCount) {
      this.warnings.push(
        `${percentOf(omitted, rowCount)} of the rows of ${source.file} were left out, ${omitted} of ${rowCount}: ` +
          `they name root ids that ${this.neurons.file} lacks.`,
      );
    }
  }
}

export function percentOf(omitted: number, count: number): string {
  return `${Math.floor((1000 * omitted) / count) / 10} %`;
}

/** Words for the location of an earlier row, such as "first on line 7". */
export function firstAt(location: string): string {
  return `first ${location.startsWith('line') ? 'on' : 'in'} ${location}`;
}

/** @returns a sentence on the columns of a table that are not read, if there are any */
export function unreadColumns(file: string, found: readonly string[], read: readonly string[]): string[] {
  const unread = found.filter((name) => name !== '' && !read.includes(name));
  const names = unread.slice(0, MAX_NAMED).join(', ') + (unread.length > MAX_NAMED ? ' and others' : '');
  return unread.length === 0
    ? []
    : [`${file}: not read: ${names}. --columns names columns that have other names here.`];
}

/** The columns to read from a table, by the role that a data set gives them. */
export class TableColumns<Role extends string> {
  readonly names: string[] = [];
  readonly #indices = new Map<string, readonly number[]>();

  /**
   * @param columns names by role; if a role has several, the first one with a value counts
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
      // A missing column is asked for, so that the reader reports it, unless it is optional. An optional column with
      // different letter case is probably a mistake, so it is reported too.
      const lacking = optional.includes(role)
        ? wanted.filter((name) => likeColumn(name, found) !== undefined)
        : wanted;
      const asked = there.length > 0 ? there : lacking.slice(0, 1);
      this.#indices.set(
        role,
        asked.map((name) => this.ask(name)),
      );
    }
  }

  /** Adds a column. @returns its position in each row */
  ask(name: string): number {
    return this.names.push(name) - 1;
  }

  /** Positions of the role's columns in each row; empty if the table has none. */
  columnIndicesOf(role: Role): readonly number[] {
    return this.#indices.get(role) ?? [];
  }

  /** Position of the first column of each role that the table has. */
  firstColumns(): Partial<Record<Role, number>> {
    const indices = Array.from(this.#indices, ([role, [first]]) => [role, first]);
    return Object.fromEntries(indices) as Partial<Record<Role, number>>;
  }

  /** Position of the first column with a value in this row, else of the role's first column. */
  columnIndexIn(row: TableRow, role: Role): number {
    const indices = this.columnIndicesOf(role);
    return indices.find((column) => row.text(column) !== '') ?? indices[0]!;
  }
}
