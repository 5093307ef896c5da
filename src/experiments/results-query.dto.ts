import {
  COLUMN_NAMES,
  FORMATS,
  TABLES,
  type ColumnNames,
  type Format,
  type TableName,
} from '../answers/v2/formats/formats.js';
import { OptionalField } from '../http/optional-field.js';

const WHOLE_NUMBER = /^\d{1,5}$/;

/** One of a list of words. */
export function Word(words: readonly string[], description: string): PropertyDecorator {
  return OptionalField(
    { accepts: (value) => words.includes(value as string), allowed: `one of ${words.join(', ')}` },
    { type: String, enum: words, description, example: words[0] },
  );
}

/** How results are wanted. None of it is part of an experiment's id. */
export class ResultsQuery {
  @OptionalField(
    {
      accepts: (value) => WHOLE_NUMBER.test(String(value)),
      allowed: 'the index of a condition: an integer from 0',
    },
    {
      type: 'integer',
      minimum: 0,
      description: 'Answers from this condition on, for example to go on where a connection broke.',
      example: 0,
    },
  )
  readonly from?: string;

  @Word(Object.keys(FORMATS), 'Format of the answer. It decides over Accept.')
  readonly format?: Format;

  @Word(
    TABLES,
    'Which table a CSV, Arrow or Parquet answer holds. By default rates; where all reports are tables of spikes or input events, that of the first of them.',
  )
  readonly table?: TableName;

  @Word(
    COLUMN_NAMES,
    'Names of the columns of a table of spikes: shiu as in the files of Shiu et al. 2024, sonata as in those of BMTK.',
  )
  readonly names?: ColumnNames;
}
