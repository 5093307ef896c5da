/** Rates beside those of controls: how far a condition is from itself in brains that were rewired by chance. */
import { getOrInsert } from '../../get-or-insert.js';
import { meanSd } from '../../mean-sd.js';
import type { Control } from '../kinds/report-answers.js';
import type { GroupCounts, GroupKind } from '../kinds/report-kind.js';
import { rounded } from '../kinds/rounded.js';
import type { Groups } from '../plan/groups.js';
import type { ConditionCounts } from './condition-counts.js';

/**
 * The number of other values that are at least as far from the mean of all as one of them. They are whole, and
 * scaled by how many they are, so that nothing is rounded and equal distances are equal.
 */
export function countAsFar(value: number, others: Float64Array): number {
  const sum = others.reduce((all, each) => all + each, value);
  const distance = (each: number) => Math.abs((1 + others.length) * each - sum);
  return others.reduce((count, each) => count + (distance(each) >= distance(value) ? 1 : 0), 0);
}

/**
 * The false discovery rate q of each p, after Benjamini and Hochberg (1995): the least, over all p that are not lower, of p
 * times the number of tests over the number of tests whose p is not higher.
 * @param counts how many tests have each rank: p times the highest rank, from 1 on
 * @returns q of each rank
 */
export function falseDiscoveryRates(counts: Uint32Array): Float64Array {
  const highest = counts.length - 1;
  const tests = counts.reduce((sum, count) => sum + count, 0);
  const rates = new Float64Array(counts.length);
  let notHigher = tests;
  let least = 1;
  for (let rank = highest; rank > 0; rank--) {
    if (counts[rank]! > 0) least = Math.min(least, (rank * tests) / (highest * notHigher));
    rates[rank] = least;
    notHigher -= counts[rank]!;
  }
  return rates;
}

/**
 * Compares a report in a condition with its controls, group by group. A control in which a trial was stopped counts as one
 * that is as far from the mean: so p is never too small.
 * @param comparison of the kind of the report
 * @param counts in the condition
 * @param controls the same in its controls, in the order of their seeds, from 1 on; undefined where a trial was stopped
 * @returns what controls say of each group
 */
export function compareWithControls(
  comparison: NonNullable<GroupKind['controlled']>,
  groups: Groups,
  counts: GroupCounts,
  controls: readonly (GroupCounts | undefined)[],
  { spikes, stoppedAtStep }: ConditionCounts,
): (group: number) => Control {
  const trials = spikes.length;
  const isComplete = stoppedAtStep === undefined;
  const incomplete = controls.flatMap((control, at) => (control === undefined ? [at + 1] : []));
  const complete = controls.filter((control) => control !== undefined);
  /** Totals of groups that spiked in the condition or in any complete control: of the condition, then of the controls. */
  const totals = new Map<number, Float64Array>();
  [counts, ...complete].forEach((each, at) => {
    const ofRows = comparison.totalsOf(each, trials);
    each.groups.forEach((group, row) => {
      const ofGroup = getOrInsert(totals, group, () => new Float64Array(1 + complete.length));
      ofGroup[at] = ofRows[row]!;
    });
  });
  const silent = new Float64Array(1 + complete.length);
  const ofAll = 1 + controls.length;
  const rankOf = (ofGroup: Float64Array) =>
    1 + incomplete.length + countAsFar(ofGroup[0]!, ofGroup.subarray(1));
  const tests = new Uint32Array(1 + ofAll);
  for (const ofGroup of totals.values()) tests[rankOf(ofGroup)]!++;
  // Groups that are silent everywhere: all totals are equally far from the mean.
  tests[ofAll]! += groups.count - totals.size;
  const qOfRank = falseDiscoveryRates(tests);
  return (group) => {
    const ofGroup = totals.get(group) ?? silent;
    // Divides a total to have the unit of the measure.
    const unit = comparison.unitOf(groups.sizes[group]!, counts, trials);
    const inControls = ofGroup.subarray(1);
    const { mean, sd } = meanSd(inControls);
    const rank = rankOf(ofGroup);
    let next = 0;
    return {
      mean: complete.length > 0 ? rounded(mean / unit) : null,
      sd: complete.length > 0 ? rounded(sd / unit) : null,
      values: controls.map((control) => (control === undefined ? null : rounded(inControls[next++]! / unit))),
      incomplete,
      p: isComplete ? rank / ofAll : null,
      q: isComplete ? qOfRank[rank]! : null,
    };
  };
}
