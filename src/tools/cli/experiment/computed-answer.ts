import { constants } from 'node:os';
import { CodedError } from '../../../engine/errors.js';
import { counted } from '../../../experiments/figures/figure.js';
import type { FoundCondition } from '../../../experiments/figures/figure-kind.js';
import { CONDITIONS_WITH_TABLES, foundCondition } from '../../../experiments/figures/findings.js';
import { answerWriter, type AnswerWriter } from '../../../experiments/formats/answer-writer.js';
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

interface ComputedAnswer extends CollectedAnswer {
  /** The whole answer if the caller asked for it; otherwise empty. */
  readonly events: readonly ExperimentEvent[];
  /** Written, but not renamed yet. */
  readonly files: readonly AtomicFile[];
  readonly trials: number;
  readonly seconds: number;
}

interface OpenFile {
  readonly file: AtomicFile;
  readonly writer: AnswerWriter;
}

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

/** The conditions of an unfinished answer that files have. */
interface KeptPart {
  /** The first condition that the files lack. */
  readonly next: number;
  readonly files: readonly string[];
}

/** A signal (Ctrl-C or SIGTERM) ended the computation. */
export class Interrupted extends Error {
  /** 128 plus the number of the signal, as in shells. */
  readonly exitStatus: number;

  /**
   * @param conditionsDone computed conditions; those of a job may not have been received
   * @param kept files with the first of them, if there are any
   */
  constructor(
    readonly signal: NodeJS.Signals,
    readonly conditionsDone: number,
    readonly kept?: KeptPart,
  ) {
    super(signal);
    this.exitStatus = 128 + constants.signals[signal];
  }
}

/**
 * Computes a whole experiment. The first signal ends the experiment; a second one ends the process at once. Unfinished
 * files are removed if the experiment is refused. After a signal or a failure, complete conditions stay in files with
 * `.partial` in their names.
 * @param keepsEvents true to store the whole answer in memory
 * @throws CodedError if the experiment fails or has no such table, or if a file cannot be written
 * @throws Interrupted after a signal
 */
export async function computedAnswer(
  source: ExperimentSource,
  orders: readonly FileOrder[],
  keepsEvents: boolean,
  progress: ProgressLine,
): Promise<ComputedAnswer> {
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
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (name: NodeJS.Signals) => {
    restore();
    const { conditionsDone = 0 } = reached;
    controller.abort(new Interrupted(name, Math.max(conditionsDone, conditions.length)));
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
      else conditions.push(foundCondition(event.condition, conditions.length < CONDITIONS_WITH_TABLES));
      if (keepsEvents) events.push(event);
      for (const { file, writer } of files) {
        for (const bytes of writer.write(event)) file.write(bytes);
      }
    }
  } catch (error) {
    throw endedEarly(signal.aborted ? signal.reason : error, conditions, files, progress);
  } finally {
    restore();
    progress.end();
  }
  const seconds = (performance.now() - beganAtMs) / 1000;
  return {
    ...{ head: head!, conditions, totals: totals!, events, seconds },
    files: files.map(({ file }) => file),
    trials: reached.trialsDone,
  };
}

async function openFile(
  { path, format, ...choice }: FileOrder,
  source: ExperimentSource,
  { experiment }: ExperimentHead,
): Promise<OpenFile> {
  const writer = await answerWriter(format, { ...choice, connectome: await source.neurons(), experiment });
  return { file: new AtomicFile(path), writer };
}

/**
 * Keeps the complete conditions of an experiment that ended early, if the rest can be computed later.
 * @returns the error to throw
 */
function endedEarly(
  error: unknown,
  conditions: readonly FoundCondition[],
  files: readonly OpenFile[],
  progress: ProgressLine,
): unknown {
  const last = conditions.at(-1);
  // A refusal would come again, and a file that could not be written has no complete end.
  const isRefused = error instanceof CodedError && error.exitCode === REFUSED;
  if (last === undefined || files.length === 0 || isRefused) {
    for (const { file } of files) file.discard();
    return error;
  }
  const kept = keptPart(last.index + 1, files);
  if (error instanceof Interrupted) {
    // The last progress of a job may be older than the conditions that were read after it.
    return new Interrupted(error.signal, Math.max(error.conditionsDone, conditions.length), kept);
  }
  progress.note(`The experiment failed after ${conditionsText(conditions.length, kept, true)}`);
  return error;
}

/** Ends the files and gives them names that say that they are only the beginning. */
function keptPart(next: number, files: readonly OpenFile[]): KeptPart {
  const paths = files.map(({ file, writer }) => {
    for (const bytes of writer.write({ kind: 'totals', totals: NO_TOTALS })) file.write(bytes);
    return file.finishPartial();
  });
  return { next, files: paths.filter((path) => path !== undefined) };
}

/**
 * `12 conditions were complete; those before condition 12 are in a.partial.csv. --from 12 runs the rest. Append
 * the rows of its CSV file to the partial one.`
 * @param wantsFiles whether to say that there is no file if none was kept
 */
export function conditionsText(done: number, kept: KeptPart | undefined, wantsFiles: boolean): string {
  const complete = `${counted(done, 'condition')} ${done === 1 ? 'was' : 'were'} complete`;
  if (kept === undefined || kept.files.length === 0) {
    return `${complete}${wantsFiles ? '; no file was written' : ''}.`;
  }
  const { next, files } = kept;
  const isCsv = (file: string) => file.endsWith('.csv');
  return (
    `${complete}; those before condition ${next} are in ${files.join(' and ')}. --from ${next} runs the rest.` +
    (files.some(isCsv) ? ' Append the rows of its CSV file to the partial one.' : '') +
    (files.every(isCsv)
      ? ''
      : ' Arrow and Parquet files cannot be appended: read both and join their tables.')
  );
}
