import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { encodeOutcome } from '../answers/v2/outcomes.js';
import { CodedError, failureOf, type Failure } from '../errors.js';
import type { LoadedModel, ModelHealth } from '../health/model-health.js';
import type { ChunkQueue, ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';
import type { JobStore } from './job-store.js';
import { JobEnded, openJob, type OpenedJob } from './opened-job.js';
import { chunkLength, chunksOf } from './phases.js';

/** Jobs whose plans are kept: more than are computed in turn, as a rule. */
const OPENED_JOBS = 8;
/** What happens to a process or its model, not to a job: the chunk is tried again. */
const TEMPORARY: readonly string[] = ['MODEL_LOADING', 'MODEL_FAILED', 'DRAINING', 'WORKER_LOST'];
/** A model whose workers have ended is found to have failed a moment later. */
const MODEL_LOSS_MS = 200;

/** Computes the chunks of jobs with the workers that nothing else needs. */
export class ChunkWorker implements ChunkWork {
  readonly #log = new Logger('jobs');
  /** By model and job. */
  readonly #opened = new LRUCache<string, OpenedJob>({ max: OPENED_JOBS });
  /** Jobs of which a chunk is being computed here, once for each chunk. */
  readonly #computed = new Map<Chunk, OpenedJob>();
  #computing = 0;

  constructor(
    private readonly health: ModelHealth,
    private readonly store: JobStore,
    private readonly queue: ChunkQueue,
  ) {}

  /** Chunks that are being computed. */
  get computing(): number {
    return this.#computing;
  }

  hasRoom(): boolean {
    const { state, draining } = this.health;
    if (draining || state.name !== 'ready') return false;
    const { queue } = state.model;
    // One more than can be computed: its trials begin as soon as a worker is free.
    return this.computing <= queue.trialsAtOnce && queue.hasRoomForBackground;
  }

  /** Ends what is being computed of a job. */
  stop(id: string): void {
    for (const { record, stop } of this.#computed.values()) if (record.id === id) stop.abort(new JobEnded());
  }

  async compute(chunk: Chunk): Promise<void> {
    const endTask = this.health.beginLongTask();
    this.#computing++;
    try {
      await this.#compute(chunk, this.health.modelForRuns());
    } catch (error) {
      if (error instanceof JobEnded) return;
      if (await this.#isTemporary(error)) throw error;
      await this.giveUp(chunk, error);
    } finally {
      this.#computed.delete(chunk);
      this.#computing--;
      endTask();
    }
  }

  async giveUp({ job }: Chunk, error: unknown): Promise<void> {
    const failure = failureOf(error);
    if (failure.code === 'INTERNAL') this.#log.error(`A job failed: ${failure.message}`);
    await this.store.fail(job, publicFailure(failure));
    await this.queue.remove(job);
  }

  async #compute(chunk: Chunk, model: LoadedModel): Promise<void> {
    if (!(await this.store.begin(chunk.job))) return;
    const opened = await this.#open(chunk.job, model);
    this.#computed.set(chunk, opened);
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
          onComputed: (ms) => (computedMs += ms),
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
      const isWanted = await this.store.keep(record.id, {
        index,
        phase: chunk.phase,
        outcome: encodeOutcome(outcome),
        brainMs: plan.brainMsOf(index),
        // With several conditions nobody knows whose trials took it.
        costMs: missing.length === 1 ? computedMs : 0,
      });
      if (!isWanted) throw new JobEnded();
    }
    await this.#advance(opened, chunk.phase);
  }

  /** Hands out the next phase once all conditions of this one are done. */
  async #advance({ record: { id }, phases }: OpenedJob, phase: number): Promise<void> {
    const next = phases[phase + 1];
    if (next === undefined || (await this.store.doneInPhase(id, phase)) < phases[phase]!.length) return;
    const length = chunkLength(await this.store.highestCostMs(id));
    const fixed = await this.store.fixChunkLength(id, phase + 1, length);
    await this.queue.add(chunksOf(id, phase + 1, next.length, fixed));
  }

  async #open(id: string, model: LoadedModel): Promise<OpenedJob> {
    const key = `${model.id} ${id}`;
    const known = this.#opened.get(key);
    if (known !== undefined && !known.stop.signal.aborted) return known;
    const job = await this.store.find(id);
    if (job === undefined || job.record.model !== model.id) throw new JobEnded();
    const opened = openJob(job.record, model.connectome, this.store);
    this.#opened.set(key, opened);
    return opened;
  }

  /** Whether the failure is that of this process or its model. A trial that ends its workers twice is its own. */
  async #isTemporary(error: unknown): Promise<boolean> {
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
