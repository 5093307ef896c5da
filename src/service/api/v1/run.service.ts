import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Subject } from 'rxjs';
import { Environment } from '../config/environment.js';
import type { Experiment, View } from '../answers/v1/experiment.js';
import { presetOf } from '../answers/v1/presets.js';
import { runId } from '../answers/v1/run-id.js';
import { CodedError } from '../errors.js';
import { ModelHealth } from '../health/model-health.js';
import type { QueuedResult, QueuedRun } from '../pool/experiment-queue.js';
import { RunResult } from './run-result.js';

export interface RunOrder {
  readonly experiment: Experiment;
  readonly view: View;
  readonly gzip: boolean;
  /** Who asks; for the share of the waiting line. */
  readonly client: string;
  /** Calls the listener when the client has gone, at once where it has; gives a function that ends that. */
  readonly whenGone: (listener: () => void) => () => void;
  /** Nobody asked for it: see warm-up.ts. */
  readonly isWarmUp: boolean;
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

/** A run under way, and how many still want its result. */
interface RunInFlight {
  readonly run: QueuedRun;
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
  /** Every simulation that was finished, once, however many waited for it. */
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

  /** @throws CodedError STIMULUS_UNAVAILABLE, or one with status 503 as in the table */
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
    const result = run.result.then((queued) => ({ result: RunResult.of(queued), timings: queued }));
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
    let timer: NodeJS.Timeout | undefined;
    let stopListening: (() => void) | undefined;
    const givenUp = new Promise<never>((_, reject) => {
      stopListening = whenGone(() => reject(new CodedError('RUN_CANCELLED', 'The client has gone.')));
      timer = setTimeout(
        () =>
          reject(
            new CodedError(
              'DEADLINE_PASSED',
              `The run did not finish within ${RUN_TIMEOUT_MS} ms of its arrival; try again.`,
            ),
          ),
        RUN_TIMEOUT_MS,
      );
    });
    try {
      return await Promise.race([running.result, givenUp]);
    } finally {
      clearTimeout(timer);
      stopListening!();
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
