import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { CodedError, type ErrorCode } from '../../errors.js';
import { codeOf, parsedBody, type ServiceClient } from '../service-client.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** A service that is restarted is away for a while; its jobs may outlive that. */
const PATIENCE_MS = 120_000;
/** Whoever has interrupted the command does not want to wait. */
const END_WITHIN_MS = 10_000;

/** After these the request may be repeated: it has a key, so no second job is begun. */
const REPEATED: readonly ErrorCode[] = ['SERVICE_UNREACHABLE', 'JOBS_UNAVAILABLE', 'DRAINING'];

/** Asks a service to compute an experiment as a job. */
export const AS_JOB = { prefer: 'respond-async' } as const;

/** What is read of a job. */
export interface RemoteJobState {
  readonly status: 'accepted' | 'running' | 'successful' | 'failed' | 'dismissed';
  readonly conditions: number;
  readonly conditions_done: number;
  /** Estimate of the service. */
  readonly seconds_left?: number;
  readonly error?: { readonly error: string; readonly code?: unknown };
}

export interface JobRequest {
  /** Of a document, besides AS_JOB. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The first condition of the results. */
  readonly from: number;
}

/** An experiment that a service computes as a job: it goes on until it is done or ended. */
export class RemoteJob {
  private constructor(
    private readonly service: ServiceClient,
    /** Below the address of the service. */
    readonly path: string,
  ) {}

  /**
   * @param path of the experiments of the service
   * @param signal ends the attempts, but none while it is under way: a job could have begun whose name nobody knows
   * @throws CodedError for what the service refuses as a job
   */
  static async begin(
    service: ServiceClient,
    path: string,
    { headers, body, from }: JobRequest,
    signal: AbortSignal,
  ): Promise<RemoteJob> {
    const request = {
      method: 'POST',
      headers: { ...headers, ...AS_JOB, 'idempotency-key': `"${randomUUID()}"` },
      body,
    };
    const answer = await patiently(
      () => service.bytes(`${path}?from=${from}`, request),
      signal,
      ({ code }) => REPEATED.includes(code),
    );
    const { jobID } = parsedBody<{ jobID: string }>(path, answer, ['jobID']);
    return new RemoteJob(service, `${path}/${jobID}`);
  }

  /**
   * Waits until the job has succeeded. If it throws for another reason than the end of the job, the job goes on.
   * @throws CodedError for what the job failed with; the service is not reached, or no longer has the job
   */
  async succeeded(signal: AbortSignal, onState: (state: RemoteJobState) => void): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      const state = await patiently(() => this.#state(signal), signal);
      onState(state);
      const { status, error } = state;
      if (status === 'successful') return;
      if (error !== undefined) throw new CodedError(codeOf(error.code), `The job failed: ${error.error}`);
      if (status === 'dismissed') {
        throw new CodedError('NOT_FOUND', 'The job was ended by another client before it was done.');
      }
      await setTimeout(pauseMs, undefined, { signal });
    }
  }

  /**
   * Ends the job and removes its results.
   * @throws CodedError where the service does not do so
   */
  async end(): Promise<void> {
    const signal = AbortSignal.timeout(END_WITHIN_MS);
    await this.service.bytes(this.path, { method: 'DELETE', signal });
  }

  async #state(signal: AbortSignal): Promise<RemoteJobState> {
    const body = await this.service.bytes(this.path, { signal });
    return parsedBody<RemoteJobState>(this.path, body, ['status', 'conditions', 'conditions_done']);
  }
}

/** Asks again while the service is away or busy, for PATIENCE_MS. */
export async function patiently<T>(
  ask: () => Promise<T>,
  signal: AbortSignal,
  mayPass: (error: CodedError) => boolean = ({ status }) => status >= 500,
): Promise<T> {
  const giveUpMs = performance.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      return await ask();
    } catch (error) {
      const isOver = !(error instanceof CodedError) || !mayPass(error) || performance.now() >= giveUpMs;
      if (isOver) throw error;
    }
    await setTimeout(pauseMs, undefined, { signal });
  }
}
