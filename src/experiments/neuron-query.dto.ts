import { LABELS, type Label } from '../connectome/selection.js';
import { NAMED_SIDES } from '../connectome/set-selector.js';
import { OptionalField } from '../http/optional-field.js';

/** In characters. The longest label of release 783 has 31. */
const LONGEST_PATTERN = 100;
export const DEFAULT_LIMIT = 1000;
const LARGEST_LIMIT = 10_000;

const WHAT: Readonly<Record<Exclude<Label, 'side'>, string>> = {
  type: 'Cell type',
  class: 'Class',
  sub_class: 'Sub-class',
  super_class: 'Super-class',
};

function Pattern(label: Exclude<Label, 'side'>, example: string): PropertyDecorator {
  return OptionalField(
    {
      accepts: (value) => typeof value === 'string' && value.length > 0 && value.length <= LONGEST_PATTERN,
      allowed: `a text of 1 to ${LONGEST_PATTERN} characters, given once`,
    },
    { type: String, description: `${WHAT[label]}; * stands for any text.`, example },
  );
}

function WholeNumber(
  minimum: number,
  maximum: number,
  description: string,
  standard: number,
): PropertyDecorator {
  return OptionalField(
    {
      accepts: (value) =>
        /^\d{1,6}$/.test(String(value)) && Number(value) >= minimum && Number(value) <= maximum,
      allowed: `an integer from ${minimum} to ${maximum}`,
    },
    { type: 'integer', minimum, maximum, default: standard, description, example: standard },
  );
}

/** The query of GET /api/v2/neurons. All labels that are given must agree. */
export class NeuronQuery {
  @Pattern('type', 'LC4')
  readonly type?: string;

  @Pattern('class', 'gustatory')
  readonly class?: string;

  @Pattern('sub_class', 'bitter')
  readonly sub_class?: string;

  @Pattern('super_class', 'descending')
  readonly super_class?: string;

  @OptionalField(
    {
      accepts: (value) => (NAMED_SIDES as readonly unknown[]).includes(value),
      allowed: `one of ${NAMED_SIDES.join(', ')}`,
    },
    { type: String, enum: [...NAMED_SIDES], description: 'Side of the neuron.', example: 'left' },
  )
  readonly side?: string;

  @OptionalField(
    { accepts: (value) => value === 'json' || value === 'csv', allowed: 'one of json, csv' },
    {
      type: String,
      enum: ['json', 'csv'],
      description: 'Format of the answer. It decides over Accept.',
      example: 'csv',
    },
  )
  readonly format?: 'json' | 'csv';

  @WholeNumber(0, 999_999, 'Lists neurons from this one on, in the order of the model.', 0)
  readonly from?: string;

  @WholeNumber(
    0,
    LARGEST_LIMIT,
    'Lists so many neurons at most. Counts are of all that match.',
    DEFAULT_LIMIT,
  )
  readonly limit?: string;
}

/** The labels that are given. */
export function patternsOf(query: NeuronQuery): Partial<Record<Label, string>> {
  return Object.fromEntries(
    LABELS.flatMap((label) => (query[label] === undefined ? [] : [[label, query[label]]])),
  );
}
