/** How the laboratory calls groups and rates, for people. */
import type { GroupResult, ParameterValue } from '../../../answers/v2/result.js';

/** What a group of a report is called; `all` where its neurons are one group. */
export function groupLabel({
  root_id: rootId,
  type,
  side,
  super_class: superClass,
}: Partial<GroupResult>): string {
  const labels = [rootId, type, side, superClass].filter((label) => label !== undefined);
  return labels.length === 0 ? 'all' : labels.map((label) => label || 'untyped').join(' ');
}

/** The value of a parameter in a condition; `none` in the baseline of a screen. */
export function valueLabel(value: ParameterValue): string {
  if (value === null) return 'none';
  return typeof value === 'number' ? String(value) : groupLabel(value);
}

/** A rate as people read it. */
export function rounded(rateHz: number): string {
  if (rateHz === 0) return '0';
  // Mean rates of many neurons are low.
  if (rateHz < 0.1) return String(Number(rateHz.toPrecision(1)));
  return rateHz.toFixed(rateHz >= 99.95 ? 0 : 1);
}
