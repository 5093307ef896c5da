/**
 * Labels of the form for the members of a document. They are derived from member names, except for those listed here.
 */
import type { Schema } from '../../../src/engine/schema/json-schema.js';
import { REPORT_KINDS } from '../../../src/experiments/kinds/report-kinds.js';

const UNITS: Readonly<Record<string, string>> = { hz: 'Hz', ms: 'ms', mv: 'mV' };
/** Labels by section of the form and name of the member. */
const LABELS: Readonly<Record<string, string>> = {
  'inputs.module': 'Events',
  'inputs.delay_ms': 'From (ms)',
  'inputs.duration_ms': 'For (ms)',
  'inputs.event_mv': 'Event (mV)',
  'inputs.times_ms': 'At (ms)',
  'reports.type': 'What',
  'reports.group_by': 'Groups',
  'reports.start_ms': 'From (ms)',
  'reports.end_ms': 'To (ms)',
  'reports.dt_ms': 'Every (ms)',
  'reports.bin_ms': 'Bins (ms)',
  'silence.start_ms': 'From (ms)',
  'silence.end_ms': 'To (ms)',
  'constants.refractory_ms': 'Refractory period (ms)',
  'constants.input_event_mv': 'Input event (mV)',
  'wiring.jitter': 'Jitter (sd)',
  'controls.count': 'How many',
  on_missing: 'What is missing',
};
/** Words for values of choices. */
const VALUES: Readonly<Record<string, string>> = {
  poisson: 'Poisson trains',
  pattern: 'a pattern of rates',
  spikes: 'given times',
  background: 'rare background events',
  weights: 'weights',
  targets: 'targets',
  targets_within_super_class: 'targets within super-classes',
  resampled: 'resampled',
  sampled: 'sampled from the predictions',
  error: 'refuse the experiment',
  skip: 'leave it out',
};
export const REPORT_LABELS = Object.fromEntries(
  Object.entries(REPORT_KINDS).map(([type, { label }]) => [type, label]),
);
export const GROUPINGS: Readonly<Record<string, string>> = {
  '': 'all together',
  side: 'by side',
  type: 'by type',
  'type,side': 'by type and side',
  super_class: 'by super class',
  class: 'by class',
  sub_class: 'by sub-class',
  neuron: 'each neuron',
};

/** @param section first part of its path; empty for members of the document itself */
export function labelOf(section: string, member: string): string {
  const own = LABELS[section === '' ? member : `${section}.${member}`];
  if (own !== undefined) return own;
  const words = member.split('_');
  const unit = UNITS[words.at(-1)!];
  const text = (unit === undefined ? words : words.slice(0, -1)).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1) + (unit === undefined ? '' : ` (${unit})`);
}

export function valueText(value: string): string {
  return VALUES[value] ?? value;
}

/** The first sentence of a schema's description. */
export function sentenceOf({ description = '' }: Schema): string {
  return /^.*?[.:](?= |$)/.exec(description)?.[0].replace(/:$/, '.') ?? description;
}

/** Such as `1 brain second` or `0.25 brain seconds`. */
export function brainSeconds(seconds: number): string {
  return `${Number(seconds.toPrecision(6))} brain second${seconds === 1 ? '' : 's'}`;
}
