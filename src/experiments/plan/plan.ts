/**
 * Plans a document on a connectome: its grid of conditions, the task of each trial, and the cost. Every refusal of an
 * experiment happens here at the latest; nothing is simulated.
 */
import { NO_NEURONS } from '../../engine/connectome/neuron-set.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import type { NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import { type InParts, withoutPauses } from '../../engine/parts.js';
import { invalid } from '../../engine/schema/json-path.js';
import { STEPS_PER_SECOND, MS_PER_SECOND, type Protocol } from '../../engine/stimulus/protocol.js';
import type { ExperimentDocument } from '../document/document.js';
import { stepsOf } from '../kinds/fields.js';
import { tooManyConditions } from '../document/parse-sweep.js';
import { axisKindOf } from '../kinds/axis-kinds.js';
import { type Controls, isMatchedAxis, rewiringOf } from '../kinds/controls.js';
import { EDIT_KINDS } from '../kinds/edit-kinds.js';
import { checkSignProbabilities } from '../kinds/edits/wiring.js';
import type { EditKind, PlannedEdit } from '../kinds/edit-kind.js';
import type { InputSettings } from '../kinds/input-kind.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import type { InputDocument } from '../kinds/kind-schemas.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import { eventKindOf } from '../kinds/report-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import type { ConditionParameters, DryRun, ExperimentHead } from '../document/result.js';
import type { ExperimentWarning } from '../kinds/warning.js';
import { expectedRows } from './expected-inputs.js';
import { citationsOf, experimentHead } from './experiment-head.js';
import type { ExperimentLimits } from './experiment-limits.js';
import { PlanCost } from './plan-cost.js';
import { checkLimits } from './plan-limits.js';
import { type PlannedInput, plannedInputs } from './planned-inputs.js';
import { controlledReports, plannedReports, reportTask } from './planned-reports.js';
import { expectedWork, type Work } from './prices.js';
import { resolveDocument, type ResolvedDocument } from './resolve-document.js';
import { type AxisValue, Grid, lengthOf, valueAt } from '../kinds/grid.js';
import type { ConditionTask } from './trial.js';
import { warningsBefore } from './warnings.js';

/** Matched controls need no network of their own, so a document may have this many times as many. */
const MATCHED_CELLS = 20;
/** The price of resampled counts, as a multiple of that of other wirings: they take 132 ns a connection. */
const RESAMPLED_TIMES = 4;

/** A cell with its parameters and the task of its trials. */
export type Condition = Pick<ConditionParameters, 'parameters'> & ConditionTask & { readonly cell: number };

/** The part of each condition that an answer reads. */
export interface ConditionExtent {
  readonly reports: readonly PlannedReport[];
  /** If true, cut each table of a condition to its share of the limit on rows. */
  readonly cutsTables?: boolean;
  /** The first condition of the answer. */
  readonly from?: number;
}

/**
 * @param document complete, from parseDocument
 * @throws CodedError UNKNOWN_NEURONS, EMPTY_NODE_SET, NO_CONNECTION, INVALID_PARAMETER, TOO_EXPENSIVE, each with the path
 */
export function planExperiment(...all: Parameters<typeof planInParts>): ExperimentPlan {
  return withoutPauses(planInParts(...all));
}

/** The same in parts: pauses while it searches neurons and connections. */
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
  const { controls } = document;
  if (controls?.signs !== undefined) checkSignProbabilities(connectome, 'controls');
  const matchedAxis = axes.findIndex(
    ({ kind, name }) => kind !== 'values' && controls && isMatchedAxis(controls, name),
  );
  const grid = new Grid(axes, controls?.only ? 0 : controls?.count, matchedAxis);
  checkConditions(grid, limits);
  const edits: PlannedEdit[] = [];
  const skipsMissing = document.on_missing === 'skip';
  for (const [name, kind] of Object.entries(EDIT_KINDS) as [keyof typeof EDIT_KINDS, EditKind][]) {
    const isRewired = edits.some((edit) => edit.isRewired);
    edits.push(yield* kind.planned({ connectome, grid, neurons, skipsMissing, isRewired }, document[name]));
  }
  return new ExperimentPlan(connectome, document, resolved, limits, grid, edits);
}

export class ExperimentPlan {
  readonly head: ExperimentHead;
  readonly trials: number;
  /** In the order of the document, like the lists below. */
  readonly inputs: readonly PlannedInput[];
  readonly inputNames: readonly string[];
  readonly reports: readonly PlannedReport[];
  readonly cost: PlanCost;
  /** Warnings that are known before any trial runs. */
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
    this.warnings = warningsBefore(this, resolved, edits, document);
    this.cite = citationsOf(connectome, resolved.sources);
  }

  get controls(): Controls | undefined {
    return this.document.controls;
  }

  /** Tells whether some condition may have another wiring than the model. */
  get isRewired(): boolean {
    return this.edits.some(({ isRewired }) => isRewired);
  }

  /** The numbers that a sweep may set. Called for every cell before a trial runs, so it must be cheap. */
  settingsAt(cell: number) {
    const { document, grid } = this;
    const valueOf = grid.valuesAt(cell);
    const durationMs = valueOf('duration_ms') ?? document.duration_ms;
    return {
      /** One for each axis of the grid. */
      coordinates: grid.coordinatesOf(cell),
      valueOf,
      durationMs,
      seed: valueOf('seed') ?? document.seed,
      /** In the order of the document. */
      inputs: this.inputs.map(({ name, input: given, swept }): InputSettings => {
        const values = swept.map((member) => [member, valueOf(`inputs.${name}.${member}`)]);
        const input = { ...given, ...(Object.fromEntries(values) as Partial<InputDocument>) };
        const { delay_ms: delayMs, duration_ms: windowMs } = input;
        const startStep = stepsOf(delayMs);
        const endStep = windowMs === null ? stepsOf(durationMs) : startStep + stepsOf(windowMs);
        return { input, startStep, endStep };
      }),
    };
  }

  /** Constants and wiring of a cell, if they differ from those of the model. */
  networkAt(cell: number): Pick<Protocol, 'constants' | 'wiring'> {
    const { controls } = this;
    const valueOf = this.grid.valuesAt(cell);
    const own = Object.assign({}, ...this.edits.map((edit) => edit.networkIn?.(valueOf))) as Protocol;
    const seed = this.grid.controlOf(cell);
    const rewiring = controls && rewiringOf(controls);
    if (rewiring === undefined || seed === 0) return own;
    return { ...own, wiring: { ...own.wiring, ...rewiring, seed } };
  }

  /** Upper bound on the work of a worker before the first trial of a cell. */
  preparationAt(cell: number): Work {
    const coordinates = this.grid.coordinatesOf(cell);
    const pairs = this.edits.reduce((sum, edit) => sum + (edit.pairsAt?.(coordinates) ?? 0), 0);
    const { wiring } = this.networkAt(cell);
    const { connectionCount } = this.connectome;
    const times = wiring?.counts === undefined ? 1 : RESAMPLED_TIMES;
    return {
      ...(pairs > 0 && { editedConditions: 1, editedPairs: pairs }),
      ...(wiring && connectionCount > 0 && { rewiredConnections: times * connectionCount }),
    };
  }

  /**
   * Tells whether a cell has the result of its baseline, because the edits by its groups change nothing.
   * @param values on the axes; absent if not all groups are known yet
   */
  isIdleAt(cell: number, values?: readonly AxisValue[]): boolean {
    const coordinates = this.grid.coordinatesOf(cell);
    return this.edits.some((edit) => edit.isIdleAt?.(coordinates, values) === true);
  }

  /** Number of conditions of an answer, without controls. */
  get conditions(): number {
    return this.grid.conditions;
  }

  /** @throws CodedError INVALID_PARAMETER if there is no such condition to begin an answer with */
  checkFrom(from: number): void {
    if (from < this.conditions) return;
    throw invalid(
      [],
      `from must be the index of a condition, from 0 to ${this.conditions - 1}, got ${from}.`,
    );
  }

  /** The reports that a cell reads: controls read only those that are compared. */
  reportsOf(cell: number, reports: readonly PlannedReport[]): readonly PlannedReport[] {
    return this.grid.controlOf(cell) === 0 ? reports : controlledReports(reports);
  }

  /** Maximum number of rows of all tables in an answer; in a job, in a condition. */
  get tableRows(): number {
    return this.limits.tableRows;
  }

  /** The share of the limit for each table of a condition, if the answer is cut and not divided into pages. */
  rowsOfTable(tableRows = this.tableRows): number {
    const tables = this.reports.filter(({ document }) => eventKindOf(document) !== undefined).length;
    return Math.max(1, Math.floor(tableRows / Math.max(1, this.conditions * tables)));
  }

  /** The answer without results, starting at a condition. An axis of responders has only its baseline, the rest is unknown. */
  dryRun(from = 0): DryRun {
    const { axes } = this.grid;
    const conditions: ConditionParameters[] = [];
    const unchanged: ConditionParameters['parameters'][] = [];
    for (let condition = from; condition < this.conditions; condition++) {
      const cell = this.grid.cellOf(condition);
      const coordinates = this.grid.coordinatesOf(cell);
      if (coordinates.some((coordinate, at) => coordinate > 0 && axes[at]!.kind === 'responders')) continue;
      const parameters = this.parametersOf(
        coordinates.map((coordinate, at) => valueAt(axes[at]!, coordinate)),
      );
      if (this.isIdleAt(cell)) unchanged.push(parameters);
      else conditions.push({ index: condition, parameters });
    }
    const { brainMs, inputEvents } = this.cost.work(from);
    return {
      dry_run: true,
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
    cell: number,
    values: readonly AxisValue[],
    { reports: read, cutsTables = false }: ConditionExtent = this,
  ): Condition {
    const { connectome, limits, grid } = this;
    const { durationMs, seed, inputs: settings, valueOf } = this.settingsAt(cell);
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
    const preparation = this.preparationAt(cell);
    const durationSteps = stepsOf(durationMs);
    const maxRows = cutsTables ? this.rowsOfTable() : this.tableRows;
    const { synapticEventsPerTrial: eventBudget, synapticEventsPerBrainSecond = 0 } = limits;
    const eventBudgetPerStep = synapticEventsPerBrainSecond / STEPS_PER_SECOND;
    const task: ConditionTask = {
      protocol: {
        inputs,
        silenced: NO_NEURONS,
        ...Object.assign({}, ...edited),
        ...this.networkAt(cell),
        durationSteps,
        ...(eventBudget !== Infinity && { eventBudget }),
        ...(eventBudgetPerStep * durationSteps > eventBudget && { eventBudgetPerStep }),
      },
      reports: read.map((report) => reportTask(report, durationMs, maxRows)),
      countsAll: grid.decidesOthers(cell),
    };
    return {
      cell,
      parameters: this.parametersOf(values),
      ...task,
      expected: expectedWork(task),
      ...(!cutsTables && { maxRows }),
      ...(Object.keys(preparation).length > 0 && { preparation }),
    };
  }
}

/** @throws CodedError INVALID_PARAMETER. Checked here and not in the document, because only the connectome tells the number of groups. */
function checkConditions({ axes, size, controls, matchedAxis }: Grid, limits: ExperimentLimits): void {
  const maximum = limits.conditions * (matchedAxis >= 0 ? MATCHED_CELLS : 1);
  if (size <= maximum) return;
  const factors = axes.map((axis) =>
    axis.kind === 'values' ? `${axis.values.length} values` : `${lengthOf(axis) - 1} groups + 1 without any`,
  );
  if (controls > 0) factors.push(`${controls} controls + 1`);
  const isProduct = factors.length > 1;
  throw tooManyConditions(
    maximum,
    BigInt(size),
    factors.map((factor) => (isProduct && factor.includes('+') ? `(${factor})` : factor)).join(' x '),
    axes.length > 0 ? 'sweep' : 'controls',
  );
}
