/**
 * A document on a connectome, ready to be run: which conditions there are, what each of their trials is, what they
 * cost. Nothing is simulated here, and whatever is refused is refused here.
 */
import type { Connectome } from '../../connectome/connectome.js';
import type { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import { getOrInsert } from '../../get-or-insert.js';
import { type InParts, withoutPauses } from '../../parts.js';
import type { ExperimentDocument } from '../document/document.js';
import { invalid } from '../../schema/json-path.js';
import { tooManyConditions } from '../document/parse-sweep.js';
import { axisKindOf } from '../kinds/axis-kinds.js';
import { EDIT_KINDS, type EditedProtocol, type EditKind, type PlannedEdit } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import type { PlannedReport, ReportTask } from '../kinds/report-kind.js';
import { eventKindOf, groupKindOf } from '../kinds/report-kinds.js';
import { sharedArray } from '../kinds/shared-array.js';
import { type NetworkConstants, type Rewiring, STEPS_PER_MS } from '../../stimulus/protocol.js';
import { stepsOf } from '../document/fields.js';
import type { ConditionParameters, DryRun, ExperimentHead, ExperimentWarning } from '../run/result.js';
import {
  plannedInputs,
  settingsAt,
  type PlannedInput,
  type Settings,
  valuesAt,
} from './condition-settings.js';
import { citationsOf, experimentHead } from './experiment-head.js';
import type { ExperimentLimits } from './experiment-limits.js';
import { groupsOf } from './groups.js';
import { expectedRows, PlanCost, reportTask } from './plan-cost.js';
import { preparationOf, type Work } from './prices.js';
import { resolveDocument, type ResolvedDocument } from './resolve-document.js';
import { Grid, lengthOf, valueAt, type Axis, type AxisValue } from './sweep.js';
import type { ConditionInput, ConditionProtocol } from './trial.js';
import { warningsBefore } from './warnings.js';

const NO_NEURONS = new Uint32Array(0);
const STEPS_PER_SECOND = 1000 * STEPS_PER_MS;

/** A condition as it is run. Its arrays lie in shared memory and are the same in all its trials. */
export interface Condition extends ConditionParameters {
  readonly durationMs: number;
  readonly protocol: ConditionProtocol;
  readonly reports: readonly ReportTask[];
  /** Rows that all tables of a trial return at most; by default as many as their reports say. */
  readonly maximumRows?: number;
  readonly preparation?: Work;
}

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
  const grid = new Grid(axesOf(connectome, document, resolved), document.controls?.count);
  checkConditions(grid, limits);
  const { neurons } = resolved;
  const edits: (readonly [name: string, edit: PlannedEdit])[] = [];
  for (const [name, kind] of Object.entries(EDIT_KINDS) as [keyof typeof EDIT_KINDS, EditKind][]) {
    const isRewired = edits.some(([, edit]) => edit.rewiringIn !== undefined);
    edits.push([name, yield* kind.planned({ connectome, grid, neurons, isRewired }, document[name])]);
  }
  return new ExperimentPlan(connectome, document, resolved, limits, grid, edits);
}

export class ExperimentPlan {
  readonly head: ExperimentHead;
  readonly trials: number;
  readonly inputs: readonly PlannedInput[];
  /** In the order of the document. */
  readonly inputNames: readonly string[];
  /** In the order of the document. */
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
    /** By the members of the document. */
    private readonly edits: readonly (readonly [name: string, edit: PlannedEdit])[],
  ) {
    const isRewired = edits.some(([, edit]) => edit.rewiringIn !== undefined);
    const facts = edits.flatMap(([name, edit]) => (edit.resolved ? [[name, edit.resolved] as const] : []));
    const allResolved = { ...resolved.sets, ...(Object.fromEntries(facts) as object) };
    this.head = experimentHead(connectome, document, allResolved, isRewired);
    this.trials = document.trials;
    this.inputs = plannedInputs(document, resolved, this.grid);
    this.inputNames = this.inputs.map(({ name }) => name);
    this.reports = plannedReports(connectome, document, resolved);
    this.cost = new PlanCost(connectome, this);
    this.cost.check(limits);
    this.warnings = warningsBefore(connectome, resolved, { ...this, isRewired });
    this.cite = citationsOf(connectome, resolved.sources);
  }

  readonly settingsAt = (index: number): Settings => settingsAt(index, this.document, this.inputs, this.grid);

  /** Constants of a condition that differ from those of the model. */
  readonly constantsAt = (index: number): Partial<NetworkConstants> => {
    const settings = this.settingsAt(index);
    return Object.assign({}, ...this.edits.map(([, edit]) => edit.constantsIn?.(settings)));
  };

  /** The wiring of a condition, or control, where it is not that of the model. */
  readonly rewiringAt = (index: number): Rewiring | undefined => {
    const { edits, grid } = this;
    const [own] = edits.flatMap(([, edit]) => edit.rewiringIn?.({ valueOf: valuesAt(index, grid) }) ?? []);
    const { controls } = this.document;
    const seed = grid.controlOf(index);
    return controls === undefined || seed === 0 ? own : { ...own, shuffle: controls.shuffle, seed };
  };

  /** Connections of the model that the overrides of a condition, or control, name, at most. */
  readonly pairsAt = (index: number): number => {
    const places = this.grid.placesOf(index);
    return this.edits.reduce((sum, [, edit]) => sum + (edit.pairsAt?.(places) ?? 0), 0);
  };

  /** Work of a worker before the first trial of a condition, or control, at most. */
  readonly preparationAt = (index: number): Work =>
    preparationOf(this.pairsAt(index), this.rewiringAt(index) ? this.connectome.connectionCount : 0);

  /**
   * Tells whether a condition is its baseline, because edits by its groups change nothing.
   * @param values on the axes, once all groups are known
   */
  readonly isIdleAt = (index: number, values?: readonly AxisValue[]): boolean => {
    const places = this.grid.placesOf(index);
    return this.edits.some(([, edit]) => edit.isIdleAt?.(places, values) === true);
  };

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
    if (this.grid.controlOf(index) === 0) return reports;
    return reports.filter(({ document }) => groupKindOf(document)?.controlled !== undefined);
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
    return {
      ...this.head,
      conditions,
      unchanged,
      cost: {
        brain_seconds: this.cost.brainSeconds(from),
        input_events: Math.round(this.cost.inputEvents(from)),
        ...expectedRows(this.connectome, this, from),
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
    const inputs = this.inputs.map((planned, at): ConditionInput => {
      const swept = groupOf(`inputs.${planned.name}`);
      const own = swept === undefined ? planned : { ...planned, neurons: sharedArray(swept ?? NO_NEURONS) };
      const train = inputKindOf(planned.input).trainOf(connectome, { ...own, ...settings[at]!, seed });
      return { neurons: own.neurons, train };
    });
    const edited: EditedProtocol[] = this.edits.map(
      ([, edit]) => edit.protocolIn?.({ durationMs, valueOf, groupOf }) ?? {},
    );
    const constants = this.constantsAt(index);
    const wiring = this.rewiringAt(index);
    const preparation = this.preparationAt(index);
    const durationSteps = stepsOf(durationMs);
    const maximumRows = cutsTables ? this.rowsOfTable() : this.tableRows;
    const reports = read.map((report) => reportTask(report, durationMs, maximumRows));
    const { synapticEventsPerTrial: eventBudget, synapticEventsPerBrainSecond = 0 } = limits;
    const eventBudgetPerStep = synapticEventsPerBrainSecond / STEPS_PER_SECOND;
    return {
      index,
      parameters: this.parametersOf(values),
      durationMs,
      reports,
      protocol: {
        inputs,
        silenced: NO_NEURONS,
        ...Object.assign({}, ...edited),
        ...(Object.keys(constants).length > 0 && { constants }),
        ...(wiring && { wiring }),
        durationSteps,
        ...(eventBudget !== Infinity && { eventBudget }),
        ...(eventBudgetPerStep * durationSteps > eventBudget && { eventBudgetPerStep }),
      },
      ...(!cutsTables && { maximumRows }),
      ...(Object.keys(preparation).length > 0 && { preparation }),
    };
  }
}

/** Reports that read the same groups of the same neurons share their arrays. */
function plannedReports(
  connectome: Connectome,
  { reports }: ExperimentDocument,
  { neurons: resolved }: ResolvedDocument,
): PlannedReport[] {
  const known = new Map<string, Pick<PlannedReport, 'neurons' | 'groups' | 'groupOfNeuron'>>();
  return Object.entries(reports).map(([name, document]) => {
    const read = getOrInsert(known, JSON.stringify([document.node_set, document.group_by]), () => {
      const neurons = sharedArray(resolved.get(`reports.${name}`)!);
      const groups = groupsOf(connectome, neurons, document.group_by);
      return { neurons, groups, groupOfNeuron: sharedArray(groups.ofPlaces) };
    });
    return { name, document, ...read };
  });
}

/** @throws CodedError INVALID_PARAMETER */
function axesOf(
  connectome: Connectome,
  { sweep = [] }: ExperimentDocument,
  { neurons }: ResolvedDocument,
): Axis[] {
  const path = ['sweep'];
  return sweep.map((axis, at) =>
    axisKindOf(axis).planned(connectome, axis, neurons.get(`sweep.${at}`), [...path, at]),
  );
}

/** @throws CodedError INVALID_PARAMETER; how many groups there are, only the connectome says */
function checkConditions({ axes, size, controls }: Grid, limits: ExperimentLimits): void {
  if (size <= limits.conditions) return;
  const factors = axes.map((axis) => {
    const length = lengthOf(axis);
    if (axis.kind === 'values') return `${length} values`;
    const groups = `${length - 1} groups + 1 without any`;
    return axes.length > 1 ? `(${groups})` : groups;
  });
  if (controls > 0)
    factors.push(`${factors.length > 0 ? '(' : ''}${controls} controls + 1${factors.length > 0 ? ')' : ''}`);
  throw tooManyConditions(
    limits.conditions,
    BigInt(size),
    factors.join(' x '),
    axes.length > 0 ? 'sweep' : 'controls',
  );
}
