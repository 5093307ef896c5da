/** Parts of an answer for the table and the plots of the command line, gathered while it arrives. */
import type { ExperimentDocument } from '../../experiments/document/document.js';
import type { SweepAxis } from '../../experiments/kinds/axis-kinds.js';
import type { Measure } from '../../experiments/kinds/report-kind.js';
import type {
  ConditionParameters,
  ConditionResult,
  EventTable,
  ExperimentHead,
  ExperimentTotals,
  GroupResult,
} from '../../experiments/run/result.js';
import type { MeanSd } from '../../mean-sd.js';
import { SIDES } from '../../connectome/connectome.js';
import type { Findings, FoundCondition } from '../../experiments/figures/figure-kind.js';
import { measureOf } from '../../experiments/figures/report-figures.js';
import type { LabelledNeurons } from '../../experiments/formats/tables.js';
import { groupSuffix, valueLabel } from '../../experiments/figures/condition-labels.js';

export interface CollectedAnswer {
  readonly head: ExperimentHead;
  /** Tables of events are those of the first conditions. */
  readonly conditions: readonly FoundCondition[];
  readonly totals: ExperimentTotals;
}

/** The part that figures show. */
export function findingsOf(
  { head, conditions, totals }: CollectedAnswer,
  { metadata, typeIndices, sides }: LabelledNeurons,
): Findings {
  return {
    head,
    conditions,
    unchanged: totals.unchanged.length,
    labelOf: (neuron) =>
      `${metadata.types[typeIndices[neuron]!]!.name || 'untyped'} ${SIDES[sides[neuron]!]!}`.trim(),
  };
}

/** @param keepsTables whether its tables of events are kept */
export function foundCondition(
  { reports, ...condition }: ConditionResult,
  keepsTables: boolean,
): FoundCondition {
  const groups: Record<string, readonly GroupResult[]> = {};
  const tables: Record<string, EventTable> = {};
  for (const [name, report] of Object.entries(reports)) {
    if (!('table' in report)) groups[name] = [...report];
    else if (keepsTables) tables[name] = report;
  }
  return { ...condition, groups, tables };
}

/** The name of a swept parameter or of the axis of groups, as `parameters` of a condition has it. */
export function parameterOf(axis: SweepAxis): string {
  return 'set' in axis ? axis.set : axis.as;
}

/** The axis of a screen, where the sweep is nothing else. */
export function screenOf({ sweep = [] }: ExperimentDocument): SweepAxis | undefined {
  const [axis] = sweep;
  return sweep.length === 1 && axis !== undefined && 'each' in axis ? axis : undefined;
}

/** `inputs.sugar.rate_hz=100, silence=CB0889`; empty without a sweep. */
export function parametersText({ parameters }: ConditionParameters): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${valueLabel(value)}`)
    .join(', ');
}

/** A group of a report in all conditions. Groups of a report are the same in each. */
export interface Series {
  /** `mn9 left` */
  readonly name: string;
  readonly report: string;
  readonly measure: Measure;
  /** Place in the report. */
  readonly group: number;
}

export function seriesOf({ head, conditions }: CollectedAnswer): Series[] {
  return Object.entries(conditions[0]?.groups ?? {}).flatMap(([report, groups]) => {
    const measure = measureOf(head.experiment, report);
    return groups.map((each, group) => ({
      name: `${report} ${groupSuffix(each)}`.trim(),
      report,
      measure,
      group,
    }));
  });
}

/** @returns null where the group has no number */
export function valueIn(condition: FoundCondition, { report, measure, group }: Series): MeanSd | null {
  return measure.of(condition.groups[report]![group]!);
}
