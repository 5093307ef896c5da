/**
 * A document on a connectome, ready to be run: which conditions there are, what each of their trials is, what they
 * cost. Nothing is simulated here, and whatever is refused is refused here.
 */
import { hash } from 'node:crypto';
import type { Connectome } from '../../connectome/connectome.js';
import { modelId } from '../../connectome/model-id.js';
import { unionOf } from '../../connectome/neuron-sets.js';
import type { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import { selectionOf } from '../../connectome/selection.js';
import { CodedError } from '../../errors.js';
import { type InParts, withoutPauses } from '../../parts.js';
import { STEPS_PER_MS, type GivenTrain, type Input, type PoissonTrain } from '../../experiment/protocol.js';
import { firstNotBelow, placeOf } from '../../connectome/ascending.js';
import { allNeurons } from './baselines.js';
import { citationsOf } from './citations.js';
import { rounded, type SummarisedReport } from './condition-result.js';
import type { ExperimentDocument, InputDocument, ReportDocument, SpikesInput } from './document.js';
import { groupsOf } from './groups.js';
import { tooManyConditions } from './parse-sweep.js';
import { invalid, memberOf, refused, WHOLE } from './place.js';
import { isResponders, resolveDocument, type ResolvedDocument } from './resolve-document.js';
import type {
  ConditionParameters,
  DryRun,
  ExperimentHead,
  ExperimentWarning,
  ParameterValue,
} from './result.js';
import { Grid, groupOf, lengthOf, type Axis, type AxisValue } from './sweep.js';
import { binCount, sharedArray, sharedStepLists, type ReportTask, type TrialTask } from './trial.js';
import { warningsBefore } from './warnings.js';

/** Part of every id; changes whenever any result may change. */
export const ANSWER_VERSION = '1';
const ID_HEX_DIGITS = 32;
const MS_PER_SECOND = 1000;
/** What a group takes beside its rates, as so many rates: labels, counts, means, standard deviations. */
const RATES_OF_GROUP = 10;
/** Adding up their cost takes a few milliseconds. */
const CONDITIONS_IN_PART = 1000;
const NOBODY = new Uint32Array(0);
const NO_STEPS: readonly number[] = [];

/** What one experiment may be; Infinity where there is no limit. The event budget ends trials, the others refuse. */
export interface ExperimentLimits {
  readonly conditions: number;
  /** Neurons of all selectors together: bounds what it costs to plan, which nobody is charged for. */
  readonly selectedNeurons: number;
  /** Conditions x trials x duration. */
  readonly brainSeconds: number;
  /** Expected input events of a trial. */
  readonly inputEventsPerTrial: number;
  /** The event budget of every trial. */
  readonly synapticEventsPerTrial: number;
  /** Rows of the tables `spikes` and `inputs` in an answer. */
  readonly tableRows: number;
  /** Rates in an answer: of each condition and group one for each trial and bin, and RATES_OF_GROUP. */
  readonly rates: number;
}

/** A condition as it is run. Its arrays lie in shared memory and are the same in all its trials. */
export interface Condition extends ConditionParameters {
  readonly durationMs: number;
  readonly reports: readonly ReportTask[];
  task(trial: number, countsAll: boolean): TrialTask;
}

interface PlannedReport extends SummarisedReport {
  readonly document: ReportDocument;
  readonly neurons: Uint32Array;
  /** In shared memory. */
  readonly groupOfPlaces: Uint32Array;
}

/**
 * @param document complete, as parseDocument gives it
 * @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET, INVALID_PARAMETER, TOO_EXPENSIVE, each with the path
 */
export function planExperiment(...all: Parameters<typeof planInParts>): ExperimentPlan {
  return withoutPauses(planInParts(...all));
}

/** As planExperiment, in parts. */
export function* planInParts(
  connectome: Connectome,
  document: ExperimentDocument,
  resolver: Pick<NodeSetResolver, 'resolving'>,
  limits: ExperimentLimits,
): InParts<ExperimentPlan> {
  const resolved = yield* resolveDocument(connectome, document, resolver, limits);
  yield;
  const grid = new Grid(axesOf(connectome, document, resolved));
  checkConditions(grid, limits);
  const reports = yield* plannedReports(connectome, document, resolved);
  yield;
  return yield* ExperimentPlan.of(connectome, document, { resolved, grid, reports }, limits);
}

/** What planning a document has found. */
interface PlannedParts {
  readonly resolved: ResolvedDocument;
  readonly grid: Grid;
  /** In the order of the document. */
  readonly reports: readonly PlannedReport[];
}

export class ExperimentPlan {
  readonly head: ExperimentHead;
  readonly grid: Grid;
  readonly trials: number;
  /** In the order of the document. */
  readonly inputNames: readonly string[];
  readonly reports: readonly PlannedReport[];
  /** What is known before a trial has run. */
  readonly warnings: readonly ExperimentWarning[];
  readonly cite: readonly string[];
  /** Of one trial of each condition of the grid. */
  readonly #durationsMs: Float64Array;
  /** Expected in one trial of each condition of the grid, or the most that a group of responders can have. */
  readonly #inputEvents: Float64Array;
  readonly #inputs: readonly NamedInput[];
  readonly #silenced: Uint32Array;
  readonly #tableRows: number;

  private constructor(
    readonly connectome: Connectome,
    private readonly document: ExperimentDocument,
    { resolved, grid, reports }: PlannedParts,
    private readonly limits: ExperimentLimits,
  ) {
    this.head = {
      id: experimentId(connectome.digest, document),
      model: modelId(connectome),
      wiring: connectome.metadata.wiring,
      side_convention: sideConvention(connectome),
      experiment: document,
      resolved: resolved.sets,
    };
    this.trials = document.trials;
    this.inputNames = Object.keys(document.inputs);
    this.#silenced = resolved.neurons.get('silence') ?? NOBODY;
    this.grid = grid;
    this.#inputs = Object.entries(document.inputs).map(([name, input]) => ({
      name,
      input,
      neurons: sharedArray(resolved.neurons.get(`inputs.${name}`)!),
      givenSteps: input.module === 'spikes' ? allSteps(input) : new Uint16Array(0),
      groupAxis: this.#axisOf(`inputs.${name}`),
      rateAxis: this.#axisOf(`inputs.${name}.rate_hz`),
      delayAxis: this.#axisOf(`inputs.${name}.delay_ms`),
      windowAxis: this.#axisOf(`inputs.${name}.duration_ms`),
    }));
    this.reports = reports;
    this.#tableRows = this.rowsOfTable(limits.tableRows);
    this.#durationsMs = new Float64Array(this.grid.size);
    this.#inputEvents = new Float64Array(this.grid.size);
    this.warnings = warningsBefore(
      connectome,
      resolved,
      // Where groups take the place of an input's neurons, these are never stimulated.
      this.#inputs.filter(({ groupAxis }) => groupAxis < 0).map(({ neurons }) => neurons),
      this.reports,
      this.grid,
    );
    this.cite = citationsOf(connectome, resolved.sources);
  }

  /** @throws CodedError TOO_EXPENSIVE */
  static *of(
    connectome: Connectome,
    document: ExperimentDocument,
    parts: PlannedParts,
    limits: ExperimentLimits,
  ): InParts<ExperimentPlan> {
    const plan = new ExperimentPlan(connectome, document, parts, limits);
    yield* plan.#addUpCost();
    return plan;
  }

  /** @throws CodedError TOO_EXPENSIVE */
  *#addUpCost(): InParts<void> {
    const largestGroups = this.grid.axes.map((axis) => largestGroup(this.connectome, axis));
    const ratesOf = new Map<number, number>();
    let rates = 0;
    for (let index = 0; index < this.grid.size; index++) {
      if (index % CONDITIONS_IN_PART === 0) yield;
      const settings = this.#settingsAt(index);
      const { durationMs } = settings;
      this.#durationsMs[index] = durationMs;
      this.#inputEvents[index] = this.#expectedInputEvents(settings, largestGroups);
      let own = ratesOf.get(durationMs);
      if (own === undefined) {
        own = this.#ratesOf(this.#reportWindows(durationMs));
        ratesOf.set(durationMs, own);
      }
      rates += own;
    }
    this.#checkCost(rates);
  }

  get conditions(): number {
    return this.grid.size;
  }

  /** @throws CodedError INVALID_PARAMETER where an answer cannot begin with this condition */
  checkFrom(from: number): void {
    if (from < this.conditions) return;
    throw invalid(
      WHOLE,
      `from must be the index of a condition, from 0 to ${this.conditions - 1}, got ${from}.`,
    );
  }

  /** Simulated time of all that an answer from a condition on has to run, at most: whole milliseconds. */
  brainMs(from = 0): number {
    const needed = this.grid.neededFrom(from);
    const durationMs = this.#durationsMs.reduce((sum, ms, index) => sum + needed[index]! * ms, 0);
    return durationMs * this.trials;
  }

  brainSeconds(from = 0): number {
    return this.brainMs(from) / MS_PER_SECOND;
  }

  /** Simulated time of all trials of a condition, in ms. */
  brainMsOf(index: number): number {
    return this.#durationsMs[index]! * this.trials;
  }

  /** Rows that each table of a condition may have, where all tables of an answer may have as many as this together. */
  rowsOfTable(tableRows: number): number {
    const tables = this.reports.filter(({ document: { type } }) => isTable(type)).length;
    return Math.max(1, Math.floor(tableRows / Math.max(1, this.grid.size * tables)));
  }

  /** The answer without results. Of an axis of responders only the baseline is known. */
  dryRun(): DryRun {
    const indices = Array.from({ length: this.grid.size }, (_, index) => index);
    const known = indices.filter((index) =>
      this.grid
        .placesOf(index)
        .every((place, at) => place === 0 || this.grid.axes[at]!.kind !== 'responders'),
    );
    return {
      ...this.head,
      conditions: known.map((index) => ({
        index,
        parameters: this.parametersOf(
          this.grid.placesOf(index).map((place, at) => valueAt(this.grid.axes[at]!, place)),
        ),
      })),
      unchanged: [],
      cost: {
        brain_seconds: this.brainSeconds(),
        input_events: Math.round(this.trials * this.#inputEvents.reduce((sum, events) => sum + events, 0)),
      },
      warnings: this.warnings,
      cite: this.cite,
    };
  }

  parametersOf(values: readonly AxisValue[]): ConditionParameters['parameters'] {
    return Object.fromEntries(
      this.grid.axes.map(({ name }, axis): [string, ParameterValue] => {
        const value = values[axis]!;
        return [name, typeof value === 'object' && value !== null ? value.labels : value];
      }),
    );
  }

  /** @param values on the axes of the grid */
  condition(index: number, values: readonly AxisValue[]): Condition {
    const settings = this.#settingsAt(index);
    const groupsAs = (name: string) =>
      values.filter((value, axis) => typeof value !== 'number' && this.grid.axes[axis]!.name === name);
    const inputs = this.#inputs.map(({ name, input, neurons }, at) => {
      const [group] = groupsAs(`inputs.${name}`);
      const stimulated = group === undefined ? neurons : sharedArray(neuronsOf(group));
      const { startStep, endStep, rateHz } = settings.inputs[at]!;
      if (input.module === 'spikes') {
        return {
          neurons: stimulated,
          train: givenTrain(this.connectome, input, stimulated, startStep, endStep),
        };
      }
      return {
        neurons: stimulated,
        train: { kind: 'poisson', name, rateHz, seed: settings.seed, startStep, endStep },
      };
    }) satisfies PlannedInput[];
    const silenced = sharedArray(
      unionOf([this.#silenced, ...groupsAs('silence').map(neuronsOf)], this.connectome.neuronCount),
    );
    const windows = this.#reportWindows(settings.durationMs);
    const reports = this.reports.map((report, at): ReportTask => {
      const window = { neurons: report.neurons, ...windows[at]! };
      const { type, bin_ms: binMs } = report.document;
      if (type === 'rate') return { type, ...window };
      if (type === 'histogram') {
        return { type, ...window, groups: report.groupOfPlaces, binSteps: stepsOf(binMs!) };
      }
      return { type, ...window, maximumRows: this.#tableRows };
    });
    const durationSteps = stepsOf(settings.durationMs);
    const eventBudget = this.limits.synapticEventsPerTrial;
    return {
      index,
      parameters: this.parametersOf(values),
      durationMs: settings.durationMs,
      reports,
      task: (trial, countsAll) => ({
        protocol: {
          inputs: inputs.map((input) => inTrial(input, trial)),
          silenced,
          durationSteps,
          ...(eventBudget !== Infinity && { eventBudget }),
        },
        reports,
        countsAll,
      }),
    };
  }

  /** @returns the place of an axis, -1 where nothing sweeps it */
  #axisOf(name: string): number {
    return this.grid.axes.findIndex((axis) => axis.name === name);
  }

  /** The values of the fields of a condition, in steps. Asked for every condition before anything is run. */
  #settingsAt(index: number): Settings {
    const places = this.grid.placesOf(index);
    const valueOn = (at: number): number | undefined => {
      const axis = this.grid.axes[at];
      return axis?.kind === 'values' ? axis.values[places[at]!] : undefined;
    };
    const { document } = this;
    const durationMs = valueOn(this.#axisOf('duration_ms')) ?? document.duration_ms;
    const durationSteps = stepsOf(durationMs);
    const inputs = this.#inputs.map(({ input, rateAxis, delayAxis, windowAxis }) => {
      const windowMs = valueOn(windowAxis) ?? input.duration_ms;
      const startStep = stepsOf(valueOn(delayAxis) ?? input.delay_ms);
      const endStep = windowMs === null ? durationSteps : startStep + stepsOf(windowMs);
      const ownRateHz = input.module === 'poisson' ? input.rate_hz : 0;
      return { startStep, endStep, rateHz: valueOn(rateAxis) ?? ownRateHz };
    });
    return { places, durationMs, seed: valueOn(this.#axisOf('seed')) ?? document.seed, inputs };
  }

  /** What the reports read of a trial of this length. */
  #reportWindows(durationMs: number): ReportWindow[] {
    return this.reports.map(({ document: { start_ms: startMs, end_ms: endMs } }) => ({
      startStep: stepsOf(startMs),
      endStep: stepsOf(endMs ?? durationMs),
    }));
  }

  #expectedInputEvents({ places, inputs }: Settings, largestGroups: readonly number[]): number {
    return this.#inputs.reduce((sum, { input, neurons, givenSteps, groupAxis }, at) => {
      const { startStep, endStep, rateHz } = inputs[at]!;
      const swept = this.grid.axes[groupAxis];
      const place = places[groupAxis];
      let count = neurons.length;
      if (swept !== undefined && place === 0) count = 0;
      else if (swept?.kind === 'groups') count = swept.groups.sizes[place! - 1]!;
      else if (swept?.kind === 'responders') count = largestGroups[groupAxis]!;
      if (input.module === 'poisson') {
        const seconds = (endStep - startStep) / (STEPS_PER_MS * MS_PER_SECOND);
        return sum + count * rateHz * seconds;
      }
      const events = firstNotBelow(givenSteps, endStep) - firstNotBelow(givenSteps, startStep);
      return sum + (isList(input.times_ms) ? count * events : events);
    }, 0);
  }

  #ratesOf(windows: readonly ReportWindow[]): number {
    return this.reports.reduce((sum, { document: { type, bin_ms: binMs }, groups }, at) => {
      if (isTable(type)) return sum;
      const bins = type === 'histogram' ? binCount({ ...windows[at]!, binSteps: stepsOf(binMs!) }) : 0;
      return sum + groups.count * (RATES_OF_GROUP + this.trials + bins);
    }, 0);
  }

  /** @throws CodedError TOO_EXPENSIVE */
  #checkCost(rates: number): void {
    const { limits, trials, grid } = this;
    const brainSeconds = this.brainSeconds();
    if (brainSeconds > limits.brainSeconds) {
      const fitting = Math.floor((limits.brainSeconds * trials) / brainSeconds);
      const conditions = grid.size === 1 ? '1 condition' : `${grid.size} conditions`;
      throw tooExpensive(
        `The experiment has ${quantity(brainSeconds, 'brain second')} (${conditions} x ${quantity(trials, 'trial')}); ` +
          `at most ${limits.brainSeconds} are allowed.`,
        fitting >= 1
          ? `With ${quantity(fitting, 'trial')} it would fit.`
          : 'Fewer conditions or a shorter trial would fit.',
        fitting >= 1 ? '/trials' : grid.size > 1 ? '/sweep' : '/duration_ms',
      );
    }
    const most = this.#inputEvents.reduce((a, b) => Math.max(a, b), 0);
    if (most > limits.inputEventsPerTrial) {
      const index = this.#inputEvents.indexOf(most);
      throw tooExpensive(
        `A trial of condition ${index} has ${Math.round(most)} input events on average; at most ` +
          `${limits.inputEventsPerTrial} are allowed.`,
        `With ${share(limits.inputEventsPerTrial, most)} of the neurons, of the rates or of the duration it would fit.`,
        '/inputs',
      );
    }
    if (rates > limits.rates) {
      throw tooExpensive(
        `The reports of the answer have ${rates} rates (for each condition and group one for each trial and bin, and ` +
          `${RATES_OF_GROUP} for the rest of its row); at most ${limits.rates} are allowed.`,
        `With ${share(limits.rates, rates)} of the conditions, groups or trials they would fit.`,
        '/reports',
      );
    }
  }
}

interface NamedInput {
  readonly name: string;
  readonly input: InputDocument;
  /** In shared memory. */
  readonly neurons: Uint32Array;
  /** Of all lists of given times, ascending. */
  readonly givenSteps: Uint16Array;
  /** Places of the axes that sweep it, -1 for none: its neurons and its members. */
  readonly groupAxis: number;
  readonly rateAxis: number;
  readonly delayAxis: number;
  readonly windowAxis: number;
}

interface InputSettings {
  readonly startStep: number;
  readonly endStep: number;
  readonly rateHz: number;
}

interface Settings {
  /** On the axes of the grid. */
  readonly places: readonly number[];
  readonly durationMs: number;
  readonly seed: number;
  /** In the order of the document. */
  readonly inputs: readonly InputSettings[];
}

interface ReportWindow {
  readonly startStep: number;
  readonly endStep: number;
}

/** The same in every trial; a Poisson train lacks the number of the trial. */
interface PlannedInput {
  readonly neurons: Uint32Array;
  readonly train: GivenTrain | Omit<PoissonTrain, 'trial'>;
}

function inTrial({ neurons, train }: PlannedInput, trial: number): Input {
  return { neurons, train: train.kind === 'poisson' ? { ...train, trial } : train };
}

/** Reports that read the same groups of the same neurons share their arrays. */
function* plannedReports(
  connectome: Connectome,
  { reports }: ExperimentDocument,
  { neurons: resolved }: ResolvedDocument,
): InParts<PlannedReport[]> {
  const known = new Map<string, Pick<PlannedReport, 'neurons' | 'groups' | 'groupOfPlaces'>>();
  const planned: PlannedReport[] = [];
  for (const [name, document] of Object.entries(reports)) {
    const key = JSON.stringify([document.node_set, document.group_by]);
    let read = known.get(key);
    if (read === undefined) {
      yield;
      const neurons = sharedArray(resolved.get(`reports.${name}`)!);
      const groups = groupsOf(connectome, neurons, document.group_by);
      read = { neurons, groups, groupOfPlaces: sharedArray(groups.ofPlaces) };
      known.set(key, read);
    }
    planned.push({ name, document, ...read });
  }
  return planned;
}

/**
 * The first 32 hex digits of the SHA-256 of lines, each ended by a line feed: the connectome's digest, the version of
 * the answers, the complete document as JSON. Equal experiments have equal ids on every machine.
 */
export function experimentId(connectomeDigest: string, document: ExperimentDocument): string {
  const lines = [connectomeDigest, ANSWER_VERSION, JSON.stringify(document)];
  return hash('sha256', lines.map((line) => `${line}\n`).join('')).slice(0, ID_HEX_DIGITS);
}

function sideConvention({ metadata }: Connectome): string {
  return (
    `Left and right are those of the classification of ${metadata.dataset} release ${metadata.release}, the fly's ` +
    'own. Shiu et al. 2024 name them the other way round: their "right" sugar neurons are on the left here.'
  );
}

function axesOf(
  connectome: Connectome,
  { sweep = [] }: ExperimentDocument,
  resolved: ResolvedDocument,
): Axis[] {
  return sweep.map((axis, at): Axis => {
    if ('set' in axis) return { kind: 'values', name: axis.set, values: axis.values };
    const { each, group_by: groupBy, as: name } = axis;
    if (!isResponders(each)) {
      return {
        kind: 'groups',
        name,
        groups: groupsOf(connectome, resolved.neurons.get(`sweep.${at}`)!, groupBy),
      };
    }
    if (groupBy.length === 0) {
      const place = memberOf(memberOf(memberOf(WHOLE, 'sweep'), at), 'group_by');
      throw refused(place, groupBy, 'a list of at least one label, because groups of responders are ranked');
    }
    return { kind: 'responders', name, top: each.top, groupBy };
  });
}

/** @throws CodedError INVALID_PARAMETER; how many groups there are, only the connectome says */
function checkConditions({ axes, size }: Grid, limits: ExperimentLimits): void {
  if (size <= limits.conditions) return;
  const factors = axes.map((axis) => {
    const length = lengthOf(axis);
    if (axis.kind === 'values') return `${length} values`;
    const groups = `${length - 1} groups + 1 without any`;
    return axes.length > 1 ? `(${groups})` : groups;
  });
  throw tooManyConditions(limits.conditions, BigInt(size), factors.join(' x '));
}

/** The most neurons that a group of responders can have. */
function largestGroup(connectome: Connectome, axis: Axis): number {
  if (axis.kind !== 'responders' || axis.name === 'silence') return 0;
  const { sizes } = groupsOf(connectome, allNeurons(connectome), axis.groupBy);
  return sizes.reduce((a, b) => Math.max(a, b), 0);
}

function allSteps({ times_ms: times }: SpikesInput): Uint16Array {
  const lists = isList(times) ? [times] : Object.values(times);
  return Uint16Array.from(lists.flat().map(stepsOf)).sort();
}

/** Given events within a window, in shared memory. */
function givenTrain(
  connectome: Connectome,
  { times_ms: times }: SpikesInput,
  neurons: Uint32Array,
  startStep: number,
  endStep: number,
): GivenTrain {
  const within = (list: readonly number[]) =>
    list.map(stepsOf).filter((step) => step >= startStep && step < endStep);
  if (isList(times)) return { kind: 'spikes', steps: sharedStepLists([within(times)])[0]! };
  const selection = selectionOf(connectome);
  const lists = Array.from(neurons, () => NO_STEPS);
  for (const [id, own] of Object.entries(times)) {
    const neuron = selection.withId(id);
    const place = neuron === undefined ? -1 : placeOf(neurons, neuron);
    if (place >= 0) lists[place] = within(own);
  }
  return { kind: 'spikes', steps: sharedStepLists(lists) };
}

/** Array.isArray does not tell a readonly list from an object. */
function isList(times: SpikesInput['times_ms']): times is readonly number[] {
  return Array.isArray(times);
}

function valueAt(axis: Axis, place: number): AxisValue {
  if (axis.kind === 'values') return axis.values[place]!;
  return place === 0 || axis.kind === 'responders' ? null : groupOf(axis.groups, place - 1);
}

function neuronsOf(value: AxisValue): Uint32Array {
  return typeof value === 'object' && value !== null ? value.neurons : NOBODY;
}

function isTable(type: ReportDocument['type']): boolean {
  return type === 'spikes' || type === 'inputs';
}

/** Times of a document are multiples of 0.1 ms, but for the error of a double. */
function stepsOf(ms: number): number {
  return Math.round(ms * STEPS_PER_MS);
}

function tooExpensive(cost: string, whatFits: string, path: string): CodedError {
  return new CodedError('TOO_EXPENSIVE', `${cost} ${whatFits}`, { path });
}

/** What is allowed of a whole that is more. */
function share(allowed: number, whole: number): string {
  const percent = Math.floor((100 * allowed) / whole);
  return percent > 0 ? `${percent} %` : 'less than 1 %';
}

function quantity(count: number, noun: string): string {
  return `${rounded(count)} ${noun}${count === 1 ? '' : 's'}`;
}
