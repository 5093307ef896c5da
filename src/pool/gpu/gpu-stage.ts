/**
 * The GPU beside the workers: keeps a host alive, measures from which batch size on the GPU is the faster one, and
 * hands back what it could not do. It takes protocols, whatever version they come from. Results never depend on it.
 */
import { CodedError, ERRORS } from '../../errors.js';
import type { Protocol } from '../../experiment/protocol.js';
import { BatchPlan } from './batch-plan.js';
import type { BatchStage } from '../experiment-queue.js';
import { GpuHost, type HostOpening } from './gpu-host.js';
import type { BatchResult, GpuDescription } from '../task.js';

export type GpuState =
  | { readonly name: 'off'; readonly reason: string }
  | { readonly name: 'starting' }
  | {
      readonly name: 'ready';
      readonly adapter: string;
      /** Fewest waiting runs that the GPU takes. */
      readonly batchFrom: number;
      readonly processId: number;
    }
  | { readonly name: 'lost'; readonly reason: string; readonly error: unknown };

/** A protocol of the kind that the GPU will be given. */
export interface GpuSample {
  readonly protocol: Protocol;
  /** @returns what a CPU worker takes to simulate it, in ms */
  readonly simulateOnCpu: () => Promise<number>;
}

export interface GpuStageOptions {
  readonly opening: HostOpening;
  /** BACKEND=gpu: every run goes through the GPU, whether or not the CPU is faster. */
  readonly insists: boolean;
  /** A batch that takes longer ends the host. */
  readonly batchTimeoutMs: number;
  /** At least one: what is measured to compare GPU and CPU. */
  readonly samples: readonly GpuSample[];
  readonly cpuWorkers: number;
  readonly onChange: (state: GpuState) => void;
  /** Whether there is an adapter at all; tests answer for a machine without one. */
  readonly askAdapter?: typeof GpuHost.adapter;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const ROUNDS = 3;
/** For a batch while nobody waits for it: it may compile, and a slow adapter has to show how slow it is. */
const MEASURING_TIMEOUT_MS = 180_000;

export class GpuStage implements BatchStage {
  /** Protocols by outcome, since the service began. */
  readonly runs = { certified: 0, repeated: 0, lost: 0 };
  #state: GpuState = { name: 'starting' };
  #host: GpuHost | undefined;
  #plan: BatchPlan | undefined;
  #busy = false;
  #wasReady = false;
  readonly #closing = new AbortController();
  #pauseMs = FIRST_PAUSE_MS;
  #restart: NodeJS.Timeout | undefined;

  constructor(private readonly options: GpuStageOptions) {}

  get state(): GpuState {
    return this.#state;
  }

  get comesFirst(): boolean {
    return this.options.insists && this.#state.name === 'ready';
  }

  batchOf(waiting: number): number {
    return this.#busy || this.#state.name !== 'ready' ? 0 : this.#plan!.batchOf(waiting);
  }

  async simulate(protocols: readonly Protocol[]): Promise<BatchResult> {
    const host = this.#host;
    this.#busy = true;
    try {
      const rasters = await host!.simulate(protocols, this.options.batchTimeoutMs);
      const certified = rasters.filter((raster) => raster !== undefined).length;
      this.runs.certified += certified;
      this.runs.repeated += protocols.length - certified;
      this.#pauseMs = FIRST_PAUSE_MS;
      return rasters;
    } catch (error) {
      this.runs.lost += protocols.length;
      void this.#lose(host!, error);
      return protocols.map(() => undefined);
    } finally {
      this.#busy = false;
    }
  }

  /** Opens a host in the background. What comes of it is told by onChange. */
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
    const { opening, insists, askAdapter = GpuHost.adapter } = this.options;
    let host: GpuHost | undefined;
    try {
      // Asked first, because the host reads the whole connectome, in vain on most machines.
      await askAdapter(opening.allowSoftware, this.#closing.signal);
      const [opened, description] = await GpuHost.open(opening, this.#closing.signal);
      host = this.#host = opened;
      void host.ended.then(() => this.#lose(opened, opened.error));
      this.#plan = insists
        ? BatchPlan.always(description.widths.at(-1)!)
        : await this.#calibrate(host, description);
      const { fewest } = this.#plan;
      if (this.#host !== host) return;
      if (fewest === undefined) {
        await this.#turnOff(`${description.adapter} is never faster than the CPU workers together.`);
      } else {
        const { adapter } = description;
        this.#become({ name: 'ready', adapter, batchFrom: fewest, processId: host.processId! });
      }
    } catch (error) {
      // An adapter that has worked may only be away, while its driver starts again.
      const isHopeless = error instanceof CodedError && error.code === 'GPU_UNAVAILABLE' && !this.#wasReady;
      if (isHopeless && !insists) await this.#turnOff(error.message);
      else await this.#lose(host, error);
    }
  }

  async #calibrate(host: GpuHost, { widths }: GpuDescription): Promise<BatchPlan> {
    const { samples, cpuWorkers, batchTimeoutMs } = this.options;
    const cpu: number[] = [];
    for (const { simulateOnCpu } of samples) cpu.push(await medianOf(ROUNDS, simulateOnCpu));
    const cpuMs = cpu.reduce((sum, ms) => sum + ms, 0) / cpu.length;
    const widestOnCpuMs = (widths.at(-1)! * cpuMs) / cpuWorkers;
    const gpu = [];
    for (const width of widths) {
      const batch = Array.from({ length: width }, (_, i) => samples[i % samples.length]!.protocol);
      const simulate = async () => {
        const startedMs = performance.now();
        await host.simulate(batch, MEASURING_TIMEOUT_MS);
        return performance.now() - startedMs;
      };
      // The first one compiles.
      await simulate();
      const ms = await medianOf(ROUNDS, simulate);
      if (ms > batchTimeoutMs) break;
      gpu.push({ width, ms });
      // A wider batch takes no less time, so none can be worth it.
      if (ms > widestOnCpuMs) break;
    }
    return new BatchPlan({ gpu, cpuMs, cpuWorkers });
  }

  /** Called once for each host that ends without being asked to. */
  async #lose(host: GpuHost | undefined, error: unknown): Promise<void> {
    if (this.#closing.signal.aborted || (host !== undefined && this.#host !== host)) return;
    this.#host = undefined;
    this.#become({ name: 'lost', reason: publicReason(error), error });
    await host?.close();
    if (this.#closing.signal.aborted) return;
    this.#restart = setTimeout(() => void this.#open(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  async #turnOff(reason: string): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await host?.close();
    this.#become({ name: 'off', reason });
  }

  #become(state: GpuState): void {
    this.#state = state;
    this.#wasReady ||= state.name === 'ready';
    if (!this.#closing.signal.aborted) this.options.onChange(state);
  }
}

/** What anybody may read: only what is written about the GPU names neither files nor code. */
function publicReason(error: unknown): string {
  if (!(error instanceof CodedError)) return ERRORS.INTERNAL.meaning;
  const isOfGpu = error.code === 'GPU_FAILED' || error.code === 'GPU_UNAVAILABLE';
  return isOfGpu ? error.message : ERRORS[error.code].meaning;
}

async function medianOf(rounds: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await measure());
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}
