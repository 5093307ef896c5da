import Negotiator from 'negotiator';
import type { FastifyRequest } from 'fastify';
import { COLUMN_NAMES, FORMATS, type Format, TABLE_FORMATS } from '../../../experiments/formats/formats.js';
import { TABLES } from '../../../experiments/kinds/report-kinds.js';
import { PAGE, pageStartOf } from '../../../experiments/run/pages.js';
import { dtoOf, OptionalField } from '../../http/request-fields.js';
import { oneOf, text, type Schema, type SchemaOf } from '../../../schema/json-schema.js';
import type { AnswerHead, AnswerOrder } from '../../../experiments/formats/answer.js';
import { invalid } from '../../../schema/json-path.js';
import { CodedError, describeValue } from '../../../errors.js';

export const ALL_FORMATS = Object.keys(FORMATS) as Format[];
const WHOLE_NUMBER = /^\d{1,5}$/;

/** One of a list of words. */
export function word<const W extends string>(words: readonly W[], description: string, example = words[0]) {
  return oneOf(undefined, [...words], { description, examples: [example] });
}

/** A field of a DTO that is one of a list of words. */
export function Word(words: readonly string[], description: string): PropertyDecorator {
  return OptionalField(word(words, description));
}

/** A text that is not empty. */
export function shortText(maximumLength: number, more: Schema): SchemaOf<string> {
  return text(undefined, {
    ...more,
    allowed: `a text of 1 to ${maximumLength} characters, given once`,
    accepts: (value) => typeof value === 'string' && value.length > 0 && value.length <= maximumLength,
  });
}

/** A number, which a query holds as text. */
export function wholeNumber(maximum: number, standard: number, description: string): SchemaOf<string> {
  return {
    type: 'integer',
    minimum: 0,
    maximum,
    default: standard,
    description,
    examples: [standard],
    accepts: (value) => /^\d{1,8}$/.test(String(value)) && Number(value) <= maximum,
  };
}

const FROM: SchemaOf<string> = {
  type: 'integer',
  minimum: 0,
  description: 'Answers from this condition on, for example to go on where a connection broke.',
  examples: [0],
  allowed: 'the index of a condition: an integer from 0',
  accepts: (value) => WHOLE_NUMBER.test(String(value)),
};

/** How results are wanted. None of it is part of an experiment's id. */
export class ResultsQuery extends dtoOf({
  from: FROM,
  page: text(undefined, {
    pattern: PAGE.source,
    description:
      'Where rows of events (spikes, input events, membrane potentials) did not fit into an answer: the page that goes on, as that answer names it, ' +
      'in `next_page` at the end of JSON and NDJSON, or in the header Link of a table. Not together with from.',
    examples: ['17.4'],
    allowed: 'a page that another answer names, such as 17.4',
    accepts: (value) => typeof value === 'string' && pageStartOf(value) !== undefined,
  }),
  truncate: word(
    ['true', 'false'],
    'true: where rows of events do not fit into an answer, gives the first of each condition and no ' +
      'further pages. What was cut is marked, in the header Spikes-Truncated or the warning SPIKES_TRUNCATED.',
  ),
  format: word(ALL_FORMATS, 'Format of the answer. It decides over Accept.'),
  table: word(
    TABLES,
    'Which table a CSV, Arrow or Parquet answer holds. By default rates; where all reports are tables of events, that of the first of them.',
  ),
  names: word(
    COLUMN_NAMES,
    'Names of the columns of a table of spikes: shiu as in the files of Shiu et al. 2024, sonata as in those of BMTK, ' +
      'indexed with the place of each neuron beside its id.',
  ),
}) {}

/** The query of POST /api/v2/experiments. None of it is part of an experiment's id. */
export class ExperimentQuery extends ResultsQuery {
  @Word(
    ['true', 'false'],
    'true: checks the experiment, resolves its neurons and says what it costs; nothing is simulated or charged.',
  )
  readonly dry_run?: 'true' | 'false';
}

/**
 * The format of an answer: `?format=` decides, else Accept, else it is JSON.
 * @param possible in the order of preference where the client has none
 * @throws CodedError INVALID_PARAMETER, NOT_ACCEPTABLE
 */
export function answerFormat<F extends Format>(
  asked: Format | undefined,
  { headers }: Pick<FastifyRequest, 'headers'>,
  possible: readonly F[],
): F {
  if (asked !== undefined) {
    const known = possible.find((format) => format === asked);
    if (known !== undefined) return known;
    throw new CodedError(
      'INVALID_PARAMETER',
      `format must be ${possible.join(' or ')} for this request, got ${asked}.`,
      { path: '' },
    );
  }
  const { accept } = headers;
  if (accept === undefined) return possible[0]!;
  const types = possible.map((format) => FORMATS[format].mediaType);
  const [best] = new Negotiator({ headers }).mediaTypes(types);
  const format = possible.find((each) => FORMATS[each].mediaType === best);
  if (format !== undefined) return format;
  const [last, ...others] = types.reverse();
  const list = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  throw new CodedError('NOT_ACCEPTABLE', `Accept must allow ${list}, got ${describeValue(accept)}.`, {
    path: '',
  });
}

/**
 * The order that a query makes, in a format that was chosen.
 * @param first the first condition where the query names none
 * @throws CodedError INVALID_PARAMETER where members of the query exclude one another
 */
export function answerOrder(query: ResultsQuery, format: Format, first: number): AnswerOrder {
  const { table, names, from, page, truncate } = query;
  const [ofTable] = Object.entries({ table, names }).filter(([, value]) => value !== undefined);
  if (ofTable !== undefined && !(TABLE_FORMATS as readonly Format[]).includes(format)) {
    throw invalid(
      [],
      `${ofTable[0]} may be given only with one of the formats ${TABLE_FORMATS.join(', ')}, got ${format}.`,
    );
  }
  const start = page === undefined ? undefined : pageStartOf(page)!;
  if (start !== undefined && (from !== undefined || truncate === 'true')) {
    const other = from === undefined ? 'truncate=true' : 'from';
    throw invalid([], `page must not be given together with ${other}, got ${page}.`);
  }
  return {
    format,
    from: start?.condition ?? Number(from ?? first),
    truncate: truncate === 'true',
    ...(start && { page: start }),
    ...(table !== undefined && { table }),
    ...(names !== undefined && { names }),
  };
}

/** Headers on the rows of an answer; a page follows at the same address with the query of the link. */
export function headersOf(
  { nextPage, truncated }: AnswerHead,
  query: ResultsQuery,
  format: Format,
): Record<string, string> {
  if (truncated) return { 'spikes-truncated': 'true' };
  if (nextPage === undefined) return {};
  return linkTo(format, query, { page: nextPage });
}

/** The header that names the next page: the same query at the same address, but for where it begins. */
export function linkTo(
  format: Format,
  query: object,
  start: Readonly<Record<string, string>>,
): { readonly link: string } {
  const others: object = { ...query, format: undefined, from: undefined, page: undefined };
  const given = Object.entries(others).filter(([, value]) => value !== undefined) as [string, string][];
  const next = new URLSearchParams([['format', format], ...given, ...Object.entries(start)]);
  return { link: `<?${next}>; rel="next"` };
}
