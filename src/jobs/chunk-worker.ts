import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { encodeOutcome } from '../answers/v2/outcomes.js';
import { CodedError, failureOf, type Failure } from '../errors.js';
import type { LoadedModel, ModelHealth } from '../health/model-health.js';
import { RETRY_MS, type ChunkQueue, type ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';
import type { JobStore } from './job-store.js';
import { isOfRedis, isRefusedWrite, jobsUnavailable } from './jobs-redis.js';
import { JobEnded, OpenedJobs, OtherModel, type OpenedJob } from './opened-job.js';
import { chunkLength, chunksOf } from './phases.js';

/** What happens to a process or its model, not to a job: the chunk is tried again. */
const TEMPORARY: readonly string[] = ['MODEL_LOADING', 'MODEL_FAILED', 'DRAINING', 'WORKER_LOST'];
/** A model whose workers have ended is found to have failed a moment later. */
const MODEL_LOSS_MS = 200;

/** How a chunk ended: `retried` where it is tried again, `ended` where its job ended meanwhile. */
export const CHUNK_OUTCOMES = ['done', 'ended', 'retried', 'failed'] as const;

export interface ChunkReport {
  readonly outcome: (typeof CHUNK_OUTCOMES)[number];
  /** From its beginning, including what its trials waited. */
  readonly ms: number;
  /** That were simulated. */
  readonly trials: number;
}

/** Computes the chunks of jobs with the workers that nothing else needs. */
export class ChunkWorker implements ChunkWork {
  readonly #log = new Logger('jobs');
  readonly #opened: OpenedJobs;
  /** Jobs of which a chunk is being computed here, once for each chunk. */
  readonly #computed = new Map<Chunk, OpenedJob>();
  #computing = 0;
  /** Told of every chunk that was computed here. */
  readonly reports = new Subject<ChunkReport>();

  constructor(
    private readonly health: ModelHealth,
    private readonly store: JobStore,
    private readonly queue: ChunkQueue,
  ) {
    this.#opened = new OpenedJobs(store);
  }

  /** Chunks that are being computed. */
  get computing(): number {
    return this.#computing;
  }

  get model(): string | undefined {
    return this.#served?.id;
  }

  /** One more than there are workers for: its trials begin as soon as a worker is free. */
  get atOnce(): number {
    return 1 + (this.#served?.queue.trialsAtOnce ?? 0);
  }

  hasRoom(): boolean {
    return this.#served?.queue.hasRoomForBackground === true;
  }

  get #served(): LoadedModel | undefined {
    const { state, draining } = this.health;
    return state.name === 'ready' && !draining ? state.model : undefined;
  }

  /** Ends what is being computed of a job. */
  stop(id: string): void {
    for (const { record, stop } of this.#computed.values()) if (record.id === id) stop.abort(new JobEnded());
  }

  async compute(chunk: Chunk): Promise<void> {
    const endTask = this.health.beginLongTask();
    this.#computing++;
    const startedMs = performance.now();
    const count = { trials: 0 };
    let outcome: ChunkReport['outcome'] = 'done';
    try {
      await this.#compute(chunk, this.health.modelForRuns(), count);
    } catch (error) {
      outcome = 'ended';
      if (error instanceof JobEnded) return;
      outcome = 'retried';
      if (await this.#isTemporary(error)) throw error;
      outcome = 'failed';
      await this.giveUp(chunk, error);
    } finally {
      this.reports.next({ outcome, ms: performance.now() - startedMs, trials: count.trials });
      this.#computed.delete(chunk);
      this.#computing--;
      endTask();
    }
  }

  async giveUp({ job }: Chunk, error: unknown): Promise<void> {
    const failure = failureOf(isOfRedis(error) ? jobsUnavailable(error) : error);
    if (failure.code === 'INTERNAL') this.#log.error(`A job failed: ${failure.message}`);
    await this.#untilTaken(() => this.store.fail(job, publicFailure(failure)));
    await this.queue.remove(job);
  }

  async #compute(chunk: Chunk, model: LoadedModel, count: { trials: number }): Promise<void> {
    const opened = await this.#opened.open(chunk.job, model);
    // From here on, whoever ends the job ends this chunk; a job that was ended before does not begin.
    this.#computed.set(chunk, opened);
    if (!(await this.#untilTaken(() => this.store.begin(chunk.job)))) return;
    const { record, plan, phases, conditions, stop } = opened;
    const wanted = phases[chunk.phase]!.slice(chunk.from, chunk.to);
    const there = await this.store.outcomes(record.id, wanted);
    const missing = wanted.filter((_, at) => there[at] === undefined);
    const signal = AbortSignal.any([stop.signal, this.health.ending]);
    const inFlight = () => Math.max(2, Math.ceil(model.queue.trialsInFlight / this.computing));
    let computedMs = 0;
    const outcomes = conditions.run(
      missing,
      (task, trialSignal) =>
        model.queue.runTrial(task, {
          owner: record.client,
          signal: trialSignal,
          isBackground: true,
          onComputed: (ms) => {
            computedMs += ms;
            count.trials++;
          },
        }),
      {
        signal,
        // Of all that is computed here, each chunk gets its share, and the last one all.
        get inFlight() {
          return inFlight();
        },
      },
    );
    for await (const [index, outcome] of outcomes) {
      const computed = {
        index,
        phase: chunk.phase,
        outcome: await encodeOutcome(outcome),
        brainMs: plan.brainMsOf(index),
        // With several conditions nobody knows whose trials took it.
        costMs: missing.length === 1 ? computedMs : 0,
      };
      const isWanted = await this.#untilTaken(() => this.store.keep(record.id, computed, record.conditions));
      if (!isWanted) throw new JobEnded();
    }
    await this.#untilTaken(() => this.#advance(opened, chunk.phase));
  }

  /**
   * Repeats what Redis refuses, for example because it is full: a job waits for room. While this process drains it does
   * not, and another one takes the chunk.
   */
  async #untilTaken<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!isRefusedWrite(error) || this.health.draining) throw error;
      }
      await sleep(RETRY_MS);
    }
  }

  /** Hands out the next phase once all conditions of this one are done. */
  async #advance({ record, phases }: OpenedJob, phase: number): Promise<void> {
    const { id } = record;
    const next = phases[phase + 1];
    if (next === undefined || (await this.store.doneInPhase(id, phase)) < phases[phase]!.length) return;
    const length = chunkLength(await this.store.highestCostMs(id));
    const fixed = await this.store.fixChunkLength(id, phase + 1, length);
    await this.queue.add(chunksOf(record, phases, phase + 1, fixed));
  }

  /** Whether the failure is that of this process or its model. A trial that ends its workers twice is its own. */
  async #isTemporary(error: unknown): Promise<boolean> {
    // Redis is full, or not the master any more.
    if (isOfRedis(error) || error instanceof OtherModel) return true;
    if (!(error instanceof CodedError) || !TEMPORARY.includes(error.code)) return false;
    if (error.code !== 'WORKER_LOST') return true;
    await sleep(MODEL_LOSS_MS);
    return this.health.draining || this.health.state.name !== 'ready';
  }
}

/** A bug must not reveal internals. */
function publicFailure(failure: Failure): Failure {
  if (failure.code !== 'INTERNAL') return failure;
  return {
    code: 'INTERNAL',
    message: 'An unexpected error occurred in the service; its log has the details.',
  };
}
