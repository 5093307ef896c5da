/**
 * Prices of work in brain seconds, the unit of all budgets.
 *
 * A brain second pays for one simulated second and for 20 ms of a core. That is enough for an ordinary experiment, so its price
 * is the time that it simulates. Measured for one second on the default and the measured wiring: the examples take 1 to 6 ms,
 * the stimuli of version 1 take 1 to 40 ms.
 */
import { firstNotBelow } from '../../engine/connectome/sorted-array.js';
import { MS_PER_SECOND, STEPS_PER_MS, type Input } from '../../engine/stimulus/protocol.js';
import {
  backgroundWork,
  steadyWork,
  totalsOf,
  type TrainWork,
  trainsOf,
  varyingWork,
  windowOfEpoch,
} from '../kinds/train-work.js';
import { isEventResult, rowsHere } from '../kinds/reports/event-table.js';
import {
  recordingsOf,
  type ConditionInput,
  type ConditionTask,
  type TrialResult,
  type TrialTask,
} from './trial.js';
import { finite } from '../../engine/finite.js';
import { mapped } from '../../engine/mapped.js';

export const CORE_MS_PER_BRAIN_SECOND = 20;

/** The amount of each kind of work that a brain second buys. A test compares docs/operations.md with this table. */
export const BOUGHT_BY_BRAIN_SECOND = {
  /** Trials: sending each to a worker, and reading it. */
  trials: 100,
  /** Drawn trains of events: for each trial, input and neuron one, and one more for each second of the window. */
  trains: 16_000,
  inputEvents: 130_000,
  /** Events that are drawn and then dropped: 25 to 60 ns each. */
  hiddenEvents: 320_000,
  synapticEvents: 6_500_000,
  /** Conditions with overridden connections: 10 ms each, and 1 us for each connection. Several workers prepare the same ones. */
  editedConditions: 2,
  editedPairs: 20_000,
  /** Connections of rewired conditions: 45 ns each. Only one worker prepares a wiring. */
  rewiredConnections: 440_000,
  /** Neurons of groups that matched controls replace, for each control: 1 us each. */
  matchedNeurons: 20_000,
  /** Recorded membrane potentials: 10 ns each. Their rows are charged as `tableRows` too. */
  samples: 2_000_000,
  /** Groups in the answer, for each condition and report. */
  groups: 3_300,
  /** Numbers of these groups: one for each trial, bin and control. */
  groupNumbers: 80_000,
  /** Rows of tables: spikes, input events, membrane potentials. */
  tableRows: 13_000,
} as const;

const BOUGHT = Object.entries(BOUGHT_BY_BRAIN_SECOND) as [keyof typeof BOUGHT_BY_BRAIN_SECOND, number][];

/** No work of any kind. */
export const NO_WORK = mapped({ brainMs: 0, ...BOUGHT_BY_BRAIN_SECOND }, () => 0);

/** Amounts of work. An absent amount is 0. */
export type Work = Partial<typeof NO_WORK>;

/** The price in whole milliseconds of brain time: the simulated time or, if larger, the price of all other work. */
export function priceMs(work: Work): number {
  return finite(
    Math.ceil(Math.max(work.brainMs ?? 0, (coreMs(work) * MS_PER_SECOND) / CORE_MS_PER_BRAIN_SECOND)),
  );
}

/** Time of a core for work, in ms, without `brainMs`. */
export function coreMs(work: Work): number {
  let brainSeconds = 0;
  for (const [kind, bought] of BOUGHT) brainSeconds += (work[kind] ?? 0) / bought;
  return finite(brainSeconds * CORE_MS_PER_BRAIN_SECOND);
}

export function addWork(sum: Work, added: Work, times = 1): void {
  // Plans add up thousands of cells, and Object.entries would allocate a list for each.
  for (const name in added) {
    const key = name as keyof Work;
    sum[key] = (sum[key] ?? 0) + times * added[key]!;
  }
}

/** An input of a trial, or of all trials of a cell. */
type AnyInput = Omit<ConditionInput, 'train'> & Pick<Input | ConditionInput, 'train'>;

/** Expected work of a trial, which is the same for all trials of a cell. @param fromStep the first step to simulate */
export function expectedWork(task: TrialTask | ConditionTask, fromStep = 0): Work {
  if (task.expected !== undefined) return task.expected;
  const { inputs, durationSteps } = task.protocol;
  const brainMs = (durationSteps - fromStep) / STEPS_PER_MS;
  const work = { brainMs, trials: 1, trains: 0, inputEvents: 0, hiddenEvents: 0, ...recordedWork(task) };
  for (const input of inputs) addWork(work, trainWork(input, durationSteps, fromStep));
  return work;
}

/** Samples of a trial, and the rows of tables that they fill. */
export function recordedWork(
  task: Pick<TrialTask, 'reports'>,
): Required<Pick<Work, 'samples' | 'tableRows'>> {
  const samples = recordingsOf(task).reduce((sum, recording) => sum + recording.samples, 0);
  return { samples, tableRows: samples };
}

/** Actual minus expected work of a trial. */
export function foundWork(trialResult: TrialResult, { inputEvents = 0, tableRows = 0 }: Work): Work {
  return {
    inputEvents: trialResult.inputEvents - inputEvents,
    synapticEvents: trialResult.synapticEvents,
    tableRows: tableRowsOf(trialResult) - tableRows,
  };
}

/** Number of rows in the tables of a trial result. */
export function tableRowsOf({ reports }: TrialResult): number {
  return reports.reduce((rows, report) => rows + (isEventResult(report) ? rowsHere(report) : 0), 0);
}

/** Mean work of an input in a trial. @param fromStep the first step to simulate */
export function trainWork(
  { neurons, train, rateTotals: knownTotals }: AnyInput,
  durationSteps: number,
  fromStep: number,
): TrainWork {
  const { length } = neurons;
  switch (train.kind) {
    case 'v1':
      return steadyWork(
        length,
        train.nominalRateHz * train.intensity,
        windowOfEpoch(fromStep, durationSteps),
      );
    case 'spikes': {
      const countOf = (steps: Uint32Array) =>
        firstNotBelow(steps, durationSteps) - firstNotBelow(steps, fromStep);
      return {
        trains: trainsOf(length, durationSteps - fromStep),
        inputEvents: ArrayBuffer.isView(train.steps)
          ? length * countOf(train.steps)
          : train.steps.reduce((sum, steps) => sum + countOf(steps), 0),
      };
    }
  }
  const endStep = Math.min(durationSteps, train.endStep);
  const startStep = Math.min(endStep, Math.max(fromStep, train.startStep));
  const unresumed = windowOfEpoch(startStep, endStep);
  if (train.kind === 'background') return backgroundWork(length, train.rateHz, unresumed);
  // A step of a session continues a train from its cursors, if the window began before. Background has no cursors.
  const window = train.startStep < fromStep ? { ...unresumed, drawnFrom: startStep } : unresumed;
  const { rateHz } = train;
  if (typeof rateHz === 'number') return steadyWork(length, rateHz, window);
  const totals = knownTotals ?? totalsOf(rateHz);
  return varyingWork(totals, window, rateHz.courses ? 1 : length, rateHz.scale);
}

/** Bytes per brain millisecond: a megabyte takes 20 ms of CPU time. */
const BYTES_OF_BRAIN_MS = 1_000;

/** The price of sending an answer again, or the document of a session. */
export function sendingMs(bytes: number): number {
  return Math.ceil(bytes / BYTES_OF_BRAIN_MS);
}
