/** The three calls that the page makes, and the ways in which they fail. */
import type { Experiment } from './experiment.js';
import type { Model } from '../../../model/model.dto.js';
import type { FullRun } from '../../../run/run-response.dto.js';

/** Where the service does not say when to come back. */
const DEFAULT_RETRY_S = 5;
/** The specification suggests this timeout for a run. */
const TIMEOUT_MS = 60_000;

export type FailureKind = 'offline' | 'limited' | 'unavailable' | 'refused';

/** Why a call brought no answer, in a form that the page can show. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** Seconds until it makes sense to ask again; 0 where waiting changes nothing. */
    readonly retryAfterS: number,
  ) {
    super(message);
  }
}

export async function fetchModel(): Promise<Model> {
  return (await (await call('/api/v1/model')).json()) as Model;
}

/** @param url `atlas_url` of the model; the compact form lies beside the JSON */
export async function fetchAtlas(url: string): Promise<ArrayBuffer> {
  return (await call(url.replace(/\.json$/, '.bin'))).arrayBuffer();
}

export async function postRun(experiment: Experiment): Promise<FullRun> {
  const response = await call('/api/v1/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(experiment),
  });
  return (await response.json()) as FullRun;
}

async function call(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const slow = error instanceof DOMException && error.name === 'TimeoutError';
    throw new ServiceFailure(
      'offline',
      slow ? 'The service did not answer within a minute.' : 'The service cannot be reached.',
      DEFAULT_RETRY_S,
    );
  }
  if (response.ok) return response;
  const message = await errorOf(response);
  const retryAfterS = Number(response.headers.get('retry-after')) || DEFAULT_RETRY_S;
  if (response.status === 429) throw new ServiceFailure('limited', message, retryAfterS);
  if (response.status === 503) throw new ServiceFailure('unavailable', message, retryAfterS);
  throw new ServiceFailure('refused', message, 0);
}

async function errorOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // A proxy in between may answer with something else than JSON.
  }
  return `The service answered ${response.status}.`;
}
