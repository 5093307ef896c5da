/**
 * The GPU as a stage before the workers. It keeps a GPU process running and gives it batches of protocols, of runs
 * and trials alike. It leaves to the workers all that the GPU could not certify, so results never depend on it.
 */
import { FIELDS } from '../../experiments/presets/fields.js';
import { type Protocol, STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { CodedError, ERRORS } from '../../engine/errors.js';
import { GpuHost, type BatchResult, type HostOpening } from './gpu-host.js';

/** Steps of the longest run of version 1; the timeout of a batch of longer trials grows in proportion. */
const MAX_RUN_STEPS = STEPS_PER_MS * Math.max(...FIELDS.duration_ms.enum);

export type GpuState =
  | { readonly name: 'off'; readonly reason: string }
  | { readonly name: 'starting' }
  | { readonly name: 'ready'; readonly adapter: string; readonly processId: number }
  | { readonly name: 'lost'; readonly reason: string; readonly error: unknown };

/** The members that the queue uses: it simulates waiting tasks in batches. */
export type BatchStage = Pick<GpuStage, 'isReady' | 'room' | 'isBusy' | 'tasksAhead' | 'simulate'>;

export interface GpuStageOptions {
  readonly opening: HostOpening;
  /** Ends the process if a batch of runs takes longer. Longer trials get more time in proportion. */
  readonly batchTimeoutMs: number;
  readonly onChange: (state: GpuState) => void;
  /** Looks for an adapter; tests replace it to simulate a machine without one. */
  readonly askAdapter?: typeof GpuHost.adapter;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 300_000;
/** Limit of batches in the GPU process: one each being prepared, submitted, computed and read. */
export const BATCHES_IN_FLIGHT = 4;
/** Batches that keep the stage busy: those in flight, and one that waits or whose answers the workers are writing. */
const BATCHES_AHEAD = BATCHES_IN_FLIGHT + 1;

export class GpuStage {
  /** Numbers of protocols since start: certified by the GPU, repeated on the CPU, lost with the process. */
  readonly runs = { certified: 0, repeated: 0, lost: 0 };
  #state: GpuState = { name: 'starting' };
  #host: GpuHost | undefined;
  /** Largest number of tasks in a batch. */
  #widest = 0;
  readonly #inFlight = new Set<readonly Protocol[]>();
  readonly #closing = new AbortController();
  #pauseMs = FIRST_PAUSE_MS;
  #restart: NodeJS.Timeout | undefined;

  constructor(private readonly options: GpuStageOptions) {}

  get state(): GpuState {
    return this.#state;
  }

  /** True if runs and trials must go through the GPU before a worker gets them. */
  get isReady(): boolean {
    return this.#state.name === 'ready';
  }

  /** Number of tasks that the next batch may have; 0 while the stage is full or the GPU is unavailable. */
  get room(): number {
    return this.isReady && this.#inFlight.size < BATCHES_IN_FLIGHT ? this.#widest : 0;
  }

  /**
   * True while it computes a batch. It then accepts only full batches: a task in a smaller one would wait just as
   * long, and more tasks may arrive before its turn.
   */
  get isBusy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** Number of waiting tasks that keeps it busy; 0 while the GPU is unavailable. */
  get tasksAhead(): number {
    return this.isReady ? BATCHES_AHEAD * this.#widest : 0;
  }

  /** Never rejects. An entry is undefined if the workers must simulate its protocol. */
  async simulate(protocols: readonly Protocol[]): Promise<BatchResult> {
    const host = this.#host;
    this.#inFlight.add(protocols);
    // The process restarts the timer after each earlier answer, so the longest batch in flight decides.
    const timeoutMs = Math.max(...[...this.#inFlight].map((batch) => this.#timeoutMsOf(batch)));
    try {
      const trials = await host!.simulate(protocols, timeoutMs);
      const certified = trials.filter((trial) => trial !== undefined).length;
      this.runs.certified += certified;
      this.runs.repeated += protocols.length - certified;
      this.#pauseMs = FIRST_PAUSE_MS;
      return trials;
    } catch (error) {
      this.runs.lost += protocols.length;
      void this.#lose(host!, error);
      return protocols.map(() => undefined);
    } finally {
      this.#inFlight.delete(protocols);
    }
  }

  /** Starts a GPU process in the background; onChange reports the result. */
  start(): void {
    this.#become({ name: 'starting' });
    void this.#open();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#restart);
    await this.#host?.close();
  }

  async #open(): Promise<void> {
    const { opening, askAdapter = GpuHost.adapter } = this.options;
    let host: GpuHost | undefined;
    try {
      // Asked first, because opening reads the whole connectome, in vain if there is no adapter.
      await askAdapter(opening.allowSoftware, this.#closing.signal);
      const [opened, { adapter, widths }] = await GpuHost.open(opening, this.#closing.signal);
      host = this.#host = opened;
      void host.ended.then(() => this.#lose(opened, opened.error));
      this.#widest = widths.at(-1)!;
      this.#become({ name: 'ready', adapter, processId: host.processId! });
    } catch (error) {
      await this.#lose(host, error);
    }
  }

  #timeoutMsOf(protocols: readonly Protocol[]): number {
    const { batchTimeoutMs } = this.options;
    const steps = Math.max(...protocols.map(({ durationSteps }) => durationSteps));
    return batchTimeoutMs * Math.max(1, steps / MAX_RUN_STEPS);
  }

  /** Reports a process that ended unasked, once, and schedules its successor. */
  async #lose(host: GpuHost | undefined, error: unknown): Promise<void> {
    if (this.#closing.signal.aborted || (host !== undefined && this.#host !== host)) return;
    this.#host = undefined;
    this.#become({ name: 'lost', reason: publicReason(error), error });
    await host?.close();
    if (this.#closing.signal.aborted) return;
    this.#restart = setTimeout(() => void this.#open(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
  }

  #become(state: GpuState): void {
    this.#state = state;
    if (!this.#closing.signal.aborted) this.options.onChange(state);
  }
}

/** A reason for the public. Messages of GPU errors name neither files nor code; messages of other errors may. */
function publicReason(error: unknown): string {
  if (!(error instanceof CodedError)) return ERRORS.INTERNAL.meaning;
  const isOfGpu = error.code === 'GPU_FAILED' || error.code === 'GPU_UNAVAILABLE';
  return isOfGpu ? error.message : ERRORS[error.code].meaning;
}
