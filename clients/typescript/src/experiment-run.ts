import type { components, paths } from './api-v2.js';
import { linesOf } from './lines.js';
import type { RequestOptions } from './requests.js';
import { notOfService, ServiceError } from './service-error.js';

type Schemas = components['schemas'];

/** An experiment as a client sends it. Every member is optional. */
export type ExperimentDocument = NonNullable<
  paths['/api/v2/experiments']['post']['requestBody']
>['content']['application/json'];
/** The whole answer. */
export type ExperimentAnswer = Schemas['ExperimentAnswer'];
/** The first line: the complete document and the neurons of its selectors. */
export type ExperimentHead = Schemas['ExperimentHead'];
/** A condition that is done. */
export type Condition = Schemas['Condition'];
/** Progress of the experiment; sent if there was no other line for 5 s. */
export type ExperimentProgress = Schemas['ExperimentProgress'];
/** The last line: cost, warnings, citations. */
export type ExperimentTotals = Schemas['ExperimentTotals'];
/** Each kind of line has one member that the others lack: `id`, `index`, `progress` or `cost`. */
export type ExperimentLine = ExperimentHead | Condition | ExperimentProgress | ExperimentTotals;

export interface ExperimentOptions extends RequestOptions {
  /** The first condition of the answer, for example to continue after a broken connection. */
  readonly from?: number;
}

/**
 * After the answer had begun, the connection broke or timed out, or the service refused a further page for now. In that
 * case the cause is its ServiceError.
 */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  /** @param from the first missing condition; to continue, run the experiment with this `from` */
  constructor(
    readonly from: number,
    options?: ErrorOptions,
  ) {
    const isRefused = options?.cause instanceof ServiceError;
    const reason = isRefused ? 'The service refused the next page' : 'The connection broke';
    super(`${reason} before the experiment ended; from: ${from} continues it.`, options);
  }
}

/**
 * An experiment that runs while its lines are read. Reading the first line sends the request. Leaving the loop or
 * aborting the signal ends the experiment. Each iteration sends it again.
 */
export class ExperimentRun implements AsyncIterable<ExperimentLine> {
  readonly #open: (page?: string) => Promise<Response>;
  readonly #options: { from: number; timeoutMs: number; signal?: AbortSignal | undefined };

  /** @param open requests the first page of the answer, or a later one, as NDJSON */
  constructor(
    open: (page?: string) => Promise<Response>,
    options: { from: number; timeoutMs: number; signal?: AbortSignal | undefined },
  ) {
    this.#open = open;
    this.#options = options;
  }

  /**
   * Yields the head, conditions in order with progress between them, and the totals. If the rows of events do not fit
   * into one page, this requests the following pages and merges their lines.
   * @throws ServiceError if the service refuses or the experiment fails; InterruptedError
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExperimentLine, void, void> {
    const { timeoutMs, signal } = this.#options;
    let { from } = this.#options;
    let head: ExperimentHead | undefined;
    /** The last condition with tables. It is yielded late, because the next page may have more of its rows. */
    let unfinished: Condition | undefined;
    let totals: ExperimentTotals | undefined;
    let conditions = 0;
    for (let page: string | undefined, isLast = false; !isLast;) {
      let hasTotals = false;
      const conditionsBefore = conditions;
      let isAnswered = head !== undefined;
      try {
        const response = await this.#open(page);
        isAnswered = true;
        for await (const text of linesOf(response, timeoutMs)) {
          const line = lineOf(text);
          if ('error' in line) throw new ServiceError(undefined, line.error, line);
          if (head === undefined && !('id' in line)) throw notOfService(undefined, SENDER, 'its head', text);
          if ('index' in line) {
            let complete: Condition | undefined = line;
            if (hasTables(line)) {
              const isContinued = unfinished?.index === line.index;
              complete = isContinued ? undefined : unfinished;
              unfinished = isContinued ? withRowsOf(unfinished!, line) : line;
            }
            if (complete === undefined) continue;
            from = complete.index + 1;
            conditions++;
            yield complete;
          } else if ('cost' in line) {
            hasTotals = true;
            const { next_page: next, ...ofPage } = line;
            totals = totals === undefined ? ofPage : sum(totals, ofPage);
            page = next;
            isLast = next === undefined;
          } else if ('progress' in line) yield withPagesBefore(line, conditionsBefore, head);
          else if (head === undefined) yield (head = line);
          else if (line.id !== head.id) throw new Error('The service was replaced between two pages.');
        }
      } catch (error) {
        const isForNow = error instanceof ServiceError && (error.isTemporary || error.isOfGateway);
        const isFinal = error instanceof ServiceError && !(isForNow && head !== undefined);
        if (!isAnswered || isFinal || signal?.aborted) throw error;
        throw new InterruptedError(from, { cause: error });
      }
      if (!hasTotals) throw new InterruptedError(from);
    }
    if (unfinished !== undefined) yield unfinished;
    yield totals!;
  }

  /** Collects all lines into one answer, in the form of the format JSON. */
  answer(onProgress?: (progress: ExperimentProgress['progress']) => void): Promise<ExperimentAnswer> {
    return this.collect((line) => {
      if ('progress' in line) onProgress?.(line.progress);
    });
  }

  /** The same as `answer`, but calls back with each line. */
  async collect(onLine?: (line: ExperimentLine) => void): Promise<ExperimentAnswer> {
    const conditions: Condition[] = [];
    let ends = {};
    for await (const line of this) {
      onLine?.(line);
      if ('index' in line) conditions.push(line);
      else if (!('progress' in line)) ends = 'id' in line ? { ...line, conditions } : { ...ends, ...line };
    }
    return ends as ExperimentAnswer;
  }
}

const SENDER = 'The service';
const KINDS = ['id', 'index', 'progress', 'cost', 'error'] as const;

/** @throws ServiceError if the text is not a line of an experiment */
function lineOf(text: string): ExperimentLine | Schemas['ErrorResponse'] {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    // The error below quotes the invalid text.
  }
  if (typeof line === 'object' && line !== null && KINDS.some((kind) => kind in line)) {
    return line as ExperimentLine | Schemas['ErrorResponse'];
  }
  throw notOfService(undefined, SENDER, 'lines of an experiment', text);
}

/** Progress on each page starts from its own first condition; this adds the pages before. */
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

/** True if a condition has tables of events. Their rows may be divided between two pages. */
function hasTables({ reports = {} }: Partial<Condition>): boolean {
  return Object.values(reports).some((report) => !Array.isArray(report));
}

/** Merges a condition that is divided between two pages. Only the rows differ. */
function withRowsOf(first: Condition, next: Condition): Condition {
  const reports = Object.entries(first.reports).map(([name, report]) => {
    const more = next.reports[name]!;
    if (Array.isArray(report) || Array.isArray(more)) return [name, report];
    return [name, joined(report as Columns, more as Columns)];
  });
  return { ...first, reports: Object.fromEntries(reports) as Condition['reports'] };
}

/** Columns of a table of events of any kind. */
type Columns = Readonly<Record<string, unknown>>;

function joined(first: Columns, next: Columns): Columns {
  return Object.fromEntries(
    Object.entries(first).map(([name, values]) => [name, (values as unknown[]).concat(next[name])]),
  );
}

/** Adds the totals of two pages. Each condition counts on only one page. Brain seconds are whole milliseconds. */
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
    // The job may have ended between two pages, but conditions of the earlier ones can be missing.
    ...(first.partial && { partial: true }),
  };
}
