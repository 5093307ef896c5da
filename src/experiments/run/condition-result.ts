/** From what was counted in a condition to what an answer says of it. */
import { STEPS_PER_MS } from '../../stimulus/protocol.js';
import type { GroupCounts, GroupValues, PlannedReport } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { roundedMeanSd } from '../kinds/rounded.js';
import type { Groups } from '../plan/groups.js';
import type { Control } from '../kinds/report-answers.js';
import { compareWithControls } from './controls.js';
import type { ConditionResult, GroupResult, GroupResults } from './result.js';
import type { ConditionCounts } from './condition-counts.js';

/** @param reports of the plan  @param controls of the condition, in their order */
export function conditionResult(
  counts: ConditionCounts,
  reports: readonly Pick<PlannedReport, 'name' | 'document' | 'groups'>[],
  controls: readonly ConditionCounts[] = [],
): ConditionResult {
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
        const place = controlled.indexOf(planned);
        const inControls = controls.map(({ reports: of, stoppedAtStep: stopped }) =>
          stopped === undefined ? (of[place] as GroupCounts) : undefined,
        );
        const hasControls = place >= 0 && controls.length > 0;
        const control = hasControls
          ? compareWithControls(kind.controlled!, groups, report, inControls, counts)
          : undefined;
        return [name, new CountedGroups(groups, report, values, complete, control)];
      }),
    ),
  };
}

/**
 * The groups of a report, each made when it is asked for: a report of a whole brain by neuron has more of them than
 * should be made at once, and nobody needs all of them at a time. Nearly all of its groups are silent: they share what
 * is said of them.
 */
class CountedGroups implements GroupResults {
  readonly length: number;
  /** 1 more than the row of each group; 0 of a group without a spike. */
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
