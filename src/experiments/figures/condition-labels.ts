/** Short texts for parameters, values, trials and groups, used in figures and on the page. */
import type { ExperimentDocument } from '../document/document.js';
import { GROUP_LABELS } from '../kinds/fields.js';
import { axisKindOf, parameterOf } from '../kinds/axis-kinds.js';
import { editKindOf, sweptNumbers } from '../kinds/edit-kinds.js';
import type { Control } from '../kinds/report-answers.js';
import { type GroupLabels, labelMember } from '../kinds/groups.js';
import type { GroupResult, ParameterValue } from '../kinds/result-rows.js';
import { chanceText, counted } from './figure.js';
import { own } from '../../engine/own.js';

const INPUT_MEMBERS: Readonly<Record<string, (input: string) => string>> = {
  rate_hz: (input) => `Rate of ${input} (Hz)`,
  scale: (input) => `Scale of ${input}`,
  event_mv: (input) => `Event of ${input} (mV)`,
  delay_ms: (input) => `Start of ${input} (ms)`,
  duration_ms: (input) => `Window of ${input} (ms)`,
};
const DOCUMENT_MEMBERS: Readonly<Record<string, string>> = {
  duration_ms: 'Duration of a trial (ms)',
  seed: 'Seed',
};

const WITH_UNIT = /^(.*) \((\w+)\)$/;

/** @param parameter the name in a sweep, such as `inputs.sugar.rate_hz` */
export function parameterLabel(parameter: string): string {
  const [, input, member] = /^inputs\.([^.]+)\.(\w+)$/.exec(parameter) ?? [];
  return (
    (input && own(INPUT_MEMBERS, member!)?.(input)) ||
    (own(DOCUMENT_MEMBERS, parameter) ?? numberLabel(parameter))
  );
}

/** A number of an edit: `Weight of direct`, `Synapse (mV)`. */
function numberLabel(parameter: string): string {
  const [edit, ...path] = parameter.split('.');
  const member = path.pop();
  if (
    member === undefined ||
    own(sweptNumbers({ [edit!]: { [path[0] ?? '']: {} } }), parameter) === undefined
  ) {
    return parameter;
  }
  const [, name, unit] = /^(.*?)(?:_(mv|ms))?$/.exec(member)!;
  const words = name!.charAt(0).toUpperCase() + name!.slice(1).replaceAll('_', ' ');
  const what =
    path.length > 0 ? `${words} of ${path.join('.')}` : edit === 'wiring' ? `${words} of the wiring` : words;
  return unit === undefined ? what : `${what} (${unit.replace('v', 'V')})`;
}

/** The name of a group: `LC4 left`; `all` if all neurons are one group. */
export function groupLabel(group: GroupLabels): string {
  return groupSuffix(group) || 'all';
}

/** The same after the name of a report; empty if all neurons are one group. */
export function groupSuffix(group: GroupLabels): string {
  return GROUP_LABELS.map((label) => group[labelMember(label)])
    .filter((label) => label !== undefined)
    .map((label) => label || 'untyped')
    .join(' ');
}

/** Adds the cell type to a neuron that has only its root id, which says nothing to a reader unless it begins with the type. */
export function withType<L extends GroupLabels>(
  labels: L,
  typeOf: (rootId: string) => string | undefined,
): L {
  const { root_id: id, type } = labels;
  const known = id === undefined || type !== undefined ? undefined : typeOf(id);
  if (known === undefined || (known !== '' && id!.startsWith(known))) return labels;
  return { ...labels, type: known };
}

/** The same for the value of a parameter. */
export function namedValue(
  value: ParameterValue,
  typeOf: (rootId: string) => string | undefined,
): ParameterValue {
  return value === null || typeof value === 'number' ? value : withType(value, typeOf);
}

/** True if a report or axis has groups of single neurons without their types. */
export function namesOnlyIds({ reports, sweep = [] }: ExperimentDocument): boolean {
  const groupings = [
    ...Object.values(reports).map(({ group_by: labels }) => labels),
    ...sweep.map((axis) => axisKindOf(axis).labelsOf?.(axis) ?? []),
  ];
  return groupings.some((labels) => labels.includes('neuron') && !labels.includes('type'));
}

/** The controls of a group in a few characters; empty if it has none. */
export function controlText(group: GroupResult): string {
  const { control } = group as { readonly control?: Control };
  if (control === undefined || control.mean === null || control.sd === null) return '';
  const chance = control.q === null ? '' : `, p ${chanceText(control.p)}, q ${chanceText(control.q)}`;
  return `controls ${control.mean.toFixed(2)} ± ${control.sd.toFixed(2)}${chance}`;
}

/** Says which numbers the correction of q covers. */
export function scopeOfQ({ sweep = [] }: ExperimentDocument): string {
  const not = sweep.length === 0 ? '' : ', not over the conditions of the sweep';
  return `q is corrected for the groups of a report within a condition${not}.`;
}

/**
 * The value of a parameter in a few characters: `100`, `CB0889`, `LC4 left`; `none` in the baseline of a screen;
 * `matched to CB0889` if a control has matched neurons in place of the group.
 */
export function valueLabel(value: ParameterValue): string {
  if (value === null) return 'none';
  if (typeof value === 'number') return String(value);
  return ('drawn' in value ? 'matched to ' : '') + groupLabel(value);
}

/** The heading of a column with values of a parameter. */
export function parameterTitle(parameter: string): string {
  return parameter === 'silence' ? 'Silenced' : parameterLabel(parameter);
}

/** The value of a parameter as the label of a condition: `100`, `LC4 left`, `nothing silenced`. */
export function conditionLabel(parameter: string, value: ParameterValue): string {
  return value === null ? settingText(parameter, value) : valueLabel(value);
}

/**
 * A condition by its parameters, without those that are the axes of a figure:
 * `rate of sugar 100 Hz, CB0889 silenced`. Empty if there are no others.
 */
export function otherSettingsText(
  parameters: Readonly<Record<string, ParameterValue>>,
  ownAxes: readonly string[],
): string {
  return Object.entries(parameters)
    .filter(([name]) => !ownAxes.includes(name))
    .map(([name, value]) => settingText(name, value))
    .join(', ');
}

/** A parameter with one of its values: `rate of sugar 100 Hz`, `CB0889 silenced`, `nothing silenced`. */
export function settingText(parameter: string, value: ParameterValue): string {
  if (typeof value === 'number') {
    const [name, unit] = parameterWords(parameter);
    return `${name} ${value} ${unit}`.trimEnd();
  }
  const done = editKindOf(parameter)?.groups?.done ?? 'stimulated';
  return `${value === null ? 'nothing' : valueLabel(value)} ${done}`;
}

/** A parameter within a sentence, and its unit: `rate of sugar` and `Hz`. */
export function parameterWords(parameter: string): readonly [name: string, unit: string] {
  const label = parameterLabel(parameter);
  const [, name = label, unit = ''] = WITH_UNIT.exec(label) ?? [];
  return [name === parameter ? name : name.charAt(0).toLowerCase() + name.slice(1), unit];
}

/** `30 trials of 1000 ms`; without the time if a sweep sets it. */
export function trialsText({ trials, duration_ms: durationMs, sweep = [] }: ExperimentDocument): string {
  const hasOneDuration = !sweep.map(parameterOf).includes('duration_ms');
  return counted(trials, 'trial') + (hasOneDuration ? ` of ${durationMs} ms` : '');
}
