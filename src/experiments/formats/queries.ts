/**
 * The queries of version 2: their fields, and the orders and searches that they mean. A service and a tab check the same fields.
 */
import { CONNECTION_GROUPS } from '../../engine/connectome/connections.js';
import { LABELS } from '../../engine/connectome/neuron-index.js';
import { ALL_NEURONS, NAMED_SIDES, PUBLISHED_PREFIX } from '../../engine/connectome/set-selector.js';
import { invalid } from '../../engine/schema/json-path.js';
import { oneOf, text, type Schema, type SchemaOf, type Static } from '../../engine/schema/json-schema.js';
import { PAGE } from '../document/result.js';
import { TABLES } from '../kinds/report-kinds.js';
import { pageStartOf } from '../run/pages.js';
import type { AnswerHead, AnswerRequest } from './answer.js';
import type { ConnectionSearch } from './connection-table.js';
import { COLUMN_NAMES, FORMATS, type Format, TABLE_FORMATS } from './formats.js';
import type { NeuronSearch } from './neuron-table.js';

/** A valid query. */
type QueryOf<Fields extends Readonly<Record<string, Schema>>> = {
  readonly [Name in keyof Fields]?: Static<Fields[Name]>;
};

const FORMAT =
  'Format of the answer. It decides over Accept, which chooses among the media types of the answer; JSON if nothing does.';
export const ALL_FORMATS = Object.keys(FORMATS) as Format[];
const WHOLE_NUMBER = /^\d{1,5}$/;

/** Schema of one word from a list. */
function word<const W extends string>(words: readonly W[], description: string, more: Schema = {}) {
  return oneOf(undefined, [...words], { description, ...more });
}

/** Schema of a boolean, which a query contains as text. */
function truth(description: string): SchemaOf<'true' | 'false'> {
  return {
    type: 'boolean',
    description,
    allowed: 'one of true, false',
    accepts: (value) => value === 'true' || value === 'false',
  };
}

/** Schema of a text that is not empty. */
function shortText(maxLength: number, more: Schema): SchemaOf<string> {
  return text(undefined, {
    ...more,
    minLength: 1,
    maxLength,
    allowed: `a text of 1 to ${maxLength} characters, given once`,
    accepts: (value) => typeof value === 'string' && value.length > 0 && value.length <= maxLength,
  });
}

/** Schema of a number, which a query contains as text. */
function wholeNumber(maximum: number, standard: number, description: string): SchemaOf<string> {
  return {
    type: 'integer',
    minimum: 0,
    maximum,
    default: standard,
    description,
    accepts: (value) => /^\d{1,8}$/.test(String(value)) && Number(value) <= maximum,
  };
}

const FROM: SchemaOf<string> = {
  type: 'integer',
  minimum: 0,
  maximum: 99_999,
  description: 'Answers from this condition on, for example to continue after a broken connection.',
  allowed: 'the index of a condition: an integer from 0',
  accepts: (value) => WHOLE_NUMBER.test(String(value)),
};

/**
 * The form of results. None of this is part of an experiment's id. In this file only parameters that a first try should send
 * have examples, because tools send all examples of an operation together.
 */
export const RESULTS_QUERY = {
  from: FROM,
  page: text(undefined, {
    pattern: PAGE.source,
    description:
      'If rows of events (spikes, input events, membrane potentials) did not fit into an answer: the next page, which that answer names ' +
      'in `next_page` at the end of JSON and NDJSON, or in the header Link of a table, such as 17.4. Not together with from.',
    allowed: 'a page that another answer names, such as 17.4',
    accepts: (value) => typeof value === 'string' && pageStartOf(value) !== undefined,
  }),
  truncate: truth(
    'true: if rows of events do not fit into an answer, gives the first of each condition and no ' +
      'further pages. An answer that was cut is marked, in the header Spikes-Truncated or the warning SPIKES_TRUNCATED.',
  ),
  format: word(ALL_FORMATS, FORMAT),
  table: word(
    TABLES,
    'The table of a CSV, Arrow or Parquet answer. By default rates. If all reports are tables of events, that of the first of them.',
  ),
  names: word(
    COLUMN_NAMES,
    'Names of the columns of a table of spikes: shiu as in the files of Shiu et al. 2024, sonata as in those of BMTK.',
  ),
} as const;

/** The query of POST /api/v2/experiments. */
export const EXPERIMENT_QUERY = {
  ...RESULTS_QUERY,
  dry_run: truth(
    'true: checks the experiment, resolves its neurons and gives its price; nothing is simulated or charged.',
  ),
} as const;

/** The query of POST /api/v2/sessions/{session}/steps. */
export const STEP_QUERY = {
  drive: truth('true: with the drives of an animated body, as version 1 has them.'),
} as const;

/** Limit in characters; the longest label of release 783 has 31. */
const MAX_PATTERN_LENGTH = 100;
/** They take about 4 kB of the request line; proxies accept 8 kB. */
const MAX_IDS = 200;
const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 10_000;
export const SEARCH_FORMATS = ['json', 'csv'] as const;

function pattern(label: string, more: Schema = {}) {
  return shortText(MAX_PATTERN_LENGTH, { description: `${label}; * stands for any text.`, ...more });
}

/** The query of GET /api/v2/neurons. A neuron must match all given fields. */
export const NEURON_QUERY = {
  root_id: text(undefined, {
    description:
      `Root ids with commas between them, ${MAX_IDS} at most: finds those of these neurons that have the labels. ` +
      'Ids that the model lacks are members of `suggestions`, with none.',
    pattern: `^[^,]{1,${MAX_PATTERN_LENGTH}}(,[^,]{1,${MAX_PATTERN_LENGTH}}){0,${MAX_IDS - 1}}$`,
    allowed: `1 to ${MAX_IDS} ids of 1 to ${MAX_PATTERN_LENGTH} characters, with commas between them, given once`,
    accepts: (value) => typeof value === 'string' && isListOfIds(value.split(',')),
  }),
  type: pattern('Cell type', { examples: ['LC4'] }),
  class: pattern('Class, such as gustatory'),
  sub_class: pattern('Sub-class, such as bitter'),
  super_class: pattern('Super-class, such as descending'),
  side: word(NAMED_SIDES, 'Side of the neuron.', { examples: ['left'] }),
  format: word(SEARCH_FORMATS, FORMAT),
  from: wholeNumber(999_999, 0, 'Lists neurons from this one on, in the order of the model.'),
  limit: wholeNumber(
    MAX_LIMIT,
    DEFAULT_LIMIT,
    'Lists so many neurons at most. Counts are of all that match.',
  ),
} as const;

function isListOfIds(ids: readonly string[]): boolean {
  return ids.length <= MAX_IDS && ids.every((id) => id.length > 0 && id.length <= MAX_PATTERN_LENGTH);
}

export function neuronSearchOf(
  query: QueryOf<typeof NEURON_QUERY>,
  format: NeuronSearch['format'],
): NeuronSearch {
  const given = LABELS.filter((label) => query[label] !== undefined);
  const labels = Object.fromEntries(given.map((label) => [label, query[label]!]));
  return {
    patterns: { ...labels, ...(query.root_id !== undefined && { root_id: query.root_id.split(',') }) },
    from: Number(query.from ?? 0),
    limit: Number(query.limit ?? DEFAULT_LIMIT),
    format,
  };
}

const EVERYBODY = PUBLISHED_PREFIX + ALL_NEURONS;
/** Limit in characters: less than half of the limit of all headers, because the other selector may be as long. */
const MAX_SELECTOR_LENGTH = 6000;
const ROWS_OF_A_PAGE = 10_000;
export const CONNECTION_FORMATS = ['json', ...TABLE_FORMATS] as const;

function selector(description: string, example: string) {
  return shortText(MAX_SELECTOR_LENGTH, {
    description: `${description}: a selector, or several with commas between them; labels, neighbours and root ids as JSON.`,
    default: EVERYBODY,
    examples: [example],
  });
}

export const CONNECTION_QUERY = {
  source: selector('Neurons that the connections come from', 'LC4:left'),
  target: selector('Neurons that they lead to', 'DNp01'),
  group_by: word(CONNECTION_GROUPS, 'A row for each pair of cell types, or of neurons. By default of types.'),
  format: word(CONNECTION_FORMATS, FORMAT),
  from: wholeNumber(99_999_999, 0, 'Lists rows from this one on.'),
  limit: wholeNumber(ROWS_OF_A_PAGE, ROWS_OF_A_PAGE, 'Lists so many rows at most. Totals are of all.'),
} as const;

/** @param ids maximum number of types and root ids that the selectors name */
export function connectionSearchOf(
  query: QueryOf<typeof CONNECTION_QUERY>,
  format: ConnectionSearch['format'],
  ids: number,
): ConnectionSearch {
  return {
    source: query.source ?? EVERYBODY,
    target: query.target ?? EVERYBODY,
    groupBy: query.group_by ?? 'type',
    from: Number(query.from ?? 0),
    limit: Number(query.limit ?? ROWS_OF_A_PAGE),
    ids,
    format,
  };
}

/**
 * Turns a query into the request of an answer in the chosen format.
 * @param first first condition if the query names none
 * @throws CodedError INVALID_PARAMETER if members of the query exclude each other
 */
export function answerRequest(
  query: QueryOf<typeof RESULTS_QUERY>,
  format: Format,
  first: number,
): AnswerRequest {
  const { table, names, from, page, truncate } = query;
  const [ofTable] = Object.entries({ table, names }).filter(([, value]) => value !== undefined);
  if (ofTable !== undefined && !(TABLE_FORMATS as readonly Format[]).includes(format)) {
    throw invalid(
      [],
      `${ofTable[0]} may be given only with one of the formats ${TABLE_FORMATS.join(', ')}, got ${format}.`,
    );
  }
  const isFigure = format === 'svg';
  if (isFigure && page !== undefined) {
    throw invalid([], `page must not be given with the format svg, which has no pages, got ${page}.`);
  }
  const start = page === undefined ? undefined : pageStartOf(page)!;
  if (start !== undefined && (from !== undefined || truncate === 'true')) {
    const other = from === undefined ? 'truncate=true' : 'from';
    throw invalid([], `page must not be given together with ${other}, got ${page}.`);
  }
  return {
    format,
    from: start?.condition ?? Number(from ?? first),
    // A figure of many events shows few of them, and says so.
    truncate: truncate === 'true' || isFigure,
    ...(start && { page: start }),
    ...(table !== undefined && { table }),
    ...(names !== undefined && { names }),
  };
}

/** Returns headers about the rows of an answer: the link to the next page, or a mark that rows were cut. */
export function headersOf(
  { nextPage, truncated }: AnswerHead,
  query: QueryOf<typeof RESULTS_QUERY>,
  format: Format,
): Record<string, string> {
  if (truncated) return { 'spikes-truncated': 'true' };
  if (nextPage === undefined) return {};
  return linkTo(format, query, { page: nextPage });
}

/** Limit in characters, because nginx accepts 4 kB for all headers of an answer. */
export const MAX_LINK_LENGTH = 2_000;

/** Returns the Link header to the next page: the same query at the same URL with another start. */
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
