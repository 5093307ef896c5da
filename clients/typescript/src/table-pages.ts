import type { paths } from './api-v2.js';
import type { ExperimentOptions } from './experiment-run.js';
import { withQuery, type Requests } from './requests.js';

type ExperimentQuery = NonNullable<paths['/api/v2/experiments']['post']['parameters']['query']>;

const MEDIA_TYPES = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;

export interface TableOptions extends ExperimentOptions {
  readonly format: keyof typeof MEDIA_TYPES;
  /** By default `rates`; if all reports are tables of events, the table of the first one. */
  readonly table?: NonNullable<ExperimentQuery['table']>;
  /** Column names of a table of spikes, to suit other programs. */
  readonly names?: NonNullable<ExperimentQuery['names']>;
  /**
   * If the table does not fit into one file, return only the first rows of each condition. The response then has the
   * header `Spikes-Truncated`.
   */
  readonly truncate?: boolean;
}

/** A table of events does not fit into one file. */
export class MorePagesError extends Error {
  override readonly name = 'MorePagesError';

  constructor() {
    super(
      'The table has more rows than the service sends in one file: ask for its pages, or with truncate for the first ' +
        'rows of each condition.',
    );
  }
}

/** The figure of an answer as SVG: the one that the command line draws with `--plot`. */
export async function figureOf(
  requests: Requests,
  path: string,
  init: RequestInit,
  { from, ...options }: ExperimentOptions,
): Promise<string> {
  const url = withQuery(path, { format: 'svg', from });
  const beginning = { mediaType: 'image/svg+xml', withinMs: beginsWithinMs(requests, init) };
  return new TextDecoder().decode(await requests.bytes(url, init, options, beginning));
}

/** The service holds the start of an answer back until it has computed 1 MiB of it, or everything. A job is computed. */
function beginsWithinMs({ timeoutMs }: Requests, { method }: RequestInit): number {
  return method === 'POST' ? Infinity : timeoutMs;
}

/** Follows the links from one page of a table to the next. */
export async function* tablePages(
  requests: Requests,
  path: string,
  init: RequestInit,
  { format, table, names, from, truncate, ...options }: TableOptions,
): AsyncGenerator<Response, void, void> {
  const beginning = { mediaType: MEDIA_TYPES[format], withinMs: beginsWithinMs(requests, init) };
  let url = withQuery(path, { format, table, names, from, truncate });
  for (;;) {
    const response = await requests.begun(url, init, options, beginning);
    const next = nextOf(response);
    yield response;
    if (next === undefined) return;
    url = path + next;
  }
}

/** @throws MorePagesError */
export async function onlyPage(pages: AsyncGenerator<Response, void, void>): Promise<Response> {
  const { value: response } = await pages.next();
  if (nextOf(response!) === undefined) return response!;
  await response!.body?.cancel();
  throw new MorePagesError();
}

/** The query of the next page. */
function nextOf({ headers }: Response): string | undefined {
  return /<(\?[^>]*)>; *rel="next"/.exec(headers.get('Link') ?? '')?.[1];
}
