/** Work of the trials and the answer of a plan, as far as it is known before a trial has run. */
import { getOrInsert } from '../../get-or-insert.js';
import type { PlannedReport } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { expectedInputs } from './expected-inputs.js';
import type { ExperimentPlan } from './plan.js';
import { controlledReports, reportTask, windowOf } from './planned-reports.js';
import { addWork, recordedWork, type Work } from './prices.js';

/** Amounts that every answer has; the others are those of preparing edited networks. */
const NO_WORK = {
  brainMs: 0,
  trials: 0,
  trains: 0,
  inputEvents: 0,
  synapticEvents: 0,
  samples: 0,
  tableRows: 0,
  groups: 0,
  groupNumbers: 0,
};

/** Work of a condition that is run, or of a control: expected, or the most that a group of responders can cause. */
export interface ConditionCost {
  readonly durationMs: number;
  /** Before its first trial. */
  readonly preparation: Work;
  /** Work of each trial, but for what its reports record. */
  readonly trial: Required<Pick<Work, 'brainMs' | 'trials' | 'trains' | 'inputEvents' | 'synapticEvents'>>;
}

export class PlanCost {
  /** By the indices of the grid; undefined where a condition is its baseline and not run. */
  readonly conditions: readonly (ConditionCost | undefined)[];

  constructor(private readonly plan: ExperimentPlan) {
    const inputs = expectedInputs(plan);
    this.conditions = Array.from({ length: plan.grid.size }, (_, index) => {
      if (plan.isIdleAt(index)) return undefined;
      const { durationMs, places, inputs: settings } = plan.settingsAt(index);
      const trial = { brainMs: durationMs, trials: 1, trains: 0, inputEvents: 0, synapticEvents: 0 };
      inputs.forEach((input, at) => addWork(trial, input.workOf(input.neuronsAt(places), settings[at]!)));
      return { durationMs, trial, preparation: plan.preparationAt(index) };
    });
  }

  /**
   * Work of an answer that starts at a condition, at most. Spikes are not known, and of synaptic events only those that an
   * input is known to cause.
   * @param fromTrial the first trial of that condition
   * @param reports that it writes
   */
  work(from = 0, fromTrial = 0, reports = this.plan.reports): typeof NO_WORK & Work {
    const { grid, trials } = this.plan;
    const work = { ...NO_WORK };
    const first = grid.indexOf(from);
    const samplesAt = this.samplesOf(reports);
    for (const index of grid.neededFrom(from, controlledReports(reports).length > 0)) {
      const condition = this.conditions[index];
      if (condition === undefined) continue;
      const own = trials - (index === first ? grid.firstTrial(index, fromTrial) : 0);
      const samples = own * samplesAt(index);
      addWork(work, condition.trial, own);
      addWork(work, condition.preparation);
      work.samples += samples;
      work.tableRows += samples;
      if (index >= first && grid.controlOf(index) === 0) {
        addWork(work, this.writtenOf(grid.conditionOf(index), reports));
      }
    }
    return work;
  }

  /** Simulated time of all trials of a condition, or control, in ms. */
  brainMsOf(index: number): number {
    return (this.conditions[index]?.durationMs ?? 0) * this.plan.trials;
  }

  /** @returns membrane potentials that are recorded in one trial of a condition; none in its controls */
  samplesOf(reports: readonly PlannedReport[]): (index: number) => number {
    const known = new Map<number, number>();
    return (index) => {
      const condition = this.conditions[index];
      if (condition === undefined || this.plan.grid.controlOf(index) > 0) return 0;
      return getOrInsert(known, condition.durationMs, (ms) => {
        const tasks = reports.map((report) => reportTask(report, ms, Infinity));
        return recordedWork({ reports: tasks }).samples;
      });
    };
  }

  /** Work of writing a condition, but for the rows of tables: a number for each group, trial and bin, or control. */
  writtenOf(condition: number, reports = this.plan.reports): Required<Pick<Work, 'groups' | 'groupNumbers'>> {
    const { trials, grid } = this.plan;
    const { durationMs } = this.conditions[grid.indexOf(condition)]!;
    const written = { groups: 0, groupNumbers: 0 };
    for (const { document, groups } of reports) {
      const kind = groupKindOf(document);
      if (kind === undefined) continue;
      const further = kind.furtherNumbers?.(document, windowOf(document, durationMs)) ?? 0;
      written.groups += groups.count;
      written.groupNumbers += groups.count * (trials + further + (kind.controlled ? grid.controls : 0));
    }
    return written;
  }
}
