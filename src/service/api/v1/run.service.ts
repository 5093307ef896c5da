import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Subject } from 'rxjs';
import { Environment } from '../../config/environment.js';
import { runId, type Experiment, type View, presetOf } from '../../../experiments/presets/experiment.js';
import { CodedError } from '../../../engine/errors.js';
import { withTimeout } from '../../../workers/pool/with-timeout.js';
import { ModelHealth } from '../../health/model-health.js';
import { clientGone } from '../../http/request-watch.js';
import type { SubmittedRun } from '../../../workers/queue/experiment-queue.js';
import type { QueuedResult } from '../../../workers/queue/queued-task.js';
import type { RunBody } from '../../../experiments/presets/run-body.js';
import { gzip } from '../../../workers/pool/gzip.js';

export interface WantedRun {
  readonly experiment: Experiment;
  readonly view: View;
  readonly gzip: boolean;
  /** The client, whose share of the queue the run uses. */
  readonly client: string;
  /**
   * Calls the listener after the client has disconnected, at once if it already has; returns a function that removes
   * the listener. By default the run continues for later requests.
   */
  readonly whenGone?: (listener: () => void) => () => void;
}

/** Source of an answer, in the terms of RFC 9211. */
export type CacheStatus = 'hit' | 'fwd=miss' | 'fwd=miss; stored' | 'fwd=miss; collapsed';

export interface RunAnswer {
  readonly result: RunResult;
  readonly cacheStatus: CacheStatus;
  /** Times of the run, if it was computed for this request. */
  readonly timings: Timings | undefined;
}

export type Timings = Pick<QueuedResult, 'queueMs' | 'timings' | 'spikes' | 'backend'>;

/** Data about a run request and its answer, for the log and the metrics. */
export interface RunReport {
  readonly experiment: Experiment;
  readonly view: View;
  /** Undefined before the answer, and if the run failed. */
  answer?: RunAnswer;
}

/** Reports of valid requests. */
export const runReports = new WeakMap<FastifyRequest, RunReport>();

/** A run in progress and the number of clients that wait for it. */
interface RunInFlight {
  readonly run: SubmittedRun;
  readonly result: Promise<{ readonly result: RunResult; readonly timings: Timings }>;
  clients: number;
}

/**
 * Runs experiments so that equal orders share one simulation: from the cache, or by waiting for a run in progress. If
 * the last client of a run has disconnected and no worker has begun it, it is withdrawn. A run that a worker has
 * begun continues, because its result may be requested again.
 */
@Injectable()
export class RunService {
  /** Reports each finished simulation once, even if several clients waited for it. */
  readonly simulated = new Subject<Timings>();
  readonly #inFlight = new Map<string, RunInFlight>();
  /** Holds nothing if CACHE_BYTES is 0: the smallest limit refuses every result. */
  readonly cache: LRUCache<string, RunResult>;

  constructor(
    private readonly health: ModelHealth,
    private readonly environment: Environment,
  ) {
    const maxSize = Math.max(1, environment.CACHE_BYTES);
    this.cache = new LRUCache({ maxSize, sizeCalculation: ({ bytes }) => bytes });
  }

  /** @throws CodedError STIMULUS_UNAVAILABLE, or one whose status is 503 (src/engine/errors.ts) */
  async run(wanted: WantedRun): Promise<RunAnswer> {
    const { connectome } = this.health.modelForRuns();
    presetOf(connectome.metadata, wanted.experiment.stimulus);
    const id = runId(connectome.digest, wanted.experiment);
    const keys = wanted.view === 'full' ? [`${id} full`] : [`${id} drive`, `${id} full`];
    for (const key of keys) {
      const known = this.cache.get(key);
      if (known !== undefined) {
        return { result: asView(known, key, wanted.view), cacheStatus: 'hit', timings: undefined };
      }
    }
    const joined = keys.find((key) => this.#inFlight.has(key));
    const key = joined ?? keys[0]!;
    const running = this.#inFlight.get(key) ?? this.#start(key, wanted);
    const { result, timings } = await this.#wait(running, key, wanted.whenGone);
    const computed = this.cache.has(key) ? 'fwd=miss; stored' : 'fwd=miss';
    return {
      result: asView(result, key, wanted.view),
      cacheStatus: joined === undefined ? computed : 'fwd=miss; collapsed',
      timings: joined === undefined ? timings : undefined,
    };
  }

  #start(key: string, { experiment, view, gzip, client }: WantedRun): RunInFlight {
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
        this.simulated.next(timings);
        this.cache.set(key, result);
      },
      () => this.#forget(key, running),
    );
    return running;
  }

  /** Waits for the result, the client's timeout or the client's end. */
  async #wait(
    running: RunInFlight,
    key: string,
    whenGone: WantedRun['whenGone'],
  ): Promise<Awaited<RunInFlight['result']>> {
    const { RUN_TIMEOUT_MS } = this.environment;
    running.clients++;
    const endTask = this.health.beginTask();
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
      endTask();
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

/** Approximate memory of a cache entry beside its bytes. */
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

  /**
   * Usually the worker has compressed the body. If a later client is the first to need it, this compresses off the
   * main thread.
   */
  async gzip(): Promise<Uint8Array> {
    this.compressed ??= await gzip(this.identity);
    return this.compressed;
  }

  /** Counts both encodings even if one does not exist yet, because an entry must not outgrow its counted size. */
  get bytes(): number {
    return this.identity.length + (this.compressed?.length ?? this.identity.length) + OVERHEAD_BYTES;
  }

  /** Returns the response with view=drive for the same experiment. */
  drive(): RunResult {
    const { bytes, headBytes } = this.body;
    const drive = Buffer.concat([bytes.subarray(0, headBytes), CLOSING_BRACE]);
    return new RunResult({ bytes: drive, headBytes }, undefined, this.backend);
  }
}
