import { constants } from 'node:os';
import { SIDES } from '../../../engine/connectome/connectome.js';
import type { Findings, FoundCondition } from '../../../experiments/figures/figure-kind.js';
import { answerWriter, type AnswerWriter } from '../../../experiments/formats/answer-writer.js';
import type { TableFormat } from '../../../experiments/formats/formats.js';
import type { LabelledNeurons, TableRequest } from '../../../experiments/formats/tables.js';
import type {
  AnsweredCondition,
  ExperimentEvent,
  ExperimentHead,
  ExperimentTotals,
} from '../../../experiments/document/result.js';
import type { EventTable, GroupResult } from '../../../experiments/kinds/result-rows.js';
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

/** Tables of events may fill the memory, so only those of the first conditions are stored for the plot. */
const CONDITIONS_WITH_TABLES = 4;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Ends a table. No table has numbers of the totals. */
const NO_TOTALS: ExperimentTotals = {
  unchanged: [],
  cost: { brain_seconds: 0, input_events: 0, synaptic_events: 0 },
  warnings: [],
  cite: [],
};

/** A signal (Ctrl-C or SIGTERM) ended the computation. */
export class Interrupted extends Error {
  /** 128 plus the number of the signal, as in shells. */
  readonly exitStatus: number;

  /**
   * @param conditionsDone computed conditions; those of a job may not have been received
   * @param next the first condition that no partial file has
   * @param partialFiles files with the conditions before it
   */
  constructor(
    readonly signal: NodeJS.Signals,
    readonly conditionsDone: number,
    readonly next = 0,
    readonly partialFiles: readonly string[] = [],
  ) {
    super(signal);
    this.exitStatus = 128 + constants.signals[signal];
  }
}

/**
 * Computes a whole experiment. The first signal ends the experiment; a second one ends the process at once. Unfinished
 * files are removed on every failure. After a signal, complete conditions stay in files with `.partial` in their names.
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
    const last = conditions.at(-1);
    if (signal.reason instanceof Interrupted && last !== undefined) {
      throw withPartialFiles(signal.reason, last.index + 1, files);
    }
    for (const { file } of files) file.discard();
    throw signal.aborted ? signal.reason : error;
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

function withPartialFiles({ signal, conditionsDone }: Interrupted, next: number, files: readonly OpenFile[]) {
  const paths = files.map(({ file, writer }) => {
    for (const bytes of writer.write({ kind: 'totals', totals: NO_TOTALS })) file.write(bytes);
    return file.finishPartial();
  });
  const partial = paths.filter((path) => path !== undefined);
  return new Interrupted(signal, conditionsDone, next, partial);
}

function foundCondition({ reports, ...condition }: AnsweredCondition, keepsTables: boolean): FoundCondition {
  const groups: Record<string, readonly GroupResult[]> = {};
  const tables: Record<string, EventTable> = {};
  for (const [name, report] of Object.entries(reports)) {
    if (!('table' in report)) groups[name] = [...report];
    else if (keepsTables) tables[name] = report;
  }
  return { ...condition, groups, tables };
}

/** The part of an answer that figures need. */
export function findingsOf(
  { head, conditions, totals }: CollectedAnswer,
  neurons: LabelledNeurons,
): Findings {
  const { metadata, typeIndices, sides } = neurons;
  let indices: Map<string, number> | undefined;
  const typeName = (neuron: number) => metadata.types[typeIndices[neuron]!]!.name;
  return {
    head,
    conditions,
    unchanged: totals.unchanged.length,
    labelOf: (neuron) => `${typeName(neuron) || 'untyped'} ${SIDES[sides[neuron]!]!}`.trim(),
    typeOf(rootId) {
      indices ??= new Map(Array.from(typeIndices, (_, neuron) => [neurons.neuronId(neuron), neuron]));
      const neuron = indices.get(rootId);
      return neuron === undefined ? undefined : typeName(neuron);
    },
  };
}
