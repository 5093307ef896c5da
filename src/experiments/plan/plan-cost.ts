/** Costs of the conditions of a plan, as far as it is known before a trial has run. */
import type { Connectome } from '../../connectome/connectome.js';
import { placeOf } from '../../connectome/sorted-array.js';
import { CodedError } from '../../errors.js';
import { getOrInsert } from '../../get-or-insert.js';
import { inputKindOf, type ExpectedWork, type InputSettings } from '../kinds/input-kinds.js';
import type { EventKind, PlannedReport, ReportKind, ReportTask, ReportWindow } from '../kinds/report-kind.js';
import { groupKindOf, kindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import { rounded } from '../kinds/rounded.js';
import type { TrainWork } from '../kinds/train-work.js';
import { REFRACTORY_STEPS } from '../../simulation/network.js';
import { pointerTo } from '../../schema/json-path.js';
import { stepsOf } from '../document/fields.js';
import { allNeurons, groupsOf } from './groups.js';
import type { PlannedInput } from './condition-settings.js';
import type { ExperimentLimits } from './experiment-limits.js';
import type { ExperimentPlan } from './plan.js';
import { addWork, recordedWork, type Work } from './prices.js';
import type { ResponderAxis } from './sweep.js';

const MS_PER_SECOND = 1000;
/** A group takes so much beside its numbers, as so many of them: labels, counts, means, standard deviations. */
const NUMBERS_OF_ROW = 10;

export type PlannedParts = Pick<
  ExperimentPlan,
  | 'grid'
  | 'trials'
  | 'inputs'
  | 'reports'
  | 'settingsAt'
  | 'constantsAt'
  | 'pairsAt'
  | 'preparationAt'
  | 'isIdleAt'
>;

export class PlanCost {
  /** Numbers of the groups of the whole answer, as they are counted for its limit. */
  readonly groupNumbers: number;
  /** Conditions that are run, with their controls, at most. */
  readonly #conditions: number;
  /** Duration of one trial of each condition of the grid; 0 of one that is not run. */
  readonly #durationsMs: Float64Array;
  /** Expected in one trial of each condition of the grid, or the most that a group of responders can have. */
  readonly #inputEvents: Float64Array;
  /** Drawn in one trial of each condition of the grid, likewise; see prices.ts. */
  readonly #trains: Float64Array;
  /** The same of synaptic events, as far as the inputs say. */
  readonly #synapticEvents: Float64Array;

  constructor(
    connectome: Connectome,
    private readonly parts: PlannedParts,
  ) {
    const { grid, reports } = parts;
    let [conditions, answered] = [0, 0];
    this.#durationsMs = new Float64Array(grid.size);
    this.#inputEvents = new Float64Array(grid.size);
    this.#trains = new Float64Array(grid.size);
    this.#synapticEvents = new Float64Array(grid.size);
    const expected = new ExpectedInputs(connectome, parts);
    const numbersOf = new Map<number, number>();
    let numbers = 0;
    for (let index = 0; index < grid.size; index++) {
      if (parts.isIdleAt(index)) continue;
      conditions++;
      const isControl = grid.controlOf(index) > 0;
      const { durationMs, inputs: settings, places } = parts.settingsAt(index);
      this.#durationsMs[index] = durationMs;
      settings.forEach((own, at) => {
        const {
          trains,
          inputEvents,
          synapticEvents = 0,
        } = expected.work(at, expected.neurons(at, places), own);
        this.#inputEvents[index]! += inputEvents;
        this.#trains[index]! += trains;
        this.#synapticEvents[index]! += synapticEvents;
      });
      if (isControl) continue;
      numbers += getOrInsert(numbersOf, durationMs, (ms) => this.#numbersOf(ms, reports));
      answered++;
    }
    this.#conditions = conditions;
    this.groupNumbers = numbers + answered * groupsIn(reports) * NUMBERS_OF_ROW;
  }

  /**
   * Simulated time of all that an answer from a condition on has to run, at most: whole milliseconds.
   * @param fromTrial of this condition, the first that is run
   * @param reports of the answer
   */
  brainMs(from = 0, fromTrial = 0, reports = this.parts.reports): number {
    const { grid, trials } = this.parts;
    const needed = grid.neededFrom(from, haveControls(reports));
    const durationMs = this.#durationsMs.reduce((sum, ms, index) => sum + needed[index]! * ms, 0);
    const first = grid.indexOf(from);
    return durationMs * trials - grid.firstTrial(first, fromTrial) * this.#durationsMs[first]!;
  }

  brainSeconds(from = 0): number {
    return this.brainMs(from) / MS_PER_SECOND;
  }

  /** Simulated time of all trials of a condition, or control, in ms. */
  brainMsOf(index: number): number {
    return this.#durationsMs[index]! * this.parts.trials;
  }

  /** Expected input events of an answer from a condition on. */
  inputEvents(from: number): number {
    const needed = this.parts.grid.neededFrom(from);
    return (
      this.parts.trials * this.#inputEvents.reduce((sum, events, index) => sum + needed[index]! * events, 0)
    );
  }

  /**
   * Work of an answer from a condition on as far as it is known before, at most; spikes are not, and of synaptic events
   * only those that an input is known to cause.
   * @param reports that it writes
   */
  work(from = 0, fromTrial = 0, reports = this.parts.reports): Work {
    const { grid, trials } = this.parts;
    const work: Work = {
      brainMs: this.brainMs(from, fromTrial, reports),
      trials: 0,
      trains: 0,
      inputEvents: 0,
      synapticEvents: 0,
    };
    const samples = this.samplesOf(reports);
    const written = { groups: 0, groupNumbers: 0, samples: 0, tableRows: 0 };
    const first = grid.indexOf(from);
    grid.neededFrom(from, haveControls(reports)).forEach((isNeeded, index) => {
      if (isNeeded === 0 || this.#durationsMs[index] === 0) return;
      const own = trials - (index === first ? grid.firstTrial(index, fromTrial) : 0);
      addWork(work, {
        trials: own,
        trains: own * this.#trains[index]!,
        inputEvents: own * this.#inputEvents[index]!,
        synapticEvents: own * this.#synapticEvents[index]!,
        ...this.parts.preparationAt(index),
      });
      if (grid.controlOf(index) > 0) return;
      const recorded = own * samples(index);
      addWork(written, { samples: recorded, tableRows: recorded });
      if (index >= first) addWork(written, this.writtenOf(grid.conditionOf(index), reports));
    });
    return { ...work, ...written };
  }

  /** Work of writing a condition, but for the rows of tables. */
  writtenOf(
    condition: number,
    reports = this.parts.reports,
  ): Required<Pick<Work, 'groups' | 'groupNumbers'>> {
    const durationMs = this.#durationsMs[this.parts.grid.indexOf(condition)]!;
    return { groups: groupsIn(reports), groupNumbers: this.#numbersOf(durationMs, reports) };
  }

  /** @throws CodedError TOO_EXPENSIVE */
  check(limits: ExperimentLimits): void {
    const { trials, grid } = this.parts;
    const brainSeconds = this.brainSeconds();
    if (brainSeconds > limits.brainSeconds) {
      const fitting = Math.floor((limits.brainSeconds * trials) / brainSeconds);
      throw tooExpensive(
        `The experiment has ${quantity(brainSeconds, 'brain second')} (${quantity(this.#conditions, 'condition')} x ${quantity(trials, 'trial')}); ` +
          `at most ${limits.brainSeconds} are allowed.`,
        fitting >= 1
          ? `With ${quantity(fitting, 'trial')} it would fit.`
          : 'Fewer conditions or a shorter trial would fit.',
        fitting >= 1 ? '/trials' : grid.size > 1 ? '/sweep' : '/duration_ms',
      );
    }
    this.#checkInputEvents(limits);
    if (this.groupNumbers > limits.groupNumbers) {
      throw tooExpensive(
        `The reports of the answer have ${this.groupNumbers} numbers of groups (for each condition and group one for each ` +
          `trial and bin, and ${NUMBERS_OF_ROW} for the rest of its row); at most ${limits.groupNumbers} are allowed.`,
        `With ${share(limits.groupNumbers, this.groupNumbers)} of the conditions, groups or trials they would fit.`,
        '/reports',
      );
    }
    this.#checkOverrides(limits);
    this.#checkRecordings(limits);
  }

  /** @throws CodedError TOO_EXPENSIVE for the condition that exceeds its limit most */
  #checkInputEvents({ inputEventsPerTrial, inputEventsPerBrainSecond = 0 }: ExperimentLimits): void {
    const allowed = this.#durationsMs.map((ms) =>
      Math.max(inputEventsPerTrial, (inputEventsPerBrainSecond * ms) / MS_PER_SECOND),
    );
    const shares = this.#inputEvents.map((events, at) => events / allowed[at]!);
    const most = shares.reduce((a, b) => Math.max(a, b), 0);
    if (most <= 1) return;
    const index = shares.indexOf(most);
    const [events, maximum] = [this.#inputEvents[index]!, allowed[index]!];
    throw tooExpensive(
      `A trial of condition ${index} has ${Math.round(events)} input events on average; at most ${maximum} are allowed.`,
      `With ${share(maximum, events)} of the neurons, of the rates or of the duration it would fit.`,
      '/inputs',
    );
  }

  /** @throws CodedError TOO_EXPENSIVE */
  #checkOverrides({ overriddenPairs = Infinity }: ExperimentLimits): void {
    for (let index = 0; index < this.parts.grid.size; index++) {
      const pairs = this.parts.pairsAt(index);
      if (pairs <= overriddenPairs) continue;
      throw tooExpensive(
        `The overrides of condition ${index} name ${pairs} connections; at most ${overriddenPairs} are allowed.`,
        'With smaller sets of neurons they would fit; constants change the weights of all connections.',
        '/connection_overrides',
      );
    }
  }

  /** @throws CodedError TOO_EXPENSIVE */
  #checkRecordings(limits: ExperimentLimits): void {
    const { trials, reports } = this.parts;
    for (const { name, document, neurons } of reports) {
      const { mostNeurons = Infinity } = kindOf(document);
      if (neurons.length <= mostNeurons) continue;
      throw tooExpensive(
        `The report ${name} reads the membrane potential of ${neurons.length} neurons; at most ${mostNeurons} are allowed.`,
        'With a smaller node set, or with several reports, they would fit.',
        pointerTo(['reports', name, 'node_set']),
      );
    }
    const inAll = (of: readonly PlannedReport[]): number => {
      const samples = this.samplesOf(of);
      return trials * this.#durationsMs.reduce((sum, _, index) => sum + samples(index), 0);
    };
    const samples = inAll(reports);
    if (samples <= limits.samples) return;
    const [largest] = [...reports].sort((a, b) => inAll([b]) - inAll([a]));
    throw tooExpensive(
      `The answer has ${samples} membrane potentials (one for each neuron and sample in each trial of each condition); at ` +
        `most ${limits.samples} are allowed.`,
      `With ${share(limits.samples, samples)} of the samples, as a longer dt_ms or a shorter window gives, or of the ` +
        'neurons, trials or conditions, they would fit.',
      pointerTo(['reports', largest!.name]),
    );
  }

  /** @returns membrane potentials that are recorded in one trial of a condition; none in its controls */
  samplesOf(reports: readonly PlannedReport[]): (index: number) => number {
    const known = new Map<number, number>();
    return (index) => {
      const durationMs = this.#durationsMs[index]!;
      if (durationMs === 0 || this.parts.grid.controlOf(index) > 0) return 0;
      const tasks = () => reports.map((report) => reportTask(report, durationMs, Infinity));
      return getOrInsert(known, durationMs, () => recordedWork({ reports: tasks() }).samples);
    };
  }

  /** Numbers of a condition of this duration: one for each group, trial and bin, and one for each group and control. */
  #numbersOf(durationMs: number, reports: readonly PlannedReport[]): number {
    const { trials, grid } = this.parts;
    return reports.reduce((sum, { document, groups }) => {
      const window = windowOf(document, durationMs);
      const kind = groupKindOf(document);
      const numbers = kind?.numbersOfGroup(document, window, trials) ?? 0;
      return sum + groups.count * (numbers + (kind?.controlled ? grid.controls : 0));
    }, 0);
  }
}

/** @param maximumRows of a table */
export function reportTask(report: PlannedReport, durationMs: number, maximumRows: number): ReportTask {
  const { document, neurons } = report;
  return {
    type: document.type,
    neurons,
    ...windowOf(document, durationMs),
    ...kindOf(document).taskOf?.(report, maximumRows),
  };
}

/** Window that a report reads of a trial of this length. */
export function windowOf(
  { start_ms: startMs, end_ms: endMs }: PlannedReport['document'],
  durationMs: number,
): ReportWindow {
  return { startStep: stepsOf(startMs), endStep: stepsOf(endMs ?? durationMs) };
}

/** Neurons and events of each input in each condition; of all neurons, or of those that a report reads. */
class ExpectedInputs {
  readonly #inputs: readonly {
    readonly groupAxis: number;
    readonly neurons: number;
    /** Numbers of each group that takes their place. */
    readonly ofGroups: readonly number[];
    /** The most that a group of responders can have, as long as the axis has no groups. */
    readonly most: number;
    readonly work: ExpectedWork;
  }[];

  /** @param report whose neurons alone are looked at */
  constructor(
    connectome: Connectome,
    { grid, inputs }: PlannedParts,
    report?: Pick<PlannedReport, 'neurons'>,
  ) {
    const isRead = report && markedNeurons(connectome, [report.neurons]);
    const count = (neurons: Uint32Array) =>
      isRead === undefined ? neurons.length : neurons.reduce((sum, neuron) => sum + isRead[neuron]!, 0);
    this.#inputs = inputs.map((planned) => {
      const { input, neurons, groupAxis } = planned;
      const axis = grid.axes[groupAxis];
      const groups = axis?.kind === 'groups' ? axis.groups : undefined;
      const counts = (neuron: number) => isRead?.[neuron] !== 0 && placeOf(neurons, neuron) >= 0;
      const most = axis?.kind === 'responders' ? largestGroup(connectome, axis) : 0;
      return {
        groupAxis,
        neurons: count(neurons),
        ofGroups: Array.from({ length: groups?.count ?? 0 }, (_, at) => count(groups!.neuronsOf(at))),
        most: Math.min(report?.neurons.length ?? Infinity, most),
        work: inputKindOf(input).expected(connectome, input, counts, planned),
      };
    });
  }

  /** @param at place of the input  @param places of the condition on the axes */
  neurons(at: number, places: readonly number[]): number {
    const { groupAxis, neurons, ofGroups, most } = this.#inputs[at]!;
    if (groupAxis < 0) return neurons;
    const place = places[groupAxis]!;
    return place === 0 ? 0 : (ofGroups[place - 1] ?? most);
  }

  work(at: number, neurons: number, settings: InputSettings): TrainWork {
    return this.#inputs[at]!.work.of(neurons, settings);
  }
}

function largestGroup(connectome: Connectome, { groupBy }: ResponderAxis): number {
  const { sizes } = groupsOf(connectome, allNeurons(connectome), groupBy);
  return sizes.reduce((a, b) => Math.max(a, b), 0);
}

/** Rows that the tables of an answer may have from a condition on, as far as that is known before, by members of its cost. */
export function expectedRows(
  connectome: Connectome,
  parts: PlannedParts,
  from: number,
): Readonly<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const kind of Object.values<ReportKind>(REPORT_KINDS)) {
    const reports = parts.reports.filter(({ document }) => kindOf(document) === kind);
    if (kind.shape !== 'events' || reports.length === 0) continue;
    const all = reports.map((report) => rowsOfReport(connectome, parts, report, kind, from));
    rows[kind.cost.member] = Math.round(all.reduce((sum, own) => sum + own, 0));
  }
  return rows;
}

function rowsOfReport(
  connectome: Connectome,
  parts: PlannedParts,
  report: PlannedReport,
  kind: EventKind,
  from: number,
): number {
  const { grid, trials, inputs, settingsAt, constantsAt, isIdleAt } = parts;
  const { document, neurons } = report;
  const expected = new ExpectedInputs(connectome, parts, report);
  const always = inputs.filter(({ input, groupAxis }) => groupAxis < 0 && isStimulus(input));
  const isStimulated = markedNeurons(
    connectome,
    always.map((input) => input.neurons),
  );
  const alwaysStimulated = neurons.reduce((count, neuron) => count + isStimulated[neuron]!, 0);
  let rows = 0;
  for (let condition = from; condition < grid.conditions; condition++) {
    const index = grid.indexOf(condition);
    if (isIdleAt(index)) continue;
    const { places, durationMs, inputs: settings } = settingsAt(index);
    const { refractorySteps = REFRACTORY_STEPS } = constantsAt(index);
    const window = windowOf(document, durationMs);
    let [stimulated, inputEvents] = [alwaysStimulated, 0];
    settings.forEach((own, at) => {
      const count = expected.neurons(at, places);
      if (inputs[at]!.groupAxis >= 0 && isStimulus(own.input)) stimulated += count;
      const startStep = Math.max(own.startStep, window.startStep);
      const endStep = Math.max(startStep, Math.min(own.endStep, window.endStep));
      inputEvents += expected.work(at, count, { ...own, startStep, endStep }).inputEvents;
    });
    stimulated = Math.min(neurons.length, stimulated);
    rows += kind.expectedRows({
      document,
      window,
      neurons: neurons.length,
      stimulated,
      inputEvents,
      refractorySteps,
    });
  }
  return trials * rows;
}

/** Tells whether any of these reports is compared with controls, where there are some. */
export function haveControls(reports: readonly Pick<PlannedReport, 'document'>[]): boolean {
  return reports.some(({ document }) => groupKindOf(document)?.controlled !== undefined);
}

/** Tells whether an input takes the refractory period of its neurons away. */
export function isStimulus(input: PlannedInput['input']): boolean {
  return inputKindOf(input).keepsRefractoryPeriod !== true;
}

/** @returns 1 for each neuron that is in one of the sets */
export function markedNeurons(
  { neuronCount }: Pick<Connectome, 'neuronCount'>,
  sets: readonly Uint32Array[],
): Uint8Array {
  const marks = new Uint8Array(neuronCount);
  for (const set of sets) for (const neuron of set) marks[neuron] = 1;
  return marks;
}

/** Groups of all reports, for each condition. */
function groupsIn(reports: readonly PlannedReport[]): number {
  return reports.reduce(
    (sum, { document, groups }) => sum + (groupKindOf(document) === undefined ? 0 : groups.count),
    0,
  );
}

function tooExpensive(cost: string, whatFits: string, path: string): CodedError {
  return new CodedError('TOO_EXPENSIVE', `${cost} ${whatFits}`, { path });
}

/** In percent, what is allowed of a whole that is more. */
function share(allowed: number, whole: number): string {
  const percent = Math.floor((100 * allowed) / whole);
  return percent > 0 ? `${percent} %` : 'less than 1 %';
}

function quantity(count: number, noun: string): string {
  return `${rounded(count)} ${noun}${count === 1 ? '' : 's'}`;
}
