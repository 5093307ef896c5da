/** Schemas that the answers of several kinds of report share. */
import {
  count,
  listOf,
  number,
  object,
  oneOf,
  orNull,
  ref,
  type Schema,
  type Static,
  text,
} from '../../engine/schema/json-schema.js';
import type { MeanSd } from './mean-sd.js';

export const MEAN_SD = ref<MeanSd>('MeanSd');

const LABELS = {
  'root_id?': text('Root id of the neuron, if groups are neurons.'),
  'type?': text('Cell type of the group.'),
  'side?': text('Side of the group.'),
  'super_class?': text('Super-class of the group.'),
  'class?': text('Class of the group.'),
  'sub_class?': text('Sub-class of the group.'),
};

/** The schema of a group: its labels, its size, and the members of the kind. */
export function groupSchema<const M extends Readonly<Record<string, Schema>>>(description: string, own: M) {
  return object(description, { ...LABELS, neurons: count('Neurons of the group.', 1), ...own });
}

const MEAN_AND_SD = {
  mean: number('Mean.', { minimum: 0 }),
  sd: number('Population standard deviation (ddof 0).', { minimum: 0 }),
};
/** The schema that MEAN_SD refers to. */
export const OVER_TRIALS = object('Over the trials of a condition.', MEAN_AND_SD);

/** The schema of a number with mean and standard deviation over trials, and its value in each trial. */
export function overTrials<const T extends Schema>(description: string, ofTrials: string, ofTrial: T) {
  return object(description, { ...MEAN_AND_SD, trials: listOf(ofTrials, ofTrial) });
}

export const RATE = overTrials(
  'A rate in Hz over the trials of a condition.',
  'Of each trial.',
  number(undefined, { minimum: 0 }),
);

export const CONTROL = object('The mean rate of a group in the controls of its condition.', {
  mean: orNull('Mean of the controls that are complete.', number(undefined, { minimum: 0 })),
  sd: orNull('Their population standard deviation (ddof 0).', number(undefined, { minimum: 0 })),
  values: listOf(
    'In each control, in the order of their seeds, from 1 on; null if a trial was stopped, or if the group or an ' +
      'earlier control has the same neurons.',
    orNull('The rate in Hz.', number(undefined, { minimum: 0 })),
  ),
  incomplete: listOf('Seeds of the controls in which a trial was stopped.', count(undefined, 1)),
  'compared?': count(
    'Number of controls with different neurons, if some repeat those of others or of the group. Only these count.',
  ),
  p: orNull(
    'The share of controls, and of the condition among them, that are as far from the mean of all of them as the ' +
      'condition, or further. A control in which a trial was stopped counts as further. Null if a trial of the ' +
      'condition itself was stopped.',
    number(undefined, { minimum: 0, maximum: 1 }),
  ),
  q: orNull(
    'p corrected for the groups of the report in this condition, after Benjamini and Hochberg (1995).',
    number(undefined, { minimum: 0, maximum: 1 }),
  ),
});
export type Control = Static<typeof CONTROL>;

/** The schema of a table of events. @param own columns of the kind, by name */
export function eventTable<const M extends Readonly<Record<string, Schema>>>(description: string, own: M) {
  return object(`${description} as columns, by trial, time, neuron.`, {
    trial: listOf('Trial, from 0.', count()),
    t_ms: listOf('Time from the start of the trial in ms.', number(undefined, { minimum: 0 })),
    root_id: listOf('Root id of the neuron, as text: it exceeds 2^53.', text()),
    ...own,
    'truncated?': oneOf(
      'Present with truncate=true if the condition has more rows; the first ones are given.',
      [true],
    ),
  });
}
