/** From an experiment that runs, or from the outcomes of a job, to the bytes of one answer. */
import { answerWriter, type AnswerWriter } from './answer-writer.js';
import { TABLE_FORMATS, type ColumnNames, type Format, type TableName } from './formats.js';
import { tableOf, type Table } from './tables.js';
import type { ConditionOutcome } from '../run/outcomes.js';
import { Page, pageText, tooManyRows, type PageStart } from '../run/pages.js';
import { invalid } from '../../schema/json-path.js';
import { addWork, type Work } from '../plan/prices.js';
import type { ExperimentPlan } from '../plan/plan.js';
import type { ExperimentEvent } from '../run/result.js';
import type { RunOptions, RunTrial } from '../run/condition-run.js';
import type { Turn } from '../run/turn.js';
import { eventsOfOutcomes, runExperiment, type AnswerExtent } from '../run/run-experiment.js';

/** How an answer is wanted. None of it is part of an experiment's id. */
export interface AnswerOrder {
  readonly format: Format;
  /** The first condition of the answer. */
  readonly from: number;
  /** The page that the answer is, where it is not the first; it begins with the condition `from`. */
  readonly page?: PageStart;
  /** Cuts tables of events at the limit on rows, which otherwise makes pages. */
  readonly truncate: boolean;
  /** Table that a format of tables holds. */
  readonly table?: TableName;
  readonly names?: ColumnNames;
}

/** How an answer that is made in turns is handed on. */
export interface AnswerMaking {
  readonly turn: Turn;
  /** Pieces of bytes are at least so large, but for the last and, in NDJSON, those at the end of an event. */
  readonly pieceBytes: number;
}

/** Bytes of an answer, which follow those before them, in memory of their own. */
export interface AnswerPiece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Conditions that were answered, with this piece. */
  readonly conditions: number;
  /** Work of writing them, but for the rows of tables; for its price. */
  readonly written: Work;
}

/** Facts of an answer that are known before its bytes. */
export interface AnswerHead {
  /** The page that follows, of a table of events. JSON says it at its end. */
  readonly nextPage?: string;
  /** True where such a table lacks rows, as `truncate` allows. JSON says it in its warnings. */
  readonly truncated: boolean;
}

export interface Answer extends AnswerHead {
  /** Made when they are asked for. */
  readonly pieces: AsyncGenerator<AnswerPiece, void, undefined>;
}

/**
 * Refuses what cannot be written before it is computed.
 * @param limitRows rows of tables that the format of the answer may have
 * @throws CodedError INVALID_PARAMETER, TOO_EXPENSIVE
 */
export function checkOrder(plan: ExperimentPlan, order: AnswerOrder, limitRows = plan.tableRows): void {
  checkPage(plan, order);
  if (order.truncate) return;
  const samplesIn = plan.cost.samplesOf(writtenReports(plan, order));
  for (let condition = order.from; condition < plan.conditions; condition++) {
    const limit = { rows: limitRows, formats: formatsOf(tableIn(plan, order)) };
    const samples = samplesIn(plan.grid.indexOf(condition));
    if (samples > limitRows) throw tooManyRows(condition, 0, samples, limit);
  }
}

function checkPage(plan: ExperimentPlan, order: AnswerOrder): void {
  const table = tableIn(plan, order);
  const { page } = order;
  if (page === undefined) {
    plan.checkFrom(order.from);
    return;
  }
  if (table !== undefined && !table.isOfEvents) {
    throw invalid([], `page must not be given for the table ${table.name}, which has no pages.`);
  }
  if (page.condition < plan.conditions && page.trial < plan.trials) return;
  const last = { condition: plan.conditions - 1, trial: plan.trials - 1 };
  throw invalid(
    [],
    `page must be one that another answer to this experiment names, ${pageText(last)} at most, got ${pageText(page)}.`,
  );
}

/**
 * A table of events is computed to the end of its page before this resolves: at most as many rows are
 * held as the limit of its format allows, and those of one trial. Anything else is computed while its bytes are read.
 */
export async function answerOfRun(
  plan: ExperimentPlan,
  runTrial: RunTrial,
  order: AnswerOrder,
  options: Omit<RunOptions, 'turn'>,
  making: AnswerMaking,
): Promise<Answer> {
  const extent = extentOf(plan, order, plan.tableRows);
  const events = runExperiment(plan, runTrial, { ...options, ...extent, turn: making.turn });
  return answerOf(plan, order, events, making);
}

/**
 * The same of a job.
 * @param outcomes as eventsOfOutcomes takes them, `isPartial` too
 * @param limitRows rows of tables that the format of the answer may have
 */
export async function answerOfOutcomes(
  plan: ExperimentPlan,
  outcomes: AsyncIterable<readonly [index: number, outcome: ConditionOutcome | undefined]>,
  order: AnswerOrder,
  { limitRows, isPartial }: { readonly limitRows: number; readonly isPartial: boolean },
  making: AnswerMaking,
): Promise<Answer> {
  const extent = extentOf(plan, order, limitRows);
  const tableRows = plan.rowsOfTable(limitRows);
  const events = eventsOfOutcomes(plan, outcomes, { ...extent, tableRows, isPartial, turn: making.turn });
  return answerOf(plan, order, events, making);
}

/** Undefined in JSON. */
function tableIn(
  { connectome, head: { experiment } }: ExperimentPlan,
  { format, table, names }: AnswerOrder,
): Table | undefined {
  if (!(TABLE_FORMATS as readonly Format[]).includes(format)) return undefined;
  return tableOf({ connectome, experiment, table, names });
}

/** Reports of the plan that an answer has. */
export function writtenReports(plan: ExperimentPlan, order: AnswerOrder): ExperimentPlan['reports'] {
  const table = tableIn(plan, order);
  return plan.reports.filter(({ name }) => table?.reports.includes(name) ?? true);
}

function extentOf(plan: ExperimentPlan, order: AnswerOrder, limitRows: number): AnswerExtent {
  const { from, page, truncate } = order;
  const table = tableIn(plan, order);
  const extent = { from, reports: writtenReports(plan, order) };
  if (table?.isOfEvents === false) return extent;
  if (truncate) return { ...extent, cutsTables: true };
  const start = page ?? { condition: from, trial: 0 };
  return {
    ...extent,
    page: new Page(start, { rows: limitRows, formats: formatsOf(table) }, page !== undefined),
    ...(table !== undefined && { fromTrial: start.trial }),
  };
}

/** Formats that share a limit on rows, in words. */
function formatsOf(table: Table | undefined): string {
  return table === undefined ? 'JSON and NDJSON' : 'a table';
}

type Events = AsyncIterable<ExperimentEvent> | readonly ExperimentEvent[];

async function answerOf(
  plan: ExperimentPlan,
  order: AnswerOrder,
  events: AsyncGenerator<ExperimentEvent, void, void>,
  making: AnswerMaking,
): Promise<Answer> {
  const { connectome, head } = plan;
  const writer = await answerWriter(order.format, { ...order, connectome, experiment: head.experiment });
  const reports = writtenReports(plan, order);
  const pieces = (given: Events) =>
    answerPieces(given, writer, making, {
      isLive: order.format === 'ndjson',
      workOf: (condition) => plan.cost.writtenOf(condition, reports),
    });
  if (tableIn(plan, order)?.isOfEvents !== true) return { truncated: false, pieces: pieces(events) };
  const computed: ExperimentEvent[] = [];
  for await (const event of events) computed.push(event);
  const end = computed.at(-1)!;
  const { next_page: nextPage, warnings } = end.kind === 'totals' ? end.totals : { warnings: [] };
  return {
    ...(nextPage !== undefined && { nextPage }),
    truncated: warnings.some(({ code }) => code === 'SPIKES_TRUNCATED'),
    pieces: pieces(computed),
  };
}

/**
 * @param isLive whether the bytes of an event are handed on before the next one is there
 * @param workOf work of writing a condition
 */
async function* answerPieces(
  events: Events,
  writer: AnswerWriter,
  { turn, pieceBytes }: AnswerMaking,
  { isLive, workOf }: { readonly isLive: boolean; readonly workOf: (condition: number) => Work },
): AsyncGenerator<AnswerPiece, void, undefined> {
  let held: Uint8Array[] = [];
  let length = 0;
  let conditions = 0;
  const written: Work = {};
  const take = (): AnswerPiece => {
    const bytes = new Uint8Array(Buffer.concat(held));
    held = [];
    length = 0;
    return { bytes, conditions, written: { ...written } };
  };
  for await (const event of events) {
    const parts = writer.write(event)[Symbol.iterator]();
    const write = (): boolean => {
      const { done, value } = parts.next();
      if (done === true) return false;
      held.push(value);
      length += value.length;
      return true;
    };
    while (await turn(write)) if (length >= pieceBytes) yield take();
    if (event.kind === 'condition') {
      conditions++;
      addWork(written, workOf(event.condition.index));
    }
    if (isLive && length > 0) yield take();
  }
  if (length > 0) yield take();
}
