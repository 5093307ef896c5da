import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { CodedError, ERRORS, failureOf, type Failure } from '../../engine/errors.js';
import { ThreadLost } from '../../workers/thread/experiment-thread.js';
import type { ThreadWork, TrialRunner } from '../../workers/thread/thread-work.js';
import { CHUNK_RETRY_MS } from '../../workers/pool/retries.js';
import { chunkLength, chunksOf, resumingChunk, type ChunkQueue, type ChunkWork } from './chunk-queue.js';
import type { Chunk, JobRecord } from './job.js';
import type { BullChunkQueue } from './bull-chunk-queue.js';
import type { DiskJobStore } from './disk-job-store.js';
import type { JobStore } from './job-store.js';
import { isOfRedis, isRefusedWrite, jobsUnavailable } from './jobs-redis.js';
import type { RedisJobStore } from './redis-job-store.js';
import { JobEnded, type JobModel, OpenedJobs, OtherModel, type OpenedJob } from './opened-job.js';

/** Failures of the process or its model, not of the job: the chunk is retried. */
const TEMPORARY: readonly string[] = [
  'MODEL_LOADING',
  'MODEL_FAILED',
  'DRAINING',
  'WORKER_LOST',
  'JOBS_UNAVAILABLE',
];
/** A job without chunks has lost them if nothing changes it for this long: between two phases it has none for an instant. */
const STANDING_MS = 60_000;
/** Delay after which the state of the model tells whether its workers are lost. */
const MODEL_LOSS_MS = 200;

/** The result of a chunk: `retried` if it failed and is tried again, `ended` if its job ended before or meanwhile. */
export const CHUNK_OUTCOMES = ['done', 'ended', 'retried', 'failed'] as const;

interface ChunkReport {
  readonly outcome: (typeof CHUNK_OUTCOMES)[number];
  /** Duration, including the time that its trials waited. */
  readonly ms: number;
  /** Number of simulated trials. */
  readonly trials: number;
}

/** The process that computes jobs. */
export interface JobHost {
  readonly state:
    | { readonly name: 'ready'; readonly model: JobModel }
    | { readonly name: 'loading' | 'failed' };
  /** True after the process has stopped accepting work. */
  readonly draining: boolean;
  /** Aborted at the end of the time in which started work may finish. */
  readonly ending: AbortSignal;
  /** @throws CodedError if no model is loaded */
  modelForRuns(): JobModel;
  /**
   * Announces a chunk, so that shutdown waits for it.
   * @returns a function that ends it
   */
  beginTask(): () => void;
}

/** A chunk that this process is computing. */
class RunningChunk {
  /** Aborted with the reason that ends the chunk. */
  readonly stop = new AbortController();
  trials = 0;
  /** CPU time of its trials. */
  computedMs = 0;
  /** Its work in the experiment thread. */
  work: ThreadWork | undefined;

  constructor(readonly chunk: Chunk) {}
}

/** Computes chunks of jobs on workers that nothing else needs. */
export class ChunkWorker implements ChunkWork {
  /** Reports every chunk that this process computed. */
  readonly reports = new Subject<ChunkReport>();
  readonly #log = new Logger('jobs');
  readonly #opened: OpenedJobs;
  readonly #running = new Set<RunningChunk>();

  constructor(
    private readonly host: JobHost,
    private readonly store: JobStore,
    private readonly queue: ChunkQueue,
  ) {
    this.#opened = new OpenedJobs(store);
  }

  get computing(): number {
    return this.#running.size;
  }

  get model(): string | undefined {
    return this.#served?.id;
  }

  /** One chunk more than workers of trials, so that a free worker finds the next trial at once. */
  get atOnce(): number {
    return 1 + (this.#served?.queue.trialsAtOnce ?? 0);
  }

  hasRoom(): boolean {
    return this.#served?.queue.hasRoomForBackground === true;
  }

  get #served(): JobModel | undefined {
    const { state, draining } = this.host;
    return state.name === 'ready' && !draining ? state.model : undefined;
  }

  /** Goes on with the jobs that an earlier process left in the store, as soon as the model is loaded. */
  async resume(store: Pick<DiskJobStore, 'adopt'>): Promise<void> {
    while (this.model === undefined) {
      if (this.host.draining) return;
      await sleep(CHUNK_RETRY_MS, undefined, { ref: false });
    }
    const { model } = this;
    const { ids, others } = await store.adopt(model);
    await this.queue.add(ids.map((id) => resumingChunk(id, model)));
    if (ids.length > 0) this.#log.log(`Goes on with unfinished jobs: ${ids.length}.`);
    if (others > 0) {
      this.#log.warn(`Unfinished jobs that wait for the model of the service that began them: ${others}.`);
    }
  }

  /**
   * Goes on with jobs that have no chunks: a fail-over of Redis may lose chunks that its replica has not received, and
   * such a job would run until it expires.
   */
  async recover(
    store: Pick<RedisJobStore, 'standing'>,
    queue: Pick<BullChunkQueue, 'jobs'>,
    standingMs = STANDING_MS,
  ): Promise<void> {
    const { model } = this;
    if (model === undefined) return;
    const standing = await store.standing(model, standingMs);
    if (standing.length === 0) return;
    const withChunks = await queue.jobs(model);
    const lost = standing.filter((id) => !withChunks.has(id));
    await this.queue.add(lost.map((id) => resumingChunk(id, model)));
    if (lost.length > 0) this.#log.warn(`Goes on with jobs whose chunks Redis has lost: ${lost.length}.`);
  }

  /** Ends the running chunks of a job. */
  stop(id: string): void {
    for (const { chunk, stop } of this.#running) if (chunk.job === id) stop.abort(new JobEnded());
  }

  async compute(chunk: Chunk): Promise<void> {
    const endTask = this.host.beginTask();
    const startedMs = performance.now();
    const running = new RunningChunk(chunk);
    this.#running.add(running);
    let outcome: ChunkReport['outcome'] = 'retried';
    try {
      await this.#compute(running, this.host.modelForRuns());
      outcome = 'done';
    } catch (error) {
      if (error instanceof JobEnded) {
        outcome = 'ended';
        return;
      }
      if (await this.#isTemporary(error)) throw error;
      await this.#fail(chunk, error);
      outcome = 'failed';
    } finally {
      this.#running.delete(running);
      this.reports.next({ outcome, ms: performance.now() - startedMs, trials: running.trials });
      endTask();
    }
  }

  async giveUp(chunk: Chunk, error: unknown): Promise<void> {
    await this.#fail(chunk, error);
    // Its tries were reported when they ended.
    this.reports.next({ outcome: 'failed', ms: 0, trials: 0 });
  }

  async #fail({ job, model }: Chunk, error: unknown): Promise<void> {
    const failure = failureOf(isOfRedis(error) ? jobsUnavailable(error) : error);
    if (failure.code === 'INTERNAL') this.#log.error(`A job failed: ${failure.message}`);
    await this.#untilTaken(() => this.store.fail(job, publicFailure(failure)));
    this.queue.remove(job, model);
  }

  /** @throws JobEnded, or the error that ended the chunk */
  async #compute(running: RunningChunk, model: JobModel): Promise<void> {
    const { job, phase, from, to } = running.chunk;
    const opened = await this.#untilTaken(() => this.#opened.open(job, model));
    // From here on, stop() reaches the chunk.
    if (!(await this.#untilTaken(() => this.store.begin(job)))) throw new JobEnded();
    const wanted = opened.phases[phase]!.slice(from, to);
    const stored = await this.#untilTaken(() => this.store.results(job, wanted));
    const missing = wanted.filter((_, at) => stored[at] === undefined);
    if (missing.length > 0) await this.#computeConditions(running, opened.record, missing, model);
    await this.#untilTaken(() => this.#addNextChunks(opened, running.chunk));
  }

  /** Computes conditions and stores their results. */
  async #computeConditions(
    running: RunningChunk,
    record: JobRecord,
    indices: readonly number[],
    model: JobModel,
  ): Promise<void> {
    const { stop } = running;
    const signal = AbortSignal.any([stop.signal, this.host.ending]);
    const work = (running.work = model.experiments.openChunk(record.client, record.id));
    const end = () => work.stop(signal.reason as Error);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    this.#shareTrials(model);
    const runner = { inFlight: this.#inFlight(model), runTrial: trialRunner(running, record.client, model) };
    const pieces = work.chunk(record, indices, runner, (some) => this.#readResults(running, some));
    try {
      for await (const { index, bytes, brainMs } of pieces) {
        // Only the total time is known, so it can be assigned only if there is one condition.
        const costMs = indices.length === 1 ? running.computedMs : 0;
        const computed = { index, result: Buffer.from(bytes.buffer), brainMs, costMs };
        const keep = () => this.store.keep(record.id, computed, record.conditions);
        if (!(await this.#untilTaken(keep))) throw new JobEnded();
      }
    } catch (error) {
      // An error from the thread has lost its class, so prefer the reason of the signal.
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', end);
      work.end();
      running.work = undefined;
      this.#shareTrials(model);
    }
  }

  /** Reads stored results of conditions. If one is missing, the chunk ends. */
  async #readResults({ chunk, stop }: RunningChunk, indices: readonly number[]) {
    try {
      const results = await this.#untilTaken(() => this.store.results(chunk.job, indices));
      // Results disappear only together with their job.
      if (results.includes(undefined)) throw new JobEnded();
      return results;
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  /** Divides the trials in flight among the running chunks. The last chunk gets all. */
  #shareTrials(model: JobModel): void {
    for (const { work } of this.#running) work?.setMaxInFlight(this.#inFlight(model));
  }

  #inFlight(model: JobModel): number {
    const chunks = [...this.#running].filter(({ work }) => work !== undefined).length;
    return Math.max(2, Math.ceil(model.queue.trialsInFlight / Math.max(1, chunks)));
  }

  /**
   * Asks the store again while it refuses, for example because it is full: the job waits for room. While this process
   * drains, it throws instead, and another process takes the chunk.
   */
  async #untilTaken<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const isAway = error instanceof CodedError && error.code === 'JOBS_UNAVAILABLE';
        if (!(isAway || isRefusedWrite(error)) || this.host.draining) throw error;
      }
      await sleep(CHUNK_RETRY_MS);
    }
  }

  /**
   * Adds the chunks of the next phase if all conditions of this one are done; after a chunk without conditions, those
   * of the current phase of the job. If two processes do this at once, they may divide it differently, and some
   * conditions are computed twice.
   */
  async #addNextChunks({ record, phases }: OpenedJob, { phase, from, to, before }: Chunk): Promise<void> {
    const isResumed = from === to;
    if (!isResumed && phases[phase + 1] === undefined) return;
    const { conditionsDone = 0, highestCostMs = 0 } = (await this.store.state(record.id))?.progress ?? {};
    if (!isResumed && conditionsDone < before + phases[phase]!.length) return;
    const next = isResumed ? phaseAfter(phases, conditionsDone) : phase + 1;
    await this.queue.add(chunksOf(record, phases, next, chunkLength(highestCostMs)));
  }

  /**
   * True if this process or its model failed, and not the job. If two workers died during a trial, the job failed.
   */
  async #isTemporary(error: unknown): Promise<boolean> {
    // Redis is full or is no longer the master.
    if (isOfRedis(error) || error instanceof OtherModel || error instanceof ThreadLost) return true;
    if (!(error instanceof CodedError) || !TEMPORARY.includes(error.code)) return false;
    if (error.code !== 'WORKER_LOST') return true;
    await sleep(MODEL_LOSS_MS);
    return this.host.draining || this.host.state.name !== 'ready';
  }
}

/** The phase of a job that has done so many conditions: it begins a phase when all earlier ones are done. */
function phaseAfter(phases: OpenedJob['phases'], conditionsDone: number): number {
  let done = 0;
  const phase = phases.findIndex(({ length }) => (done += length) > conditionsDone);
  return phase === -1 ? phases.length - 1 : phase;
}

/** Returns a function that computes trials in the background and counts them. */
function trialRunner(running: RunningChunk, owner: string, { queue }: JobModel): TrialRunner['runTrial'] {
  const onComputed = (ms: number) => {
    running.computedMs += ms;
    running.trials++;
  };
  return (task, signal) => queue.runTrial(task, { owner, signal, isBackground: true, onComputed });
}

/** Hides the message of a bug, which could reveal internals. */
function publicFailure(failure: Failure): Failure {
  return failure.code === 'INTERNAL' ? { code: 'INTERNAL', message: ERRORS.INTERNAL.meaning } : failure;
}
