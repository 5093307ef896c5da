import type { components, paths } from './api-v2.js';
import { linesOf } from './lines.js';
import type { RequestOptions } from './requests.js';
import { notOfService, ServiceError } from './service-error.js';

type Schemas = components['schemas'];

/** An experiment as it is asked for. Every member is optional. */
export type ExperimentDocument = NonNullable<
  paths['/api/v2/experiments']['post']['requestBody']
>['content']['application/json'];
/** The whole answer. */
export type ExperimentAnswer = Schemas['ExperimentAnswer'];
/** The first line: the complete document and the neurons of its selectors. */
export type ExperimentHead = Schemas['ExperimentHead'];
/** A condition that is done. */
export type Condition = Schemas['Condition'];
/** Progress of the experiment; comes where no other line came for 5 s. */
export type ExperimentProgress = Schemas['ExperimentProgress'];
/** The last line: cost, warnings, what to cite. */
export type ExperimentTotals = Schemas['ExperimentTotals'];
/** Told apart by a member that only one of them has: `id`, `index`, `progress`, `cost`. */
export type ExperimentLine = ExperimentHead | Condition | ExperimentProgress | ExperimentTotals;

export interface ExperimentOptions extends RequestOptions {
  /** The first condition of the answer, for example where a connection broke. */
  readonly from?: number;
}

/** The connection broke, or nothing came in time, after the answer had begun. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  /** @param from the first condition that did not come: run with this `from`, the experiment goes on there */
  constructor(
    readonly from: number,
    options?: ErrorOptions,
  ) {
    super(`The connection broke before the experiment ended; from: ${from} continues it.`, options);
  }
}

/**
 * An experiment that runs while its lines are asked for. It is sent when the first one is asked for; leaving the loop,
 * or aborting the signal, ends it. Each iteration sends it again.
 */
export class ExperimentRun implements AsyncIterable<ExperimentLine> {
  readonly #open: (page?: string) => Promise<Response>;
  readonly #from: number;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;

  /** @param open sends the request for the first page of the answer, or for a later one; the answer is NDJSON */
  constructor(
    open: (page?: string) => Promise<Response>,
    { from, timeoutMs, signal }: { from: number; timeoutMs: number; signal?: AbortSignal | undefined },
  ) {
    this.#open = open;
    this.#from = from;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /**
   * The lines as they come: the head, conditions in order with progress between them, the totals. Where the rows of events
   * do not fit into one answer, the pages that follow are asked for, and their lines are those of one answer.
   * @throws ServiceError where the service refuses or the experiment fails; InterruptedError
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExperimentLine, void, void> {
    let from = this.#from;
    let head: ExperimentHead | undefined;
    /** The last condition, where the next page may have more rows of it. */
    let held: Condition | undefined;
    let totals: ExperimentTotals | undefined;
    let conditions = 0;
    for (let page: string | undefined, isLast = false; !isLast;) {
      let isWhole = false;
      const before = conditions;
      let hasBegun = head !== undefined;
      try {
        const response = await this.#open(page);
        hasBegun = true;
        for await (const text of linesOf(response, this.#timeoutMs)) {
          const line = lineOf(text);
          if ('error' in line) throw new ServiceError(undefined, line.error, line);
          if (head === undefined && !('id' in line)) throw notOfService(undefined, SENDER, 'its head', text);
          if ('index' in line) {
            const isMore = held?.index === line.index;
            const whole = isMore || !hasTables(line) ? undefined : held;
            if (hasTables(line)) held = isMore ? withRowsOf(held!, line) : line;
            const given = hasTables(line) ? whole : line;
            if (given === undefined) continue;
            from = given.index + 1;
            conditions++;
            yield given;
          } else if ('cost' in line) {
            isWhole = true;
            const { next_page: next, ...own } = line;
            totals = totals === undefined ? own : sum(totals, own);
            page = next;
            isLast = next === undefined;
          } else if ('progress' in line) yield withPagesBefore(line, before, head);
          else if (head === undefined) yield (head = line);
          else if (line.id !== head.id) throw new Error('The service was replaced between two pages.');
        }
      } catch (error) {
        if (!hasBegun || error instanceof ServiceError || this.#signal?.aborted) throw error;
        throw new InterruptedError(from, { cause: error });
      }
      if (!isWhole) throw new InterruptedError(from);
    }
    if (held !== undefined) yield held;
    yield totals!;
  }

  /** Collects all lines into one answer, as the format JSON has it. */
  async answer(onProgress?: (progress: ExperimentProgress['progress']) => void): Promise<ExperimentAnswer> {
    const conditions: Condition[] = [];
    let ends = {};
    for await (const line of this) {
      if ('index' in line) conditions.push(line);
      else if ('progress' in line) onProgress?.(line.progress);
      else ends = 'id' in line ? { ...line, conditions } : { ...ends, ...line };
    }
    return ends as ExperimentAnswer;
  }
}

const SENDER = 'The service';
const KINDS = ['id', 'index', 'progress', 'cost', 'error'] as const;

/** @throws ServiceError where it is no line of an experiment */
function lineOf(text: string): ExperimentLine | Schemas['ErrorResponse'] {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    // The error below quotes the text.
  }
  if (typeof line === 'object' && line !== null && KINDS.some((kind) => kind in line)) {
    return line as ExperimentLine | Schemas['ErrorResponse'];
  }
  throw notOfService(undefined, SENDER, 'lines of an experiment', text);
}

/** Each page counts from its own first condition; the lines are those of one answer. */
function withPagesBefore(
  line: ExperimentProgress,
  conditions: number,
  head: ExperimentHead | undefined,
): ExperimentProgress {
  if (conditions === 0) return line;
  const trials = conditions * (head?.experiment.trials ?? 0);
  const { progress } = line;
  return {
    progress: {
      conditions_done: conditions + progress.conditions_done,
      conditions: conditions + progress.conditions,
      trials_done: trials + progress.trials_done,
      trials: trials + progress.trials,
    },
  };
}

/** Tells whether a condition has tables of events, whose rows may stand on two pages. */
function hasTables({ reports = {} }: Partial<Condition>): boolean {
  return Object.values(reports).some((report) => !Array.isArray(report));
}

/** A condition that stands on two pages: everything but the rows is the same. */
function withRowsOf(first: Condition, next: Condition): Condition {
  const reports = Object.entries(first.reports).map(([name, report]) => {
    const more = next.reports[name]!;
    if (Array.isArray(report) || Array.isArray(more)) return [name, report];
    return [name, joined(report as Columns, more as Columns)];
  });
  return { ...first, reports: Object.fromEntries(reports) as Condition['reports'] };
}

/** Columns of a table of events, of any kind; no page says `truncated`. */
type Columns = Readonly<Record<string, unknown>>;

function joined(first: Columns, next: Columns): Columns {
  return Object.fromEntries(
    Object.entries(first).map(([name, values]) => [name, (values as unknown[]).concat(next[name])]),
  );
}

/** Each condition counts on one page, so that costs add up. Brain seconds are whole milliseconds. */
function sum(first: ExperimentTotals, next: ExperimentTotals): ExperimentTotals {
  const told = first.warnings.map(({ message }) => message);
  return {
    ...next,
    unchanged: [...first.unchanged, ...next.unchanged],
    cost: {
      brain_seconds: Math.round((first.cost.brain_seconds + next.cost.brain_seconds) * 1000) / 1000,
      input_events: first.cost.input_events + next.cost.input_events,
      synaptic_events: first.cost.synaptic_events + next.cost.synaptic_events,
    },
    warnings: [...first.warnings, ...next.warnings.filter(({ message }) => !told.includes(message))],
  };
}
