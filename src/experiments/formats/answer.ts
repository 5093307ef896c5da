/** Turns a running experiment, or the stored results of a job, into the bytes of one answer. */
import { joinedBytes } from '../../engine/bytes.js';
import { answerWriter, type AnswerWriter } from './answer-writer.js';
import { TABLE_FORMATS, type ColumnNames, type Format, type TableName } from './formats.js';
import { eventsOfAnswer } from './stored-answer.js';
import { tableOf, type Table } from './tables.js';
import type { ConditionResult } from '../run/condition-result.js';
import { Page, pageText, tooManyRows, type PageStart } from '../run/pages.js';
import { invalid } from '../../engine/schema/json-path.js';
import { CodedError } from '../../engine/errors.js';
import { groupNumbersOf } from '../plan/plan-limits.js';
import { addWork, type Work } from '../plan/prices.js';
import type { ExperimentPlan } from '../plan/plan.js';
import type { ExperimentEvent } from '../document/result.js';
import type { RunOptions, RunTrial } from '../run/condition-run.js';
import type { Turn } from '../run/turn.js';
import { eventsOfResults, runExperiment, type AnswerExtent } from '../run/run-experiment.js';

/** Numbers of groups, as the limit of an experiment counts them, from which a figure is drawn within a second or two. */
const MAX_FIGURE_NUMBERS = 2_000_000;

/** The requested form of an answer. It does not change the id of the experiment. */
export interface AnswerRequest {
  readonly format: Format;
  /** The first condition of the answer. */
  readonly from: number;
  /** The requested page, if it is not the first one. It begins in the condition `from`. */
  readonly page?: PageStart;
  /** If true, cut tables of events at the limit on rows; otherwise divide them into pages. */
  readonly truncate: boolean;
  /** The table for formats that hold one; see tableOf for the default. */
  readonly table?: TableName;
  readonly names?: ColumnNames;
}

/** The making of an answer in turns of the thread. */
export interface AnswerMaking {
  readonly turn: Turn;
  /** Minimum size of a piece, except for the last one and, in NDJSON, the last one of each event. */
  readonly pieceBytes: number;
}

/** The next bytes of an answer. They share their memory with nothing. */
export interface AnswerPiece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Number of conditions written so far, including this piece. */
  readonly conditions: number;
  /** Work of writing them, for the price; without rows of tables. */
  readonly written: Work;
}

/** The facts about an answer that headers need before its bytes. Only tables of events have them; JSON has them inside. */
export interface AnswerHead {
  /** The next page, if there is one. */
  readonly nextPage?: string;
  /** True if rows were left out, because `truncate` was set. */
  readonly truncated: boolean;
}

export interface Answer extends AnswerHead {
  /** Makes the bytes on demand. */
  readonly pieces: AsyncGenerator<AnswerPiece, void, undefined>;
}

/**
 * Refuses an answer that cannot be written, before anything is computed.
 * @param limitRows maximum number of rows of tables in the format
 * @throws CodedError INVALID_PARAMETER, TOO_EXPENSIVE
 */
export function checkRequest(plan: ExperimentPlan, wanted: AnswerRequest, limitRows = plan.tableRows): void {
  checkPage(plan, wanted);
  if (wanted.format === 'svg') checkFigure(plan, wanted.from);
  if (wanted.truncate) return;
  const samplesIn = plan.cost.samplesOf(writtenReports(plan, wanted));
  for (let condition = wanted.from; condition < plan.conditions; condition++) {
    const samples = samplesIn(plan.grid.cellOf(condition));
    if (samples <= limitRows) continue;
    throw tooManyRows(condition, 0, samples, { rows: limitRows, formats: formatsOf(tableIn(plan, wanted)) });
  }
}

/** A figure is drawn of all numbers at once, in one turn of the thread. */
function checkFigure(plan: ExperimentPlan, from: number): void {
  const numbers = groupNumbersOf(plan.cost.work(from));
  if (numbers <= MAX_FIGURE_NUMBERS) return;
  throw new CodedError(
    'TOO_EXPENSIVE',
    `The figure would be drawn from ${numbers} numbers of groups; at most ${MAX_FIGURE_NUMBERS} are allowed. With fewer ` +
      'conditions, groups or trials it would fit; --plot of the command line draws any number.',
    { path: '/reports' },
  );
}

function checkPage(plan: ExperimentPlan, wanted: AnswerRequest): void {
  const table = tableIn(plan, wanted);
  const { page } = wanted;
  if (page === undefined) {
    plan.checkFrom(wanted.from);
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
 * Answers a new experiment. For a table of events, the promise resolves after the whole page is computed; memory then holds at
 * most the limit on rows and the rows of one trial. All other answers are computed while somebody reads their bytes.
 */
export async function answerOfRun(
  plan: ExperimentPlan,
  runTrial: RunTrial,
  wanted: AnswerRequest,
  options: Omit<RunOptions, 'turn'>,
  making: AnswerMaking,
): Promise<Answer> {
  const extent = extentOf(plan, wanted, plan.tableRows);
  const events = runExperiment(plan, runTrial, { ...options, ...extent, turn: making.turn });
  return answerOf(plan, wanted, events, making);
}

/**
 * Answers from the stored results of a job.
 * @param results see eventsOfResults, also for `isPartial`; `limitRows` is the maximum number of rows of tables in the format
 */
export async function answerOfResults(
  plan: ExperimentPlan,
  results: AsyncIterable<readonly [index: number, result: ConditionResult | undefined]>,
  wanted: AnswerRequest,
  { limitRows, isPartial }: { readonly limitRows: number; readonly isPartial: boolean },
  making: AnswerMaking,
): Promise<Answer> {
  const extent = extentOf(plan, wanted, limitRows);
  const tableRows = plan.rowsOfTable(limitRows);
  const events = eventsOfResults(plan, results, { ...extent, tableRows, isPartial, turn: making.turn });
  return answerOf(plan, wanted, events, making);
}

/**
 * Draws an answer that was stored in another format, with as many rows as answerOfRun would draw: the same bytes.
 * @returns undefined if it has not everything that the figure shows
 */
export async function answerOfStored(
  plan: ExperimentPlan,
  stored: Uint8Array,
  wanted: AnswerRequest,
  making: AnswerMaking,
): Promise<Answer | undefined> {
  const events = await making.turn(() => eventsOfAnswer(stored, plan.connectome, plan.rowsOfTable()));
  return events && answerOf(plan, wanted, events, making);
}

/** The table of an answer; undefined for JSON and figures. */
function tableIn(
  { connectome, head: { experiment } }: ExperimentPlan,
  { format, table, names }: AnswerRequest,
): Table | undefined {
  if (!(TABLE_FORMATS as readonly Format[]).includes(format)) return undefined;
  return tableOf({ connectome, experiment, table, names });
}

/** The reports of the plan that the answer contains. */
export function writtenReports(plan: ExperimentPlan, wanted: AnswerRequest): ExperimentPlan['reports'] {
  const table = tableIn(plan, wanted);
  return plan.reports.filter(({ name }) => table?.reports.includes(name) ?? true);
}

function extentOf(plan: ExperimentPlan, wanted: AnswerRequest, limitRows: number): AnswerExtent {
  const { from, page, truncate } = wanted;
  const table = tableIn(plan, wanted);
  const extent = { from, reports: writtenReports(plan, wanted) };
  if (table?.isOfEvents === false) return extent;
  if (truncate) return { ...extent, cutsTables: true };
  const start = page ?? { condition: from, trial: 0 };
  return {
    ...extent,
    page: new Page(start, { rows: limitRows, formats: formatsOf(table) }, page !== undefined),
    ...(table !== undefined && { fromTrial: start.trial }),
  };
}

/** The formats that share a limit on rows, in words. */
function formatsOf(table: Table | undefined): string {
  return table === undefined ? 'JSON and NDJSON' : 'a table';
}

type Events = AsyncIterable<ExperimentEvent> | readonly ExperimentEvent[];

async function answerOf(
  plan: ExperimentPlan,
  wanted: AnswerRequest,
  events: Events,
  making: AnswerMaking,
): Promise<Answer> {
  const { connectome, head } = plan;
  const writer = await answerWriter(wanted.format, { ...wanted, connectome, experiment: head.experiment });
  const reports = writtenReports(plan, wanted);
  const pieces = (given: Events) =>
    answerPieces(given, writer, making, {
      isLive: wanted.format === 'ndjson',
      workOf: (condition) => plan.cost.writtenOf(condition, reports),
    });
  if (tableIn(plan, wanted)?.isOfEvents !== true) return { truncated: false, pieces: pieces(events) };
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
 * @param isLive if true, yield the bytes of an event before the next event is there
 * @param workOf the work of writing a condition
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
    const bytes = joinedBytes(held);
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
