import { constants } from 'node:os';
import { CodedError } from '../../../engine/errors.js';
import { counted } from '../../../experiments/figures/figure.js';
import type { FoundCondition } from '../../../experiments/figures/figure-kind.js';
import { foundCondition } from '../../../experiments/figures/findings.js';
import { answerWriter } from '../../../experiments/formats/answer-writer.js';
import type { TableFormat } from '../../../experiments/formats/formats.js';
import type { TableRequest } from '../../../experiments/formats/tables.js';
import type {
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
} from '../../../experiments/document/result.js';
import { AtomicFile } from '../atomic-file.js';
import type { ProgressLine } from '../progress.js';
import type { ExperimentSource, TrialProgress } from './source.js';

/** A table that is written to a file while the experiment runs. */
export interface FileOrder extends Pick<TableRequest, 'table' | 'names'> {
  readonly path: string;
  readonly format: TableFormat;
}

/** The parts of an answer that the table and the plots need. */
export interface CollectedAnswer {
  readonly head: ExperimentHead;
  /** Only the first conditions have their tables of events. */
  readonly conditions: readonly FoundCondition[];
  readonly totals: ExperimentTotals;
}

type OpenFile = Awaited<ReturnType<typeof openFile>>;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** The exit code of refusals; that of failures, after which the same may succeed, is another. */
const REFUSED = 2;
/** Ends a table. No table has numbers of the totals. */
const NO_TOTALS: ExperimentTotals = {
  unchanged: [],
  cost: { brain_seconds: 0, input_events: 0, synaptic_events: 0 },
  warnings: [],
  cite: [],
};

/** A signal (Ctrl-C or SIGTERM) ended the computation. The message says which conditions are complete. */
export class Interrupted extends Error {
  constructor(private readonly signal: NodeJS.Signals) {
    super();
  }

  /** 128 plus the number of the signal, as in shells. */
  get exitStatus(): number {
    return 128 + constants.signals[this.signal];
  }
}

/**
 * Computes a whole experiment. The first signal ends the experiment; a second one ends the process at once. Unfinished
 * files are removed if the experiment is refused. After a signal or a failure, complete conditions stay in files with
 * `.partial` in their names.
 * @param keepsEvents true to store the whole answer in memory, as `events`
 * @returns the answer, with files that are written, but not renamed yet
 * @throws CodedError if the experiment fails or has no such table, or if a file cannot be written
 * @throws Interrupted after a signal
 */
export async function computedAnswer(
  source: ExperimentSource,
  orders: readonly FileOrder[],
  keepsEvents: boolean,
  progress: ProgressLine,
) {
  let head: ExperimentHead | undefined;
  let totals: ExperimentTotals | undefined;
  const conditions: FoundCondition[] = [];
  const events: ExperimentEvent[] = [];
  const files: OpenFile[] = [];
  let reached: TrialProgress = { trials: 0, trialsDone: 0 };
  const onProgress = (now: TrialProgress) => {
    reached = now;
    progress.reached(now.trialsDone, now.trials, now.secondsLeft);
  };
  /** Computed conditions before a signal; those of a job may not have been received. */
  let doneBefore = 0;
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (name: NodeJS.Signals) => {
    restore();
    doneBefore = reached.conditionsDone ?? 0;
    controller.abort(new Interrupted(name));
  };
  const restore = () => SIGNALS.forEach((name) => process.removeListener(name, abort));
  SIGNALS.forEach((name) => process.once(name, abort));
  progress.begin('Running trials', 0, 'items');
  let beganAtMs = performance.now();
  try {
    for await (const event of source.events({ signal, onProgress })) {
      if (event.kind === 'head') {
        beganAtMs = performance.now();
        head = event.head;
        for (const order of orders) files.push(await openFile(order, source, head));
      } else if (event.kind === 'totals') totals = event.totals;
      else conditions.push(foundCondition(event.condition, conditions.length));
      if (keepsEvents) events.push(event);
      for (const { file, writer } of files) {
        for (const bytes of writer.write(event)) file.write(bytes);
      }
    }
  } catch (thrown) {
    const error: unknown = signal.aborted ? signal.reason : thrown;
    const kept = keptFiles(error, conditions.length, files);
    const textOf = (done: number) => conditionsText(done, conditions, kept ?? [], orders.length > 0);
    if (error instanceof Interrupted) error.message = textOf(Math.max(doneBefore, conditions.length));
    else if (kept !== undefined) progress.note(`The experiment failed after ${textOf(conditions.length)}`);
    throw error;
  } finally {
    restore();
    progress.end();
  }
  const seconds = (performance.now() - beganAtMs) / 1000;
  const answer = { head: head!, conditions, totals: totals!, events };
  return { ...answer, seconds, trials: reached.trialsDone, files: files.map(({ file }) => file) };
}

async function openFile(
  { path, format, ...choice }: FileOrder,
  source: ExperimentSource,
  { experiment }: ExperimentHead,
) {
  const writer = await answerWriter(format, { ...choice, connectome: await source.neurons(), experiment });
  return { file: new AtomicFile(path), writer };
}

/**
 * Ends the files with complete conditions, if the rest can be computed later; else removes them.
 * @returns their names, which say that they are only the beginning
 */
function keptFiles(error: unknown, conditions: number, files: readonly OpenFile[]): string[] | undefined {
  // A refusal would come again, and a file that could not be written has no complete end.
  const isRefused = error instanceof CodedError && error.exitCode === REFUSED;
  if (conditions === 0 || files.length === 0 || isRefused) {
    for (const { file } of files) file.discard();
    return undefined;
  }
  return files.flatMap(({ file, writer }) => {
    for (const bytes of writer.write({ kind: 'totals', totals: NO_TOTALS })) file.write(bytes);
    return file.finishPartial() ?? [];
  });
}

/**
 * `12 conditions were complete; those before condition 12 are in a.partial.csv. --from 12 runs the rest. Append
 * the rows of its CSV file to the partial one.`
 * @param conditions those of the files
 * @param wantsFiles whether to say that there is no file if none was kept
 */
function conditionsText(
  done: number,
  conditions: readonly FoundCondition[],
  files: readonly string[],
  wantsFiles: boolean,
): string {
  const complete = `${counted(done, 'condition')} ${done === 1 ? 'was' : 'were'} complete`;
  if (files.length === 0) return `${complete}${wantsFiles ? '; no file was written' : ''}.`;
  const next = conditions.at(-1)!.index + 1;
  const isCsv = (file: string) => file.endsWith('.csv');
  return (
    `${complete}; those before condition ${next} are in ${files.join(' and ')}. --from ${next} runs the rest.` +
    (files.some(isCsv) ? ' Append the rows of its CSV file to the partial one.' : '') +
    (files.every(isCsv)
      ? ''
      : ' Arrow and Parquet files cannot be appended: read both and join their tables.')
  );
}
