/** Estimates the work of the trials and of the answer of a plan before any trial runs. */
import { getOrInsert } from '../../engine/get-or-insert.js';
import { MAX_WHOLE_TRIAL_STEPS, STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { expectedInputs, largestGroup } from './expected-inputs.js';
import type { ExperimentPlan } from './plan.js';
import { controlledReports, reportTask, windowOf } from './planned-reports.js';
import { addWork, NO_WORK, recordedWork, type Work } from './prices.js';

/** Indexing the neurons by a label for a baseline takes as long as drawing this share of them. */
const INDEXED_SHARE = 1 / 16;

type ConditionCost = ReturnType<typeof costOf>;

type WrittenWork = Required<Pick<Work, 'groups' | 'groupNumbers' | 'matchedNeurons'>>;

export class PlanCost {
  /** By cell; undefined if the cell is not run, because its result is the baseline's. */
  readonly conditions: readonly (ConditionCost | undefined)[];
  /** Size of the largest group of responders. */
  #largest: number | undefined;

  constructor(private readonly plan: ExperimentPlan) {
    const inputs = expectedInputs(plan);
    const { grid } = plan;
    const conditions: (ConditionCost | undefined)[] = [];
    for (let cell = 0; cell < grid.size; cell++) {
      const control = grid.controlOf(cell);
      // Controls with other neurons cost as much as their condition. There may be hundreds of thousands.
      const isMatched = grid.matchedAxis >= 0 && control > 0;
      if (isMatched) conditions.push(grid.isUsed(cell) ? conditions[cell - control] : undefined);
      else conditions.push(plan.isIdleAt(cell) ? undefined : costOf(plan, cell, inputs));
    }
    this.conditions = conditions;
  }

  /**
   * Upper bound on the work of an answer that starts at a condition. Spikes are unknown, so they are left out; so are synaptic
   * events, except those that an input is known to cause.
   * @param fromTrial the first trial of that condition
   * @param reports those that the answer has
   */
  work(from = 0, fromTrial = 0, reports = this.plan.reports): Required<Work> {
    const { grid, trials } = this.plan;
    const work = { ...NO_WORK };
    const first = grid.cellOf(from);
    const samplesAt = this.samplesOf(reports);
    for (const cell of grid.neededFrom(from, controlledReports(reports).length > 0)) {
      const condition = this.conditions[cell];
      if (condition === undefined) continue;
      const trialsOfCell = trials - (cell === first ? grid.firstTrial(cell, fromTrial) : 0);
      const samples = trialsOfCell * samplesAt(cell);
      addWork(work, condition.trial, trialsOfCell);
      addWork(work, condition.preparation);
      work.samples += samples;
      work.tableRows += samples;
      if (cell >= first && grid.controlOf(cell) === 0) {
        addWork(work, this.writtenOf(grid.conditionOf(cell), reports));
      }
    }
    return work;
  }

  /** Simulated time of all trials of a cell, in ms. */
  brainMsOf(cell: number): number {
    return (this.conditions[cell]?.durationMs ?? 0) * this.plan.trials;
  }

  /** @returns a function from a cell to the number of recorded membrane potentials in one trial; controls record none */
  samplesOf(reports: readonly PlannedReport[]): (cell: number) => number {
    const known = new Map<number, number>();
    return (cell) => {
      const condition = this.conditions[cell];
      if (condition === undefined || this.plan.grid.controlOf(cell) > 0) return 0;
      return getOrInsert(known, condition.durationMs, (ms) => {
        const tasks = reports.map((report) => reportTask(report, ms, Infinity));
        return recordedWork({ reports: tasks }).samples;
      });
    };
  }

  /**
   * Work of drawing the controls of a condition, and of writing it without rows of tables: for each group a number for
   * each trial, bin and control.
   */
  writtenOf(condition: number, reports = this.plan.reports): WrittenWork {
    const { trials, grid } = this.plan;
    const controls = grid.controlsOf(condition);
    const { durationMs } = this.conditions[grid.cellOf(condition)]!;
    const written = { groups: 0, groupNumbers: 0, matchedNeurons: this.#matchedNeurons(condition, reports) };
    for (const { document, groups } of reports) {
      const kind = groupKindOf(document);
      if (kind === undefined) continue;
      const further = kind.furtherNumbers?.(document, windowOf(document, durationMs)) ?? 0;
      written.groups += groups.count;
      written.groupNumbers += groups.count * (trials + further + (kind.controlled ? controls : 0));
    }
    return written;
  }

  /** Upper bound; in a baseline, the price of the index. */
  #matchedNeurons(condition: number, reports: readonly PlannedReport[]): number {
    const { grid, connectome, controls } = this.plan;
    const axis = grid.axes[grid.matchedAxis];
    if (axis === undefined || axis.kind === 'values') return 0;
    const { match = [], only } = controls!;
    const drawn = only !== undefined ? 1 : controlledReports(reports).length > 0 ? grid.controls : 0;
    if (drawn === 0) return 0;
    const group = grid.coordinatesOf(grid.cellOf(condition))[grid.matchedAxis]!;
    if (group === 0) return INDEXED_SHARE * connectome.neuronCount * (1 + match.length);
    if (axis.kind === 'groups') return drawn * axis.groups.sizes[group - 1]!;
    return drawn * (this.#largest ??= largestGroup(connectome, axis));
  }
}

/** Expected work of a cell; an upper bound if responders decide its groups. */
function costOf(plan: ExperimentPlan, cell: number, ofInputs: ReturnType<typeof expectedInputs>) {
  const { durationMs, coordinates, inputs: settings } = plan.settingsAt(cell);
  const events = { inputEvents: 0, hiddenEvents: 0, synapticEvents: 0 };
  /** Work of each trial, without recordings. */
  const trial = { brainMs: durationMs, trials: 1, trains: 0, ...events };
  const isWhole = durationMs * STEPS_PER_MS <= MAX_WHOLE_TRIAL_STEPS;
  ofInputs.forEach((input, at) => {
    const { redrawnEvents = 0, ...work } = input.workOf(input.neuronsAt(coordinates), settings[at]!);
    addWork(trial, work);
    if (!isWhole) trial.hiddenEvents += redrawnEvents;
  });
  /** Work before the first trial. */
  const preparation = plan.preparationAt(cell);
  return { durationMs, trial, preparation };
}
