/** How the laboratory calls parameters and groups, for people. */
import type { GroupResult, ParameterValue } from '../../../answers/v2/result.js';

const INPUT_MEMBERS: Readonly<Record<string, (input: string) => string>> = {
  rate_hz: (input) => `Rate of ${input} (Hz)`,
  delay_ms: (input) => `Start of ${input} (ms)`,
  duration_ms: (input) => `Window of ${input} (ms)`,
};
const DOCUMENT_MEMBERS: Readonly<Record<string, string>> = {
  duration_ms: 'Duration of a trial (ms)',
  seed: 'Seed',
};

/** @param parameter as a sweep names it: `inputs.sugar.rate_hz` */
export function parameterLabel(parameter: string): string {
  const [, input, member] = /^inputs\.([^.]+)\.(\w+)$/.exec(parameter) ?? [];
  return (input && INPUT_MEMBERS[member!]?.(input)) || (DOCUMENT_MEMBERS[parameter] ?? parameter);
}

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
  return rateHz.toFixed(rateHz >= 99.95 ? 0 : 1);
}
