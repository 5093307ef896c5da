/** Compares a condition with its controls: the same condition in randomly rewired brains. */
import { getOrInsert } from '../../engine/get-or-insert.js';
import { meanSd, rounded } from '../kinds/mean-sd.js';
import type { Control } from '../kinds/report-answers.js';
import type { GroupCounts, GroupKind } from '../kinds/report-kind.js';
import type { Groups } from '../kinds/groups.js';
import type { ConditionCounts } from './condition-counts.js';

/**
 * Counts the other values that are at least as far from the mean of all values as the given one. Values are integers, and
 * distances are multiplied by the number of values; so nothing is rounded, and equal distances are equal.
 */
export function countAsFar(value: number, others: Float64Array): number {
  const sum = others.reduce((all, each) => all + each, value);
  const distance = (each: number) => Math.abs((1 + others.length) * each - sum);
  return others.reduce((count, each) => count + (distance(each) >= distance(value) ? 1 : 0), 0);
}

/**
 * The false discovery rate q of each p, after Benjamini and Hochberg (1995): the least, over all p that are not lower, of p
 * times the number of tests over the number of tests whose p is not higher.
 * @param counts the number of tests of each rank; a rank is p times the highest rank, from 1
 * @returns q for each rank
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
 * Compares a report in a condition with its controls, group by group. A control with a stopped trial counts as at least as far
 * from the mean, so p is never too small.
 * @param comparison that of the kind of the report
 * @param counts those of the report in the condition
 * @param controls the counts in each control, by ascending seed from 1; undefined if a trial was stopped, null if the control
 *   has the neurons of an earlier one and is not compared
 * @returns a function from a group to its comparison
 */
export function compareWithControls(
  comparison: NonNullable<GroupKind['controlled']>,
  groups: Groups,
  counts: GroupCounts,
  controls: readonly (GroupCounts | undefined | null)[],
  { spikes, stoppedAtStep }: ConditionCounts,
): (group: number) => Control {
  const trials = spikes.length;
  const isComplete = stoppedAtStep === undefined;
  const incomplete = controls.flatMap((control, at) => (control === undefined ? [at + 1] : []));
  const complete = controls.filter((control) => control !== undefined && control !== null);
  const compared = complete.length + incomplete.length;
  /** For each group with a spike: its total in the condition, then in each complete control. */
  const totals = new Map<number, Float64Array>();
  [counts, ...complete].forEach((each, at) => {
    const ofRows = comparison.totalsOf(each, trials);
    each.groups.forEach((group, row) => {
      const ofGroup = getOrInsert(totals, group, () => new Float64Array(1 + complete.length));
      ofGroup[at] = ofRows[row]!;
    });
  });
  const silent = new Float64Array(1 + complete.length);
  const ofAll = 1 + compared;
  const rankOf = (ofGroup: Float64Array) =>
    1 + incomplete.length + countAsFar(ofGroup[0]!, ofGroup.subarray(1));
  const tests = new Uint32Array(1 + ofAll);
  for (const ofGroup of totals.values()) tests[rankOf(ofGroup)]!++;
  // Groups that are silent everywhere: all their totals are equal, so they have the highest rank.
  tests[ofAll]! += groups.count - totals.size;
  const qOfRank = falseDiscoveryRates(tests);
  return (group) => {
    const ofGroup = totals.get(group) ?? silent;
    // Divides a total, to convert it into the unit of the measure.
    const unit = comparison.unitOf(groups.sizes[group]!, counts, trials);
    const inControls = ofGroup.subarray(1);
    const { mean, sd } = meanSd(inControls);
    const rank = rankOf(ofGroup);
    let next = 0;
    return {
      mean: complete.length > 0 ? rounded(mean / unit) : null,
      sd: complete.length > 0 ? rounded(sd / unit) : null,
      values: controls.map((control) => (control ? rounded(inControls[next++]! / unit) : null)),
      incomplete,
      ...(compared < controls.length && { compared }),
      p: isComplete ? rank / ofAll : null,
      q: isComplete ? qOfRank[rank]! : null,
    };
  };
}
