/** Pages of an answer. A page holds whole trials, as many as fit into its limit on rows of events. */
import { CodedError } from '../../engine/errors.js';
import { firstNotBelow } from '../../engine/connectome/sorted-array.js';
import type { ConditionCounts } from './condition-counts.js';
import { PAGE } from '../document/result.js';
import type { EventTable } from '../kinds/result-rows.js';

/** Decides which trials keep their rows. */
export interface RowFilter {
  /** The first trial that did not fit; undefined until there is one. */
  readonly next?: PageStart | undefined;
  /** Tells whether all trials of a condition, and of later ones, come after the page. */
  endsBefore?(condition: number): boolean;
  /**
   * Call it for every trial, in the order of conditions and trials.
   * @param rows number of rows in all tables of the trial
   * @throws CodedError to end the run
   */
  keeps(condition: number, trial: number, rows: number): boolean;
}

/** The first trial of a page. */
export interface PageStart {
  readonly condition: number;
  readonly trial: number;
}

/** @returns undefined if the text names no page */
export function pageStartOf(text: string): PageStart | undefined {
  const found = PAGE.exec(text);
  return found === null ? undefined : { condition: Number(found[1]), trial: Number(found[2]) };
}

export function pageText({ condition, trial }: PageStart): string {
  return `${condition}.${trial}`;
}

export interface PageLimit {
  /** Maximum number of rows of all tables together. */
  readonly rows: number;
  /** The formats with this limit, in words. */
  readonly formats: string;
}

/** One page while it fills. Its trials depend only on its start, its limit and the rows of the trials. */
export class Page implements RowFilter {
  #rows = 0;
  #next: PageStart | undefined;

  /** @param hasEarlierPages whether this is not the first page of the answer */
  constructor(
    private readonly start: PageStart,
    private readonly limit: PageLimit,
    readonly hasEarlierPages: boolean,
  ) {}

  /** The first trial that did not fit. If there is one, the page is full. */
  get next(): PageStart | undefined {
    return this.#next;
  }

  /** @throws CodedError TOO_EXPENSIVE if the page is empty and the trial still has more rows than a page may have */
  keeps(condition: number, trial: number, rows: number): boolean {
    const { start, limit } = this;
    if (condition < start.condition || (condition === start.condition && trial < start.trial)) return false;
    if (this.#next !== undefined) return false;
    if (this.#rows + rows > limit.rows) {
      if (this.#rows === 0) throw tooManyRows(condition, trial, rows, limit);
      this.#next = { condition, trial };
      return false;
    }
    this.#rows += rows;
    return true;
  }

  /**
   * Cuts a finished condition to the rows of its trials on this page. These trials follow one another.
   * @param counts those of a condition; their index is its number, not its cell
   */
  cut(counts: ConditionCounts, trials: number): ConditionCounts {
    const tables = counts.reports.filter((report) => 'table' in report);
    let [first, end] = [0, 0];
    for (let trial = 0; trial < trials; trial++) {
      const rows = tables.reduce(
        (sum, { trials: of }) => sum + rowsUpTo(of, trial) - rowsUpTo(of, trial - 1),
        0,
      );
      if (!this.keeps(counts.index, trial, rows)) continue;
      if (end === 0) first = trial;
      end = trial + 1;
    }
    return withTables(counts, (table) =>
      rowsOf(table, rowsUpTo(table.trials, first - 1), rowsUpTo(table.trials, end - 1)),
    );
  }

  /** Tells whether the page ends before a condition. If it ends within one, that condition is on both pages. */
  endsBefore(condition: number): boolean {
    const next = this.#next;
    return (
      next !== undefined && (next.condition < condition || (next.condition === condition && next.trial === 0))
    );
  }

  /**
   * Tells whether a condition counts in the totals of this page. It counts on the page on which it begins, or on the first page
   * if it comes before all of them. So the totals of all pages add up to those of the whole answer.
   */
  isInTotals(condition: number): boolean {
    if (!this.hasEarlierPages) return true;
    const { start } = this;
    return condition > start.condition || (condition === start.condition && start.trial === 0);
  }
}

export function tooManyRows(condition: number, trial: number, rows: number, limit: PageLimit): CodedError {
  return new CodedError(
    'TOO_EXPENSIVE',
    `Trial ${trial} of condition ${condition} has ${rows} rows of events; at most ${limit.rows} are ` +
      `allowed in ${limit.formats}. With truncate=true the first ones are given; a table (csv, arrow, parquet) may have ` +
      'more rows than JSON, and fewer neurons or a shorter window have fewer.',
    { path: '/reports' },
  );
}

/** Cuts each table to its first rows. */
export function firstRows(counts: ConditionCounts, rows: number): ConditionCounts {
  return withTables(counts, (table) => firstRowsOf(table, rows));
}

export function firstRowsOf(table: EventTable, rows: number): EventTable {
  return table.steps.length <= rows ? table : { ...rowsOf(table, 0, rows), truncated: true };
}

function withTables(counts: ConditionCounts, cut: (table: EventTable) => EventTable): ConditionCounts {
  return { ...counts, reports: counts.reports.map((report) => ('table' in report ? cut(report) : report)) };
}

/** Number of rows of the trials up to, and including, the given one. */
function rowsUpTo(trials: Uint8Array, trial: number): number {
  return firstNotBelow(trials, trial + 1);
}

/** Copies the rows if some are left out, so that the memory of the others is freed. */
function rowsOf(table: EventTable, from: number, to: number): EventTable {
  if (from === 0 && to === table.steps.length) return table;
  return {
    ...table,
    trials: table.trials.slice(from, to),
    steps: table.steps.slice(from, to),
    neurons: table.neurons.slice(from, to),
    columns: table.columns.map((column) => ({ ...column, values: column.values.slice(from, to) })),
  };
}

/** For jobs: keeps the rows of all trials. A job makes pages when somebody reads its results. */
export class WholeConditions implements RowFilter {
  #condition = -1;
  #rows = 0;

  /** @param limit maximum number of rows of a condition */
  constructor(private readonly limit: number) {}

  /** @throws CodedError TOO_EXPENSIVE */
  keeps(condition: number, trial: number, rows: number): boolean {
    if (condition !== this.#condition) {
      this.#condition = condition;
      this.#rows = 0;
    }
    this.#rows += rows;
    if (this.#rows <= this.limit) return true;
    throw new CodedError(
      'TOO_EXPENSIVE',
      `Condition ${condition} has ${this.#rows} rows of events in its trials 0 to ${trial}; a job keeps ` +
        `at most ${this.limit} of a condition. With fewer trials, or fewer neurons or a shorter window in its reports, ` +
        `it would fit.${trial > 0 ? ' If it fits into a request, its table (csv, arrow, parquet) comes in pages.' : ''}`,
      { path: '/reports' },
    );
  }
}
