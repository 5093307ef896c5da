/** The pages of an answer: whole trials whose rows of events fit into a limit. */
import { CodedError } from '../../errors.js';
import { firstNotBelow } from '../../connectome/sorted-array.js';
import type { ConditionCounts } from './condition-counts.js';
import type { EventTable } from './result.js';

/** Decides which rows of tables are kept. */
export interface RowFilter {
  /** The first trial that did not fit, once there is one. */
  readonly next?: PageStart | undefined;
  /** Tells whether no trial of a condition, nor of any after it, is kept. */
  endsBefore?(condition: number): boolean;
  /**
   * Asked of every trial in the order of conditions and trials.
   * @param rows of all tables of the trial
   * @throws what ends the run
   */
  keeps(condition: number, trial: number, rows: number): boolean;
}

/** The first trial of a page. */
export interface PageStart {
  readonly condition: number;
  readonly trial: number;
}

/** CONDITION.TRIAL */
export const PAGE = /^(\d{1,5})\.(\d{1,3})$/;

/** @returns undefined where the text names no page */
export function pageStartOf(text: string): PageStart | undefined {
  const found = PAGE.exec(text);
  return found === null ? undefined : { condition: Number(found[1]), trial: Number(found[2]) };
}

export function pageText({ condition, trial }: PageStart): string {
  return `${condition}.${trial}`;
}

export interface PageLimit {
  /** Rows of all tables together. */
  readonly rows: number;
  /** The formats that have this limit, in words. */
  readonly formats: string;
}

/** One page, while it fills. Which trials stand on it depends on its start, its limit and the rows of the trials alone. */
export class Page implements RowFilter {
  #rows = 0;
  #next: PageStart | undefined;

  /** @param hasEarlierPages whether the answer began on another one */
  constructor(
    private readonly start: PageStart,
    private readonly limit: PageLimit,
    private readonly hasEarlierPages: boolean,
  ) {}

  /** The first trial that did not fit: the page is full. */
  get next(): PageStart | undefined {
    return this.#next;
  }

  /** @throws CodedError TOO_EXPENSIVE where the trial has more rows than any page may have, and the page none so far */
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
   * Cuts a finished condition to the rows of the trials that stand on the page, which follow one another.
   * @param counts whose index is the number of the condition
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

  /** Tells whether the page ends before a condition; one that it ends within stands on this page and on the next. */
  endsBefore(condition: number): boolean {
    const next = this.#next;
    return (
      next !== undefined && (next.condition < condition || (next.condition === condition && next.trial === 0))
    );
  }

  /**
   * Tells whether a condition that was run counts in the totals. Each counts on the page on which it begins, and one before all
   * pages on the first: so the totals of the pages add up to those of the whole answer.
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

/** Keeps the first rows of each table, which are the same however many are kept. */
export function firstRows(counts: ConditionCounts, rows: number): ConditionCounts {
  return withTables(counts, (table) =>
    table.steps.length <= rows ? table : { ...rowsOf(table, 0, rows), truncated: true },
  );
}

function withTables(counts: ConditionCounts, cut: (table: EventTable) => EventTable): ConditionCounts {
  return { ...counts, reports: counts.reports.map((report) => ('table' in report ? cut(report) : report)) };
}

/** Rows of the trials up to and including one. */
function rowsUpTo(trials: Uint8Array, trial: number): number {
  return firstNotBelow(trials, trial + 1);
}

/** Copied where these are not all, so that the memory of the others is freed. */
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

/** Keeps all rows of every condition, as a job does: its pages are made when its results are read. */
export class WholeConditions implements RowFilter {
  #condition = -1;
  #rows = 0;

  /** @param limit rows of a condition */
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
        'it would fit.',
      { path: '/reports' },
    );
  }
}
