/** Calls of the service from the pages, and their failures. */
import {
  InterruptedError,
  NeuralExperimentClient,
  ServiceError,
  type DriveRun,
  type ErrorCode,
  type FullRun,
  type Model,
} from '#client';
import { type CompactAtlas, decodeAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import type { CellCard } from '../../../src/engine/connectome/cell-card.js';
import type { Selection } from '../selection.js';
import type { Experiment } from './experiment.js';
import { placeFromNow, transport } from './transport.js';

export type { DriveRun, FullRun, Model };
export type Channel = Model['channels'][number];
export type Citation = Model['citations'][number];
export type Frame = FullRun['frames'][number];
export type TopType = FullRun['top_types'][number];

/** Pause if the service does not say when to come back. */
const DEFAULT_RETRY_S = 5;
/** Statuses for which sending the same experiment again is useless. */
const REFUSALS: readonly unknown[] = [400, 406, 413, 415, 422];

/** The service that serves the page, and the brain in this tab. */
export const service = new NeuralExperimentClient('', { fetch: transport, timeoutMs: Infinity });

/** Error of the service: its code, its path in the document, and suggestions. */
export interface Fault {
  readonly code?: ErrorCode | undefined;
  readonly path?: string | undefined;
  readonly suggestions?: readonly string[];
}

export type FailureKind = 'offline' | 'limited' | 'unavailable' | 'failed' | 'refused' | 'ended';

/** The failure of a call, in a form that the page can show. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** Seconds until it makes sense to ask again; 0 if waiting does not help. */
    readonly retryAfterS = 0,
    readonly place: Fault = {},
  ) {
    super(message);
  }
}

/** The whole atlas. @param onBytes called with the number of bytes so far, uncompressed */
export function fetchAtlas(url: string, onBytes: (received: number) => void): Promise<CompactAtlas> {
  const client = new NeuralExperimentClient('', {
    fetch: async (...request) => {
      const response = await transport(...request);
      if (!response.ok) return response;
      return new Response(response.body?.pipeThrough(counted(onBytes)) ?? null, response);
    },
  });
  return fetchPart(url, '', client);
}

/**
 * A part of the atlas.
 * @param part the first part, which is drawn until all of it is loaded, or the map: names of types, and the positions
 *   of some neurons of each
 */
export async function fetchPart(
  url: string,
  part: '' | '-start' | '-map',
  client = service,
): Promise<CompactAtlas> {
  return decodeAtlas((await client.bytes(url.replace(/\.json$/, `${part}.bin`))).buffer);
}

function counted(onBytes: (received: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let received = 0;
  return new TransformStream({
    transform(piece, controller) {
      received += piece.length;
      onBytes(received);
      controller.enqueue(piece);
    },
  });
}

/** Names of the cell types that begin with a text. */
export async function typesLike(start: string, signal: AbortSignal): Promise<string[]> {
  const type = `${start.replaceAll('*', '')}*`;
  return Object.keys((await service.neurons({ type, limit: 1 }, { signal })).types);
}

/** @param atlasUrl `atlas_url` of the model; the cards have addresses below it */
export function fetchCard(atlasUrl: string, selection: Selection): Promise<CellCard> {
  const folder = atlasUrl.replace(/\.json$/, '');
  const path = selection.kind === 'neuron' ? `neurons/${selection.neuron}` : `types/${selection.type}`;
  return fetchJson<CellCard>(`${folder}/${path}`);
}

/** @param path of a file that is not part of the API */
export async function fetchJson<T>(path: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await service.bytes(path))) as T;
}

const places = new WeakMap<FullRun, string>();

/** The place where a run was computed, as a sentence for readers. */
export function placeOf(run: FullRun): string {
  return places.get(run) ?? 'Computed earlier, and stored.';
}

/** @throws ServiceFailure if an answer is of another brain than that of the page */
export function checkBrain(answer: { readonly model: string }, { id }: Model): void {
  if (answer.model !== id)
    throw new ServiceFailure('failed', 'The service has another model now; load the page again.');
}

export async function postRun(experiment: Experiment, model: Model): Promise<FullRun> {
  const place = placeFromNow();
  const run = await service.run(experiment as Parameters<typeof service.run>[0]);
  checkBrain(run, model);
  places.set(run, place());
  return run;
}

/** Turns any error into a failure that the page can show. */
export function asFailure(error: unknown): ServiceFailure {
  if (error instanceof ServiceFailure) return error;
  if (error instanceof ServiceError) return failureOf(error);
  const isLate = (cause: unknown) => cause instanceof DOMException && cause.name === 'TimeoutError';
  if (error instanceof InterruptedError) {
    if (error.cause instanceof ServiceError) return failureOf(error.cause);
    const message = isLate(error.cause)
      ? 'The service said nothing for too long.'
      : 'The connection broke before the experiment was done.';
    return new ServiceFailure('offline', message);
  }
  const { code, cause, message: unread } = (error ?? {}) as Partial<Error & { code: unknown }>;
  // The brain of a site did not arrive.
  if (code === 'CONNECTOME_MISSING' && (cause instanceof TypeError || isLate(cause)))
    return new ServiceFailure('offline', String(unread), DEFAULT_RETRY_S);
  if (isLate(error)) {
    return new ServiceFailure('offline', 'The service did not answer in time.', DEFAULT_RETRY_S);
  }
  if (error instanceof SyntaxError) {
    const message = 'The answer is not JSON, so it is not from the service.';
    return new ServiceFailure('failed', message, DEFAULT_RETRY_S);
  }
  // Messages of Chromium, Firefox and Safari.
  if (error instanceof TypeError && /import(ed|ing).* module/i.test(error.message)) {
    const message =
      'A part of this page did not arrive. If the connection works, the page is older than its service: load it again.';
    return new ServiceFailure(navigator.onLine ? 'failed' : 'offline', message, DEFAULT_RETRY_S);
  }
  // fetch throws a TypeError if nothing answers. Other TypeErrors are bugs, but look the same.
  if (error instanceof TypeError) {
    return new ServiceFailure('offline', 'The service cannot be reached.', DEFAULT_RETRY_S);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ServiceFailure('failed', message, DEFAULT_RETRY_S);
}

/** Most failures allow another try, because a proxy may have answered, and replicas may differ for a while. */
function failureOf(error: ServiceError): ServiceFailure {
  const { status, message, code, path, suggestions } = error;
  if (REFUSALS.includes(status))
    return new ServiceFailure('refused', message, 0, { code, path, suggestions });
  const kind = status === 429 ? 'limited' : status === 503 ? 'unavailable' : 'failed';
  return new ServiceFailure(kind, message, error.retryAfterS || DEFAULT_RETRY_S, { code, path, suggestions });
}
