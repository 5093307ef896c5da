/** The member `controls` of a document: the brains or neurons that every condition is compared with. */
import type { Rewiring } from '../../engine/stimulus/protocol.js';
import { integer, listOf, object, oneOf, type Static } from '../../engine/schema/json-schema.js';
import { listed } from '../../engine/connectome/set-selector.js';
import { GROUP_LABELS } from './fields.js';
import { COUNTS, RESAMPLED_COUNTS, SAMPLED_SIGNS, SHUFFLE, shuffledWords, SIGNS } from './edits/wiring.js';

export const MAX_CONTROLS = 1000;
/** Largest false discovery rate q of a finding that a screen reports. */
export const MAX_Q = 0.05;
const MATCHES = [...GROUP_LABELS.filter((label) => label !== 'neuron'), 'activity'] as const;
export const DEFAULT_MATCH = ['super_class', 'side', 'activity'] as const;

export const CONTROLS = object(
  'Rewired brains on which every condition is run as well, with the same trains. A rate that a control keeps does not come ' +
    'from the wiring. Control number n is the brain that `wiring` with this shuffle, counts or signs and the seed n gives. On tables ' +
    'without pairs of 1 to 4 synapses a shuffle of weights is not the published control: relay cells keep 33 to 69 Hz, ' +
    'and 3 to 5 Hz in the paper. Use targets there. With `silence`, `inputs` or `connection_overrides` instead of ' +
    '`shuffle`, controls have as many neurons as the group of an axis with `each`, drawn from those that match.',
  {
    'shuffle?': SHUFFLE,
    'counts?': COUNTS,
    'signs?': SIGNS,
    'silence?': oneOf('Controls silence neurons that match those of each group.', ['matched']),
    'inputs?': oneOf('Controls stimulate neurons that match those of each group.', ['matched']),
    'connection_overrides?': oneOf(
      'Controls have neurons that match those of each group at the swept end of an override.',
      ['matched'],
    ),
    count: integer('Their number. Each counts as a condition in price and limits.', {
      minimum: 1,
      maximum: MAX_CONTROLS,
      default: 20,
      examples: [100],
    }),
    'only?': integer(
      'The number of a matched control that replaces each condition, to look at it by itself.',
      {
        minimum: 1,
        maximum: MAX_CONTROLS,
        examples: [7],
      },
    ),
    'match?': listOf(
      'Properties that matched neurons share; activity: about as many spikes in the baseline.',
      oneOf('A label, or activity.', MATCHES),
      { maxItems: MATCHES.length, uniqueItems: true, examples: [DEFAULT_MATCH] },
    ),
  },
  { component: 'Controls', publishes: { minProperties: 1 }, examples: [{ shuffle: 'weights', count: 100 }] },
);
export type Controls = Static<typeof CONTROLS>;

/** Members for the parameters whose groups matched controls replace. Their names are the first parts of these parameters. */
const MATCHED_FORMS = ['silence', 'inputs', 'connection_overrides'] as const;
/** Members for the change that controls make. A document has one of them. */
const FORMS = ['shuffle', 'counts', 'signs', ...MATCHED_FORMS] as const;

/** The forms of control that a document names. */
export function formsOf(controls: Controls): (typeof FORMS)[number][] {
  return FORMS.filter((form) => controls[form] !== undefined);
}

/** The wiring of control number n, apart from the seed; undefined if controls keep the wiring. */
export function rewiringOf({ shuffle, counts, signs }: Controls): Omit<Rewiring, 'seed'> | undefined {
  if (shuffle !== undefined) return { shuffle };
  if (counts !== undefined) return { counts };
  return signs && { signs };
}

/** Tells whether matched controls replace the groups of the axis that sweeps a parameter. */
export function isMatchedAxis(controls: Controls, parameter: string): boolean {
  const [member] = parameter.split('.');
  return MATCHED_FORMS.some((form) => form === member && controls[form] !== undefined);
}

/** `20 brains with shuffled weights`, `1000 sets of neurons of equal super class, side and activity` */
export function controlWords({ shuffle, counts, signs, count, match = [] }: Controls): string {
  if (shuffle !== undefined) return `${count} brains with ${shuffledWords(shuffle)}`;
  if (counts !== undefined) return `${count} brains with ${RESAMPLED_COUNTS}`;
  if (signs !== undefined) return `${count} brains with ${SAMPLED_SIGNS}`;
  const equal =
    match.length === 0 ? '' : ` of equal ${listed(match.map((each) => each.replaceAll('_', ' ')))}`;
  return `${count} sets of neurons${equal}`;
}
