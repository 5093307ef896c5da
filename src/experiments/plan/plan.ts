/**
 * A document on a connectome, ready to be run: which conditions there are, what each of their trials is, what they
 * cost. Nothing is simulated here, and whatever is refused is refused here.
 */
import type { Connectome } from '../../connectome/connectome.js';
import type { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import { type InParts, withoutPauses } from '../../parts.js';
import { invalid } from '../../schema/json-path.js';
import { type Protocol, STEPS_PER_MS } from '../../stimulus/protocol.js';
import type { ExperimentDocument } from '../document/document.js';
import { stepsOf } from '../document/fields.js';
import { tooManyConditions } from '../document/parse-sweep.js';
import { axisKindOf } from '../kinds/axis-kinds.js';
import { EDIT_KINDS, type EditKind, type PlannedEdit } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import { eventKindOf } from '../kinds/report-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import type { ConditionParameters, DryRun, ExperimentHead, ExperimentWarning } from '../run/result.js';
import { type PlannedInput, plannedInputs, type Settings, settingsAt } from './condition-settings.js';
import { expectedRows } from './expected-inputs.js';
import { citationsOf, experimentHead } from './experiment-head.js';
import type { ExperimentLimits } from './experiment-limits.js';
import { PlanCost } from './plan-cost.js';
import { checkLimits } from './plan-limits.js';
import { controlledReports, plannedReports, reportTask } from './planned-reports.js';
import { preparationOf, type Work } from './prices.js';
import { resolveDocument, type ResolvedDocument } from './resolve-document.js';
import { type AxisValue, Grid, lengthOf, valueAt } from './sweep.js';
import type { ConditionTask } from './trial.js';
import { warningsBefore } from './warnings.js';

const NO_NEURONS = new Uint32Array(0);
const MS_PER_SECOND = 1000;
const STEPS_PER_SECOND = MS_PER_SECOND * STEPS_PER_MS;

/** A condition as it is run. */
export type Condition = ConditionParameters & ConditionTask;

/** Which part of a condition an answer reads. */
export interface ConditionExtent {
  readonly reports: readonly PlannedReport[];
  /** Cuts each table of a condition at its share of the limit on rows. */
  readonly cutsTables?: boolean;
  /** The first condition of the answer. */
  readonly from?: number;
}

/**
 * @param document complete, as parseDocument gives it
 * @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET, NO_CONNECTION, INVALID_PARAMETER, TOO_EXPENSIVE, each with the path
 */
export function planExperiment(...all: Parameters<typeof planInParts>): ExperimentPlan {
  return withoutPauses(planInParts(...all));
}

/** As planExperiment, with pauses while neurons and connections are searched. */
export function* planInParts(
  connectome: Connectome,
  document: ExperimentDocument,
  resolver: Pick<NodeSetResolver, 'resolving'>,
  limits: ExperimentLimits,
): InParts<ExperimentPlan> {
  const resolved = yield* resolveDocument(connectome, document, resolver, limits);
  const { neurons } = resolved;
  const axes = (document.sweep ?? []).map((axis, at) =>
    axisKindOf(axis).planned(connectome, axis, neurons.get(`sweep.${at}`), ['sweep', at]),
  );
  const grid = new Grid(axes, document.controls?.count);
  checkConditions(grid, limits);
  const edits: PlannedEdit[] = [];
  for (const [name, kind] of Object.entries(EDIT_KINDS) as [keyof typeof EDIT_KINDS, EditKind][]) {
    const isRewired = edits.some((edit) => edit.isRewired);
    edits.push(yield* kind.planned({ connectome, grid, neurons, isRewired }, document[name]));
  }
  return new ExperimentPlan(connectome, document, resolved, limits, grid, edits);
}

export class ExperimentPlan {
  readonly head: ExperimentHead;
  readonly trials: number;
  /** In the order of the document, as all that follows. */
  readonly inputs: readonly PlannedInput[];
  readonly inputNames: readonly string[];
  readonly reports: readonly PlannedReport[];
  readonly cost: PlanCost;
  /** Warnings that are known before a trial has run. */
  readonly warnings: readonly ExperimentWarning[];
  readonly cite: readonly string[];

  /** @throws CodedError INVALID_PARAMETER, TOO_EXPENSIVE */
  constructor(
    readonly connectome: Connectome,
    private readonly document: ExperimentDocument,
    resolved: ResolvedDocument,
    private readonly limits: ExperimentLimits,
    readonly grid: Grid,
    private readonly edits: readonly PlannedEdit[],
  ) {
    const facts = Object.assign({}, ...edits.map((edit) => edit.resolved)) as object;
    this.head = experimentHead(connectome, document, { ...resolved.sets, ...facts }, this.isRewired);
    this.trials = document.trials;
    this.inputs = plannedInputs(document, resolved, grid);
    this.inputNames = Object.keys(document.inputs);
    this.reports = plannedReports(connectome, document, resolved);
    this.cost = new PlanCost(this);
    checkLimits(this, limits);
    this.warnings = warningsBefore(this, resolved);
    this.cite = citationsOf(connectome, resolved.sources);
  }

  /** Tells whether the wiring of a condition may differ from that of the model. */
  get isRewired(): boolean {
    return this.edits.some(({ isRewired }) => isRewired);
  }

  settingsAt(index: number): Settings {
    return settingsAt(index, this.document, this.inputs, this.grid);
  }

  /** Constants and wiring of a condition, or control, where they are not those of the model. */
  networkAt(index: number): Pick<Protocol, 'constants' | 'wiring'> {
    const { controls } = this.document;
    const valueOf = this.grid.valuesAt(index);
    const own = Object.assign({}, ...this.edits.map((edit) => edit.networkIn?.(valueOf))) as Protocol;
    const seed = this.grid.controlOf(index);
    if (controls === undefined || seed === 0) return own;
    return { ...own, wiring: { ...own.wiring, shuffle: controls.shuffle, seed } };
  }

  /** Work of a worker before the first trial of a condition, or control, at most. */
  preparationAt(index: number): Work {
    const places = this.grid.placesOf(index);
    const pairs = this.edits.reduce((sum, edit) => sum + (edit.pairsAt?.(places) ?? 0), 0);
    return preparationOf(pairs, this.networkAt(index).wiring ? this.connectome.connectionCount : 0);
  }

  /**
   * Tells whether a condition has the result of its baseline, because edits by its groups change nothing.
   * @param values on the axes, once all groups are known
   */
  isIdleAt(index: number, values?: readonly AxisValue[]): boolean {
    const places = this.grid.placesOf(index);
    return this.edits.some((edit) => edit.isIdleAt?.(places, values) === true);
  }

  /** Conditions of the answer; controls are none of their own. */
  get conditions(): number {
    return this.grid.conditions;
  }

  /** @throws CodedError INVALID_PARAMETER where an answer cannot begin with this condition */
  checkFrom(from: number): void {
    if (from < this.conditions) return;
    throw invalid(
      [],
      `from must be the index of a condition, from 0 to ${this.conditions - 1}, got ${from}.`,
    );
  }

  /** The reports that a condition reads, or one of its controls. */
  reportsOf(index: number, reports: readonly PlannedReport[]): readonly PlannedReport[] {
    return this.grid.controlOf(index) === 0 ? reports : controlledReports(reports);
  }

  /** Rows of tables that one answer may have; of a job, that one condition may have. */
  get tableRows(): number {
    return this.limits.tableRows;
  }

  /** Rows that each table of a condition has at most, where an answer is cut at its limit. */
  rowsOfTable(tableRows = this.tableRows): number {
    const tables = this.reports.filter(({ document }) => eventKindOf(document) !== undefined).length;
    return Math.max(1, Math.floor(tableRows / Math.max(1, this.conditions * tables)));
  }

  /** The answer from a condition on, without results. Of an axis of responders only the baseline is known. */
  dryRun(from = 0): DryRun {
    const { axes } = this.grid;
    const conditions: ConditionParameters[] = [];
    const unchanged: ConditionParameters['parameters'][] = [];
    for (let condition = from; condition < this.conditions; condition++) {
      const index = this.grid.indexOf(condition);
      const places = this.grid.placesOf(index);
      if (places.some((place, at) => place > 0 && axes[at]!.kind === 'responders')) continue;
      const parameters = this.parametersOf(places.map((place, at) => valueAt(axes[at]!, place)));
      if (this.isIdleAt(index)) unchanged.push(parameters);
      else conditions.push({ index: condition, parameters });
    }
    const { brainMs, inputEvents } = this.cost.work(from);
    return {
      ...this.head,
      conditions,
      unchanged,
      cost: {
        brain_seconds: brainMs / MS_PER_SECOND,
        input_events: Math.round(inputEvents),
        ...expectedRows(this, from),
      },
      warnings: this.warnings,
      cite: this.cite,
    };
  }

  parametersOf(values: readonly AxisValue[]): ConditionParameters['parameters'] {
    return Object.fromEntries(
      this.grid.axes.map(({ name }, axis) => {
        const value = values[axis]!;
        return [name, typeof value === 'object' && value !== null ? value.labels : value];
      }),
    );
  }

  /** @param values on the axes of the grid */
  condition(
    index: number,
    values: readonly AxisValue[],
    { reports: read, cutsTables = false }: ConditionExtent = this,
  ): Condition {
    const { connectome, limits, grid } = this;
    const { durationMs, seed, inputs: settings, valueOf } = this.settingsAt(index);
    const groupOf = (parameter: string): Uint32Array | null | undefined => {
      const value = values[grid.axisOf(parameter)];
      return typeof value === 'object' && value !== null ? value.neurons : (value as null | undefined);
    };
    const inputs = this.inputs.map((planned, at) => {
      const swept = groupOf(`inputs.${planned.name}`);
      const own = swept === undefined ? planned : { ...planned, neurons: sharedArray(swept ?? NO_NEURONS) };
      const train = inputKindOf(planned.input).trainOf(connectome, { ...own, ...settings[at]!, seed });
      return { neurons: own.neurons, train };
    });
    const edited = this.edits.map((edit) => edit.protocolIn?.({ durationMs, valueOf, groupOf }));
    const preparation = this.preparationAt(index);
    const durationSteps = stepsOf(durationMs);
    const maximumRows = cutsTables ? this.rowsOfTable() : this.tableRows;
    const { synapticEventsPerTrial: eventBudget, synapticEventsPerBrainSecond = 0 } = limits;
    const eventBudgetPerStep = synapticEventsPerBrainSecond / STEPS_PER_SECOND;
    return {
      index,
      parameters: this.parametersOf(values),
      protocol: {
        inputs,
        silenced: NO_NEURONS,
        ...Object.assign({}, ...edited),
        ...this.networkAt(index),
        durationSteps,
        ...(eventBudget !== Infinity && { eventBudget }),
        ...(eventBudgetPerStep * durationSteps > eventBudget && { eventBudgetPerStep }),
      },
      reports: read.map((report) => reportTask(report, durationMs, maximumRows)),
      countsAll: grid.decidesOthers(index),
      ...(!cutsTables && { maximumRows }),
      ...(Object.keys(preparation).length > 0 && { preparation }),
    };
  }
}

/** @throws CodedError INVALID_PARAMETER; how many groups there are, only the connectome says */
function checkConditions({ axes, size, controls }: Grid, limits: ExperimentLimits): void {
  if (size <= limits.conditions) return;
  const factors = axes.map((axis) =>
    axis.kind === 'values' ? `${axis.values.length} values` : `${lengthOf(axis) - 1} groups + 1 without any`,
  );
  if (controls > 0) factors.push(`${controls} controls + 1`);
  const isProduct = factors.length > 1;
  throw tooManyConditions(
    limits.conditions,
    BigInt(size),
    factors.map((factor) => (isProduct && factor.includes('+') ? `(${factor})` : factor)).join(' x '),
    axes.length > 0 ? 'sweep' : 'controls',
  );
}
