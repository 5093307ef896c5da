import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Subject } from 'rxjs';
import { Environment } from '../../config/environment.js';
import { runId, type Experiment, type View } from '../../../presets/experiment.js';
import { presetOf } from '../../../presets/presets.js';
import { CodedError } from '../../../errors.js';
import { withTimeout } from '../../../with-timeout.js';
import { ModelHealth } from '../../health/model-health.js';
import { clientGone } from '../../http/request-watch.js';
import type { SubmittedRun } from '../../../scheduling/experiment-queue.js';
import type { QueuedResult } from '../../../scheduling/queued-run.js';
import type { RunBody } from '../../../presets/run-body.js';
import { gzip } from '../../../gzip.js';

export interface RunOrder {
  readonly experiment: Experiment;
  readonly view: View;
  readonly gzip: boolean;
  /** Who asks; for the share of the waiting line. */
  readonly client: string;
  /**
   * Calls the listener when the client has gone, at once if it has; gives a function that ends that. By default the run
   * goes on for those who ask next.
   */
  readonly whenGone?: (listener: () => void) => () => void;
  /** Run of the service itself, which no client asked for: see warm-up.ts. */
  readonly isWarmUp?: boolean;
}

/** Where an answer came from, in the words of RFC 9211. */
export type CacheStatus = 'hit' | 'fwd=miss' | 'fwd=miss; stored' | 'fwd=miss; collapsed';

export interface RunAnswer {
  readonly result: RunResult;
  readonly cacheStatus: CacheStatus;
  /** How long the run took where it was computed for this order. */
  readonly timings: Timings | undefined;
}

export type Timings = Pick<QueuedResult, 'queueMs' | 'timings' | 'spikes' | 'backend'>;

/** Facts of a run request and its answer, for the log and the metrics. */
export interface RunReport {
  readonly experiment: Experiment;
  readonly view: View;
  /** Undefined until there is one, and for good where the run failed. */
  answer?: RunAnswer;
}

/** Those of valid requests. */
export const runReports = new WeakMap<FastifyRequest, RunReport>();

/** A run under way, and how many still want its result. */
interface RunInFlight {
  readonly run: SubmittedRun;
  readonly result: Promise<{ readonly result: RunResult; readonly timings: Timings }>;
  clients: number;
}

/**
 * Equal orders share one simulation: a result that is in the cache is used again, a run that is in progress is waited
 * for. A run that no worker has begun is withdrawn when its last client has gone; one that is being computed goes on,
 * because its result may be asked for again.
 */
@Injectable()
export class RunService {
  /** Every simulation that was finished, once, however many waited for it, but for warm-ups. */
  readonly simulated = new Subject<Timings>();
  readonly #inFlight = new Map<string, RunInFlight>();
  readonly #cache: LRUCache<string, RunResult> | undefined;

  constructor(
    private readonly health: ModelHealth,
    private readonly environment: Environment,
  ) {
    if (environment.CACHE_BYTES > 0) {
      this.#cache = new LRUCache({
        maxSize: environment.CACHE_BYTES,
        sizeCalculation: ({ bytes }) => bytes,
      });
    }
  }

  get cacheBytes(): number {
    return this.#cache?.calculatedSize ?? 0;
  }

  get cacheEntries(): number {
    return this.#cache?.size ?? 0;
  }

  /** @throws CodedError STIMULUS_UNAVAILABLE, or one whose status is 503 (src/errors.ts) */
  async run(order: RunOrder): Promise<RunAnswer> {
    const { connectome } = this.health.modelForRuns();
    presetOf(connectome.metadata, order.experiment.stimulus);
    const id = runId(connectome.digest, order.experiment);
    const keys = order.view === 'full' ? [`${id} full`] : [`${id} drive`, `${id} full`];
    for (const key of keys) {
      const known = this.#cache?.get(key);
      if (known !== undefined) {
        return { result: asView(known, key, order.view), cacheStatus: 'hit', timings: undefined };
      }
    }
    const joined = keys.find((key) => this.#inFlight.has(key));
    const key = joined ?? keys[0]!;
    const running = this.#inFlight.get(key) ?? this.#start(key, order);
    const { result, timings } = await this.#wait(running, key, order.whenGone);
    const computed = this.#cache?.has(key) ? 'fwd=miss; stored' : 'fwd=miss';
    return {
      result: asView(result, key, order.view),
      cacheStatus: joined === undefined ? computed : 'fwd=miss; collapsed',
      timings: joined === undefined ? timings : undefined,
    };
  }

  #start(key: string, { experiment, view, gzip, client, isWarmUp }: RunOrder): RunInFlight {
    const { queue } = this.health.modelForRuns();
    const run = queue.submit({ kind: 'v1-run', experiment, view, gzip }, client);
    const result = run.result.then((queued) => ({
      result: new RunResult(queued.body, queued.gzip, queued.backend),
      timings: queued,
    }));
    const running: RunInFlight = { run, result, clients: 0 };
    this.#inFlight.set(key, running);
    result.then(
      ({ result, timings }) => {
        this.#forget(key, running);
        if (isWarmUp) return;
        this.simulated.next(timings);
        this.#cache?.set(key, result);
      },
      () => this.#forget(key, running),
    );
    return running;
  }

  /** Until the result is there, the client's deadline has passed, or the client has gone. */
  async #wait(
    running: RunInFlight,
    key: string,
    whenGone: RunOrder['whenGone'],
  ): Promise<Awaited<RunInFlight['result']>> {
    const { RUN_TIMEOUT_MS } = this.environment;
    running.clients++;
    let stopListening: (() => void) | undefined;
    const gone = new Promise<never>((_, reject) => {
      stopListening = whenGone?.(() => reject(clientGone()));
    });
    try {
      return await withTimeout(RUN_TIMEOUT_MS, Promise.race([running.result, gone]), () => {
        throw new CodedError(
          'DEADLINE_PASSED',
          `The run did not finish within ${RUN_TIMEOUT_MS} ms of its arrival; try again.`,
        );
      });
    } finally {
      stopListening?.();
      running.clients--;
      if (running.clients === 0 && running.run.cancel()) this.#forget(key, running);
    }
  }

  #forget(key: string, running: RunInFlight): void {
    if (this.#inFlight.get(key) === running) this.#inFlight.delete(key);
  }
}

function asView(result: RunResult, key: string, view: View): RunResult {
  return view === 'drive' && key.endsWith(' full') ? result.drive() : result;
}

/** Memory that an entry of the cache takes beside its bytes, about. */
const OVERHEAD_BYTES = 512;
const CLOSING_BRACE = Buffer.from('}');

/** The response to an experiment, in the encodings requested so far. */
export class RunResult {
  constructor(
    private readonly body: RunBody,
    private compressed: Uint8Array | undefined,
    readonly backend: string,
  ) {}

  get identity(): Uint8Array {
    return this.body.bytes;
  }

  /** Mostly made by the worker; where a later client is the first to want it, off the main thread too. */
  async gzip(): Promise<Uint8Array> {
    this.compressed ??= await gzip(this.identity);
    return this.compressed;
  }

  /** Both encodings, as if both were there: an entry must not outgrow its account. */
  get bytes(): number {
    return this.identity.length + (this.compressed?.length ?? this.identity.length) + OVERHEAD_BYTES;
  }

  /** view=drive of the same experiment. */
  drive(): RunResult {
    const { bytes, headBytes } = this.body;
    const drive = Buffer.concat([bytes.subarray(0, headBytes), CLOSING_BRACE]);
    return new RunResult({ bytes: drive, headBytes }, undefined, this.backend);
  }
}
