import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { CodedError, ERRORS, failureOf, type Failure } from '../errors.js';
import { ThreadLost } from '../scheduling/experiment-thread/experiment-thread.js';
import type { ThreadWork, TrialRunner } from '../scheduling/experiment-thread/thread-work.js';
import { chunkLength, chunksOf, RETRY_MS, type ChunkQueue, type ChunkWork } from './chunk-queue.js';
import type { Chunk, JobRecord } from './job.js';
import type { JobHost, JobModel } from './job-host.js';
import type { JobStore } from './job-store.js';
import { isOfRedis, isRefusedWrite, jobsUnavailable } from './jobs-redis.js';
import { JobEnded, OpenedJobs, OtherModel, type OpenedJob } from './opened-job.js';

/** Failures of a process or its model, not of a job: the chunk is tried again. */
const TEMPORARY: readonly string[] = ['MODEL_LOADING', 'MODEL_FAILED', 'DRAINING', 'WORKER_LOST'];
/** A model whose workers have ended is found to have failed a moment later. */
const MODEL_LOSS_MS = 200;

/** How a chunk ended: `retried` where it is tried again, `ended` where its job ended before or meanwhile. */
export const CHUNK_OUTCOMES = ['done', 'ended', 'retried', 'failed'] as const;

interface ChunkReport {
  readonly outcome: (typeof CHUNK_OUTCOMES)[number];
  /** From its beginning, including what its trials waited. */
  readonly ms: number;
  /** That were simulated. */
  readonly trials: number;
}

/** A chunk that is being computed here. */
class RunningChunk {
  /** Aborted with what ends it. */
  readonly stop = new AbortController();
  trials = 0;
  /** Time of one core that its trials took. */
  computedMs = 0;
  /** Its work in the thread of experiments. */
  work: ThreadWork | undefined;

  constructor(readonly chunk: Chunk) {}
}

/** Computes the chunks of jobs with the workers that nothing else needs. */
export class ChunkWorker implements ChunkWork {
  /** Told of every chunk that was computed here. */
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

  /** One more than there are workers for: its trials begin as soon as a worker is free. */
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

  /** Ends what is being computed of a job. */
  stop(id: string): void {
    for (const { chunk, stop } of this.#running) if (chunk.job === id) stop.abort(new JobEnded());
  }

  async compute(chunk: Chunk): Promise<void> {
    const endTask = this.host.beginLongTask();
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
      await this.giveUp(chunk, error);
      outcome = 'failed';
    } finally {
      this.#running.delete(running);
      this.reports.next({ outcome, ms: performance.now() - startedMs, trials: running.trials });
      endTask();
    }
  }

  async giveUp({ job, model }: Chunk, error: unknown): Promise<void> {
    const failure = failureOf(isOfRedis(error) ? jobsUnavailable(error) : error);
    if (failure.code === 'INTERNAL') this.#log.error(`A job failed: ${failure.message}`);
    await this.#untilTaken(() => this.store.fail(job, publicFailure(failure)));
    this.queue.remove(job, model);
  }

  /** @throws JobEnded, or what ended the chunk */
  async #compute(running: RunningChunk, model: JobModel): Promise<void> {
    const { job, phase, from, to } = running.chunk;
    const opened = await this.#opened.open(job, model);
    // From here on, ending the job stops the chunk.
    if (!(await this.#untilTaken(() => this.store.begin(job)))) throw new JobEnded();
    const wanted = opened.phases[phase]!.slice(from, to);
    const kept = await this.store.outcomes(job, wanted);
    const missing = wanted.filter((_, at) => kept[at] === undefined);
    await this.#computeConditions(running, opened.record, missing, model);
    await this.#untilTaken(() => this.#addNextPhase(opened, running.chunk));
  }

  /** Computes conditions and keeps their outcomes. */
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
    const outcomes = work.chunk(record, indices, runner, (some) => this.#readOutcomes(running, some));
    try {
      for await (const { index, bytes, brainMs } of outcomes) {
        // The time of several conditions cannot be told apart.
        const costMs = indices.length === 1 ? running.computedMs : 0;
        const computed = { index, outcome: Buffer.from(bytes.buffer), brainMs, costMs };
        const keep = () => this.store.keep(record.id, computed, record.conditions);
        if (!(await this.#untilTaken(keep))) throw new JobEnded();
      }
    } catch (error) {
      // An error that crossed threads has lost its class.
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', end);
      work.end();
      running.work = undefined;
      this.#shareTrials(model);
    }
  }

  /** Outcomes of conditions that were computed before. Where they are not to be had, the chunk ends. */
  async #readOutcomes({ chunk, stop }: RunningChunk, indices: readonly number[]) {
    try {
      const outcomes = await this.store.outcomes(chunk.job, indices);
      // Outcomes vanish only with their job.
      if (outcomes.includes(undefined)) throw new JobEnded();
      return outcomes;
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  /** Gives each chunk its share of what is computed here, and the last one all. */
  #shareTrials(model: JobModel): void {
    for (const { work } of this.#running) work?.setInFlight(this.#inFlight(model));
  }

  #inFlight(model: JobModel): number {
    const chunks = [...this.#running].filter(({ work }) => work !== undefined).length;
    return Math.max(2, Math.ceil(model.queue.trialsInFlight / Math.max(1, chunks)));
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
        if (!isRefusedWrite(error) || this.host.draining) throw error;
      }
      await sleep(RETRY_MS);
    }
  }

  /**
   * Hands out the next phase once all conditions of this one are done. Two processes that do so at once may divide it
   * differently, and then some of it is computed twice.
   */
  async #addNextPhase({ record, phases }: OpenedJob, { phase, before }: Chunk): Promise<void> {
    if (phases[phase + 1] === undefined) return;
    const { conditionsDone = 0, highestCostMs = 0 } = (await this.store.state(record.id))?.progress ?? {};
    if (conditionsDone < before + phases[phase]!.length) return;
    await this.queue.add(chunksOf(record, phases, phase + 1, chunkLength(highestCostMs)));
  }

  /**
   * Tells whether the failure is that of this process or its model. A trial over which two workers ended is the job's own.
   */
  async #isTemporary(error: unknown): Promise<boolean> {
    // Redis is full, or not the master any more.
    if (isOfRedis(error) || error instanceof OtherModel || error instanceof ThreadLost) return true;
    if (!(error instanceof CodedError) || !TEMPORARY.includes(error.code)) return false;
    if (error.code !== 'WORKER_LOST') return true;
    await sleep(MODEL_LOSS_MS);
    return this.host.draining || this.host.state.name !== 'ready';
  }
}

/** Computes trials behind all that somebody waits for, and counts them. */
function trialRunner(running: RunningChunk, owner: string, { queue }: JobModel): TrialRunner['runTrial'] {
  const onComputed = (ms: number) => {
    running.computedMs += ms;
    running.trials++;
  };
  return (task, signal) => queue.runTrial(task, { owner, signal, isBackground: true, onComputed });
}

/** A bug must not reveal internals. */
function publicFailure(failure: Failure): Failure {
  return failure.code === 'INTERNAL' ? { code: 'INTERNAL', message: ERRORS.INTERNAL.meaning } : failure;
}
