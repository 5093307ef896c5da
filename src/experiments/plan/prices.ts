/**
 * Prices of work in brain seconds: the unit of all budgets. A brain second buys some 20 ms of a core, more than an
 * ordinary one takes (measured on the default and on the measured wiring: the examples 1 to 6 ms, the stimuli of
 * version 1 for a second each 1 to 40), so ordinary experiments cost the time that they simulate, and nothing beside it.
 */
import { STEPS_PER_MS, type Input } from '../../stimulus/protocol.js';
import { backgroundWork, steadyWork, type TrainWork, trainsOf, varyingWork } from '../kinds/train-work.js';
import { isEventReading, rowsHere } from '../kinds/reports/event-table.js';
import {
  recordingsOf,
  type ConditionInput,
  type ConditionTask,
  type TrialReading,
  type TrialTask,
} from './trial.js';

const MS_PER_SECOND = 1000;
export const CORE_MS_PER_BRAIN_SECOND = 20;

/** Work that is priced, and how much of it a brain second buys. A test compares docs/operations.md with it. */
export const BOUGHT_BY_BRAIN_SECOND = {
  /** Trials, however short: handing them over and reading them. */
  trials: 100,
  /**
   * Trains of events that are drawn: for each trial, input and neuron one, and one more for each second of its window.
   */
  trains: 16_000,
  inputEvents: 130_000,
  synapticEvents: 6_500_000,
  /**
   * Conditions whose connections are overridden: 10 ms each, and 1 us for each connection, as several workers prepare
   * them.
   */
  editedConditions: 2,
  editedPairs: 20_000,
  /** Connections of conditions that are rewired: 45 ns each, as one worker prepares a wiring. */
  rewiredConnections: 440_000,
  /** Membrane potentials that are recorded: 10 ns each. Their rows count as others do. */
  samples: 2_000_000,
  /** Groups that are written, for each condition and report. */
  groups: 3_300,
  /** Their numbers: for each group one for each trial, bin and control. */
  groupNumbers: 80_000,
  /** Spikes, input events and membrane potentials that are written as rows of tables. */
  tableRows: 13_000,
} as const;

const BOUGHT = Object.entries(BOUGHT_BY_BRAIN_SECOND) as [keyof typeof BOUGHT_BY_BRAIN_SECOND, number][];

/** Amounts of work; what is not named is none. */
export type Work = Partial<Record<keyof typeof BOUGHT_BY_BRAIN_SECOND | 'brainMs', number>>;

/**
 * Price in whole ms of brain time: the brain time itself, or what the rest costs where that is more, so that simulated
 * time pays for the events that it ordinarily has.
 */
export function priceMs(work: Work): number {
  return Math.ceil(Math.max(work.brainMs ?? 0, (coreMs(work) * MS_PER_SECOND) / CORE_MS_PER_BRAIN_SECOND));
}

/** Time of a core that work takes, but for what it simulates. */
export function coreMs(work: Work): number {
  let brainSeconds = 0;
  for (const [name, bought] of BOUGHT) brainSeconds += (work[name] ?? 0) / bought;
  return brainSeconds * CORE_MS_PER_BRAIN_SECOND;
}

export function addWork(sum: Work, added: Work, times = 1): void {
  // Plans add up thousands of conditions: entries of an object would be made for each.
  for (const name in added) {
    const key = name as keyof Work;
    sum[key] = (sum[key] ?? 0) + times * added[key]!;
  }
}

/**
 * Work of a worker before the first trial of a condition.
 * @param pairs connections that are edited  @param connections those of a network that is rewired
 */
export function preparationOf(pairs: number, connections: number): Work {
  return {
    ...(pairs > 0 && { editedConditions: 1, editedPairs: pairs }),
    ...(connections > 0 && { rewiredConnections: connections }),
  };
}

/** Input of a trial, or of all trials of a condition. */
type AnyInput = Input | ConditionInput;

/** Work of a trial as far as it is known before it is computed: the same for all trials of a condition. */
export function expectedWork(task: TrialTask | ConditionTask): Work {
  const { inputs, durationSteps } = task.protocol;
  let trains = 0;
  let inputEvents = 0;
  for (const input of inputs) {
    const own = trainWork(input, durationSteps);
    trains += own.trains;
    inputEvents += own.inputEvents;
  }
  return { brainMs: durationSteps / STEPS_PER_MS, trials: 1, trains, inputEvents, ...recordedWork(task) };
}

/** Samples of a trial, and the rows that they become. */
export function recordedWork(
  task: Pick<TrialTask, 'reports'>,
): Required<Pick<Work, 'samples' | 'tableRows'>> {
  const samples = recordingsOf(task).reduce((sum, recording) => sum + recording.samples, 0);
  return { samples, tableRows: samples };
}

/** Work of a trial that was not expected, known afterwards. */
export function foundWork(reading: TrialReading, { inputEvents = 0, tableRows = 0 }: Work): Work {
  return {
    inputEvents: reading.inputEvents - inputEvents,
    synapticEvents: reading.synapticEvents,
    tableRows: tableRowsOf(reading) - tableRows,
  };
}

/** Rows of tables that a worker has returned. */
export function tableRowsOf({ reports }: TrialReading): number {
  return reports.reduce((rows, report) => rows + (isEventReading(report) ? rowsHere(report) : 0), 0);
}

/** Events of one input in one trial, on average. */
export function expectedEvents(input: AnyInput, durationSteps: number): number {
  return trainWork(input, durationSteps).inputEvents;
}

function trainWork({ neurons, train }: AnyInput, durationSteps: number): TrainWork {
  const { length } = neurons;
  switch (train.kind) {
    case 'v1':
      return steadyWork(length, train.nominalRateHz * train.intensity, durationSteps);
    case 'spikes':
      return {
        trains: trainsOf(length, durationSteps),
        inputEvents: ArrayBuffer.isView(train.steps)
          ? length * train.steps.length
          : train.steps.reduce((sum, steps) => sum + steps.length, 0),
      };
  }
  const endStep = Math.min(durationSteps, train.endStep);
  const startStep = Math.min(endStep, train.startStep);
  if (train.kind === 'background') return backgroundWork(length, train.rateHz, endStep - startStep);
  const { rateHz } = train;
  if (typeof rateHz === 'number') return steadyWork(length, rateHz, endStep - startStep);
  const counts = new Uint32Array(rateHz.starts.length - 1);
  neurons.forEach((_, place) => counts[rateHz.courses?.[place] ?? 0]!++);
  return varyingWork(rateHz, counts)(startStep, endStep);
}
