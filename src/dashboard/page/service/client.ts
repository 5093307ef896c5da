/** The calls that the page makes, and the ways in which they fail. */
import type { Experiment } from './experiment.js';
import type { Model } from '../../../answers/v1/api/model.dto.js';
import type { FullRun } from '../../../answers/v1/api/run-response.dto.js';
import type { CellCard } from '../../../atlas/cell-card.js';
import type { ErrorCode, FaultPlace } from '../../../errors.js';
import type { Selection } from '../selection.js';

/** Where the service does not say when to come back. */
const DEFAULT_RETRY_S = 5;
/** The specification suggests this timeout for a run. */
const TIMEOUT_MS = 60_000;

/** Statuses for which sending the same experiment again is useless. */
const REFUSALS = [400, 406, 413, 415, 422];

/** Which error of the service it is; where in the document of an open experiment, and what may have been meant. */
export interface Fault extends FaultPlace {
  readonly code?: ErrorCode;
}

export type FailureKind = 'offline' | 'limited' | 'unavailable' | 'failed' | 'refused' | 'ended';

/** Why a call failed, in a form that the page can show. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** Seconds until it makes sense to ask again; 0 where waiting changes nothing. */
    readonly retryAfterS: number,
    readonly place: Fault = {},
  ) {
    super(message);
  }
}

export async function fetchModel(): Promise<Model> {
  return (await call('/api/v1/model', (response) => response.json())) as Model;
}

/** @param url `atlas_url` of the model; the compact form lies beside the JSON */
export async function fetchAtlas(url: string): Promise<ArrayBuffer> {
  return call(url.replace(/\.json$/, '.bin'), (response) => response.arrayBuffer());
}

/** @param atlasUrl `atlas_url` of the model; the cards lie below it */
export async function fetchCard(atlasUrl: string, selection: Selection): Promise<CellCard> {
  const folder = atlasUrl.replace(/\.json$/, '');
  const path = selection.kind === 'neuron' ? `neurons/${selection.neuron}` : `types/${selection.type}`;
  return (await call(`${folder}/${path}`, (response) => response.json())) as CellCard;
}

/** A file that was built with the page. */
export async function fetchBuilt<T>(url: string): Promise<T> {
  return (await call(url, (response) => response.json())) as T;
}

export async function postRun(experiment: Experiment): Promise<FullRun> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(experiment),
  };
  return (await call('/api/v1/run', (response) => response.json(), init)) as FullRun;
}

/** Any failure in the form that the page can show, also of an answer that is not what it should be. */
export function asFailure(error: unknown): ServiceFailure {
  if (error instanceof ServiceFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ServiceFailure('failed', message, DEFAULT_RETRY_S);
}

/**
 * @param read takes the body, which may fail as the connection may
 * @throws ServiceFailure, or the reason of `init.signal` where that ended the call
 */
export async function call<T>(
  url: string,
  read: (response: Response) => Promise<T>,
  { signal, ...init }: RequestInit = {},
): Promise<T> {
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, {
      ...init,
      signal: signal == null ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) throw await failureOf(response, init.method === 'POST');
    return await read(response);
  } catch (error) {
    if (error instanceof ServiceFailure || signal?.aborted) throw error;
    if (error instanceof SyntaxError) {
      throw new ServiceFailure(
        'failed',
        'The answer is not JSON, so it is not from the service.',
        DEFAULT_RETRY_S,
      );
    }
    const slow = error instanceof DOMException && error.name === 'TimeoutError';
    throw new ServiceFailure(
      'offline',
      slow ? 'The service did not answer within a minute.' : 'The service cannot be reached.',
      DEFAULT_RETRY_S,
    );
  }
}

/** Proxies may answer too, and replicas may differ for a while, so most failures are worth another try. */
export async function failureOf(response: Response, isOfRun: boolean): Promise<ServiceFailure> {
  const { message, place } = await errorOf(response);
  if (isOfRun && REFUSALS.includes(response.status)) return new ServiceFailure('refused', message, 0, place);
  const askedForS = Number(response.headers.get('retry-after'));
  const retryAfterS = askedForS > 0 ? askedForS : DEFAULT_RETRY_S;
  if (response.status === 429) return new ServiceFailure('limited', message, retryAfterS);
  if (response.status === 503) return new ServiceFailure('unavailable', message, retryAfterS);
  return new ServiceFailure('failed', message, retryAfterS, place);
}

async function errorOf(response: Response): Promise<{ message: string; place: Fault }> {
  try {
    const { error, ...place } = (await response.json()) as { error?: unknown } & Fault;
    if (typeof error === 'string') return { message: error, place };
  } catch {
    // A proxy in between may answer with something else than JSON.
  }
  return { message: `The service answered ${response.status}.`, place: {} };
}
