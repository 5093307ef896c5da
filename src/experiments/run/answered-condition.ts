/** Turns the counts of a condition and its controls into the condition of an answer. */
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { GroupCounts, GroupValues, PlannedReport } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { roundedMeanSd } from '../kinds/mean-sd.js';
import type { Groups } from '../kinds/groups.js';
import type { Control } from '../kinds/report-answers.js';
import { compareWithControls } from './controls.js';
import type { AnsweredCondition } from '../document/result.js';
import type { GroupResult, GroupResults } from '../kinds/result-rows.js';
import type { ConditionCounts } from './condition-counts.js';

/** @param reports of the plan  @param controls of the condition, in their order; undefined if one has the neurons of the group or of an earlier one */
export function answeredCondition(
  counts: ConditionCounts,
  reports: readonly Pick<PlannedReport, 'name' | 'document' | 'groups'>[],
  controls: readonly (ConditionCounts | undefined)[] = [],
): AnsweredCondition {
  const { index, parameters, stoppedAtStep } = counts;
  const controlled = reports.filter(({ document }) => groupKindOf(document)?.controlled);
  const complete = stoppedAtStep === undefined;
  return {
    index,
    parameters,
    complete,
    ...(!complete && {
      // The end of the last step that was simulated.
      stopped_at_ms: (stoppedAtStep + 1) / STEPS_PER_MS,
      reason: 'EVENT_BUDGET',
    }),
    spikes: complete ? roundedMeanSd(counts.spikes) : null,
    responding_neurons: complete ? roundedMeanSd(counts.responding) : null,
    responding_any: complete ? counts.respondingInAny : null,
    synaptic_events: counts.synapticEvents,
    reports: Object.fromEntries(
      reports.map((planned, at) => {
        const { name, document, groups } = planned;
        const report = counts.reports[at]!;
        if ('table' in report) return [name, report];
        const kind = groupKindOf(document)!;
        const values = kind.valuesOf(report, counts.spikes.length);
        const position = controlled.indexOf(planned);
        const inControls = Array.from(controls, (each) => {
          if (each === undefined) return null;
          return each.stoppedAtStep === undefined ? (each.reports[position] as GroupCounts) : undefined;
        });
        const hasControls = position >= 0 && controls.length > 0;
        const control = hasControls
          ? compareWithControls(kind.controlled!, groups, report, inControls, counts)
          : undefined;
        return [name, new CountedGroups(groups, report, values, complete, control)];
      }),
    ),
  };
}

/**
 * The groups of a report. Each is made on demand, because a report of a whole brain by neuron has more groups than memory
 * should hold at once. Silent groups, which are nearly all, share one object of values.
 */
class CountedGroups implements GroupResults {
  readonly length: number;
  /** The row of each group plus 1; 0 for a group without a spike. */
  readonly #rowOf: Uint32Array;

  constructor(
    private readonly groups: Groups,
    counts: GroupCounts,
    private readonly values: GroupValues<object>,
    private readonly complete: boolean,
    private readonly control: ((group: number) => Control) | undefined,
  ) {
    this.length = groups.count;
    this.#rowOf = new Uint32Array(groups.count);
    counts.groups.forEach((group, row) => (this.#rowOf[group] = row + 1));
  }

  at(group: number): GroupResult | undefined {
    if (group >= this.length) return undefined;
    const neurons = this.groups.sizes[group]!;
    const control = this.control && { control: this.control(group) };
    return { ...this.groups.labelsOf(group), neurons, ...this.#valuesOf(group, neurons), ...control };
  }

  *[Symbol.iterator](): Generator<GroupResult, void, void> {
    for (let group = 0; group < this.length; group++) yield this.at(group)!;
  }

  toJSON(): readonly GroupResult[] {
    return [...this];
  }

  #valuesOf(group: number, neurons: number): object {
    if (!this.complete) return this.values.stopped;
    const row = this.#rowOf[group]!;
    return row === 0 ? this.values.silent : this.values.of(row - 1, neurons);
  }
}
