/** The service as the pages call it, and the ways in which calls fail. */
import {
  InterruptedError,
  NeuralExperimentClient,
  ServiceError,
  type DriveRun,
  type ErrorCode,
  type FullRun,
  type Model,
} from '#client';
import { type CompactAtlas, decodeAtlas } from '../../../src/connectome/atlas-binary.js';
import type { CellCard } from '../../../src/connectome/cell-card.js';
import type { Selection } from '../selection.js';
import type { Experiment } from './experiment.js';

export type { DriveRun, FullRun, Model };
export type Channel = Model['channels'][number];
export type Citation = Model['citations'][number];
export type Frame = FullRun['frames'][number];
export type TopType = FullRun['top_types'][number];

/** Pause where the service does not say when to come back. */
const DEFAULT_RETRY_S = 5;
/** Statuses for which sending the same experiment again is useless. */
const REFUSALS: readonly unknown[] = [400, 406, 413, 415, 422];

/** The service that the page is from. */
export const service = new NeuralExperimentClient('');

/** Error of the service: its code, its place in the document of an open experiment, and what may have been meant. */
export interface Fault {
  readonly code?: ErrorCode | undefined;
  readonly path?: string | undefined;
  readonly suggestions?: readonly string[];
}

export type FailureKind = 'offline' | 'limited' | 'unavailable' | 'failed' | 'refused' | 'ended';

/** Why a call failed, in a form that the page can show. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** Seconds until it makes sense to ask again; 0 where waiting changes nothing. */
    readonly retryAfterS = 0,
    readonly place: Fault = {},
  ) {
    super(message);
  }
}

/** @param onBytes is told how many bytes have come, uncompressed */
export async function fetchAtlas(url: string, onBytes?: (received: number) => void): Promise<CompactAtlas> {
  const client = new NeuralExperimentClient('', {
    fetch: async (...request) => {
      const response = await fetch(...request);
      if (onBytes === undefined || !response.ok) return response;
      return new Response(response.body?.pipeThrough(counted(onBytes)) ?? null, response);
    },
  });
  return decodeAtlas((await client.bytes(url.replace(/\.json$/, '.bin'))).buffer);
}

/** The part of the atlas that is drawn until all of it is there. */
export async function fetchAtlasStart(url: string): Promise<CompactAtlas> {
  return decodeAtlas((await service.bytes(url.replace(/\.json$/, '-start.bin'))).buffer);
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

/** @param atlasUrl `atlas_url` of the model; the cards lie below it */
export function fetchCard(atlasUrl: string, selection: Selection): Promise<CellCard> {
  const folder = atlasUrl.replace(/\.json$/, '');
  const path = selection.kind === 'neuron' ? `neurons/${selection.neuron}` : `types/${selection.type}`;
  return fetchJson<CellCard>(`${folder}/${path}`);
}

/** @param path of a file that is no part of the API */
export async function fetchJson<T>(path: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await service.bytes(path))) as T;
}

export function postRun(experiment: Experiment): Promise<FullRun> {
  return service.run(experiment as Parameters<typeof service.run>[0]);
}

/** Any failure in the form that the page can show, also of an answer that is not what it should be. */
export function asFailure(error: unknown): ServiceFailure {
  if (error instanceof ServiceFailure) return error;
  if (error instanceof ServiceError) return failureOf(error);
  const isLate = (cause: unknown) => cause instanceof DOMException && cause.name === 'TimeoutError';
  if (error instanceof InterruptedError) {
    const message = isLate(error.cause)
      ? 'The service said nothing for too long.'
      : 'The connection broke before the experiment was done.';
    return new ServiceFailure('offline', message);
  }
  if (isLate(error)) {
    return new ServiceFailure('offline', 'The service did not answer in time.', DEFAULT_RETRY_S);
  }
  if (error instanceof SyntaxError) {
    const message = 'The answer is not JSON, so it is not from the service.';
    return new ServiceFailure('failed', message, DEFAULT_RETRY_S);
  }
  // fetch throws a TypeError where nothing answers; other ones are bugs, which are shown as well.
  if (error instanceof TypeError) {
    return new ServiceFailure('offline', 'The service cannot be reached.', DEFAULT_RETRY_S);
  }
  return new ServiceFailure(
    'failed',
    error instanceof Error ? error.message : String(error),
    DEFAULT_RETRY_S,
  );
}

/** Proxies may answer too, and replicas may differ for a while, so most failures are worth another try. */
function failureOf(error: ServiceError): ServiceFailure {
  const { status, message, code, path, suggestions } = error;
  if (REFUSALS.includes(status))
    return new ServiceFailure('refused', message, 0, { code, path, suggestions });
  const kind = status === 429 ? 'limited' : status === 503 ? 'unavailable' : 'failed';
  return new ServiceFailure(kind, message, error.retryAfterS || DEFAULT_RETRY_S, { code, path, suggestions });
}
