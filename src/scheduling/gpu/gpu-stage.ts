/**
 * The GPU beside the workers: keeps a host alive, measures what runs and trials cost on it and on the CPU, takes those
 * batches that it computes sooner, and hands back what it could not do. It takes protocols, whatever version they come
 * from. Results never depend on it.
 */
import { FIELDS } from '../../presets/fields.js';
import { type Protocol, STEPS_PER_MS } from '../../stimulus/protocol.js';
import { CodedError, ERRORS } from '../../errors.js';
import { Activity, type Load } from './activity.js';
import { BatchPlan, batchLoad, costOf, type BatchTimes, type Cost } from './batch-plan.js';
import { BATCHES_IN_FLIGHT, streamMs } from './batch-stream.js';
import { GpuHost, type BatchResult, type GpuDescription, type HostOpening } from './gpu-host.js';

/** Longest run of version 1: batches of longer trials have more time. */
const LONGEST_RUN_STEPS = STEPS_PER_MS * Math.max(...FIELDS.duration_ms.enum);

export type GpuState =
  | { readonly name: 'off'; readonly reason: string }
  | { readonly name: 'starting' }
  | {
      readonly name: 'ready';
      readonly adapter: string;
      /** Fewest waiting runs that the GPU takes, where they are like the mean of the samples, or else the busiest. */
      readonly batchFrom: number;
      /** Measured costs; undefined where every run goes through the GPU, whatever it costs. */
      readonly plan?: BatchTimes;
      readonly processId: number;
    }
  | { readonly name: 'lost'; readonly reason: string; readonly error: unknown };

/** A run or a trial that waits, as the queue offers it to the GPU. */
export interface BatchTask {
  readonly protocol: Protocol;
  /** Tasks of one group are alike: runs of one stimulus, trials of one experiment. */
  readonly group: object | string;
}

/** Parts of the stage that the queue needs: it simulates waiting tasks, many at once. */
export type BatchStage = Pick<
  GpuStage,
  'gpuComesFirst' | 'room' | 'isBusy' | 'tasksAhead' | 'batchSizeOf' | 'simulate'
>;

/** A task of the kind that the GPU will be given. */
interface GpuSample extends BatchTask {
  /** @returns what a CPU worker takes to simulate it, in ms */
  readonly simulateOnCpu: () => Promise<number>;
}

export interface GpuStageOptions {
  readonly opening: HostOpening;
  /** BACKEND=gpu: every run goes through the GPU, whether or not the CPU is faster. */
  readonly gpuRequired: boolean;
  /** A batch of runs of version 1 that takes longer ends the host; longer trials have more time. */
  readonly batchTimeoutMs: number;
  /** At least one: what is measured to compare GPU and CPU. */
  readonly samples: readonly GpuSample[];
  readonly cpuWorkers: number;
  readonly onChange: (state: GpuState) => void;
  /** Looks for an adapter; tests answer for a machine without one. */
  readonly askAdapter?: typeof GpuHost.adapter;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const CPU_ROUNDS = 3;
const GPU_ROUNDS = 4;
/** Batches that keep it busy: those in flight, and one that waits or whose answers the workers are writing. */
const BATCHES_AHEAD = BATCHES_IN_FLIGHT + 1;
/** For a batch while nobody waits for it: it may compile, and a slow adapter has to show how slow it is. */
const MEASURING_TIMEOUT_MS = 180_000;

export class GpuStage {
  /** Protocols by outcome, since this stage began. */
  readonly runs = { certified: 0, repeated: 0, lost: 0 };
  #state: GpuState = { name: 'starting' };
  #host: GpuHost | undefined;
  #plan: BatchPlan | undefined;
  /** Experience with tasks; it survives the host. */
  readonly #activity = new Activity();
  readonly #inFlight = new Set<readonly BatchTask[]>();
  #wasReady = false;
  readonly #closing = new AbortController();
  #pauseMs = FIRST_PAUSE_MS;
  #restart: NodeJS.Timeout | undefined;

  constructor(private readonly options: GpuStageOptions) {}

  get state(): GpuState {
    return this.#state;
  }

  /** True when every run and trial goes through the GPU before a worker gets it. */
  get gpuComesFirst(): boolean {
    return this.options.gpuRequired && this.#state.name === 'ready';
  }

  /** How many tasks it may take at once; 0 while it has enough to do, or is away. */
  get room(): number {
    const hasRoom = this.#state.name === 'ready' && this.#inFlight.size < BATCHES_IN_FLIGHT;
    return hasRoom ? this.#plan!.widest : 0;
  }

  /**
   * True while it computes another batch. It then takes a full one only: tasks that do not fill it would wait in it, while
   * more may come before its turn, or a worker be free.
   */
  get isBusy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** How many tasks should wait to keep it busy; 0 while it is away. */
  get tasksAhead(): number {
    return this.#state.name === 'ready' ? BATCHES_AHEAD * this.#plan!.widest : 0;
  }

  /** How many of these tasks, in their order and no more than `room`, it would take now. */
  batchSizeOf(tasks: readonly BatchTask[]): number {
    return this.room === 0 ? 0 : this.#plan!.batchSizeOf(tasks.map((task) => this.#activity.loadOf(task)));
  }

  /** Never rejects: what it could not simulate is undefined and left to the workers. */
  async simulate(tasks: readonly BatchTask[]): Promise<BatchResult> {
    const host = this.#host;
    this.#inFlight.add(tasks);
    // Its turn comes after the others, and its time begins anew with the answer of each.
    const timeoutMs = Math.max(...[...this.#inFlight].map((batch) => this.#timeoutMsOf(batch)));
    try {
      const trials = await host!.simulate(
        tasks.map(({ protocol }) => protocol),
        timeoutMs,
      );
      this.#learn(tasks, trials);
      const certified = trials.filter((trial) => trial !== undefined).length;
      this.runs.certified += certified;
      this.runs.repeated += tasks.length - certified;
      this.#pauseMs = FIRST_PAUSE_MS;
      return trials;
    } catch (error) {
      this.runs.lost += tasks.length;
      void this.#lose(host!, error);
      return tasks.map(() => undefined);
    } finally {
      this.#inFlight.delete(tasks);
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
    const { opening, gpuRequired, askAdapter = GpuHost.adapter } = this.options;
    let host: GpuHost | undefined;
    try {
      // Asked first, because the host reads the whole connectome, in vain on most machines.
      await askAdapter(opening.allowSoftware, this.#closing.signal);
      const [opened, description] = await GpuHost.open(opening, this.#closing.signal);
      host = this.#host = opened;
      void host.ended.then(() => this.#lose(opened, opened.error));
      const [plan, fewest] = gpuRequired
        ? [BatchPlan.always(description.widths.at(-1)!), 1]
        : await this.#calibrate(host, description);
      if (this.#host !== host) return;
      if (fewest === undefined) {
        await this.#turnOff(`${description.adapter} is never faster than the CPU workers together.`);
      } else {
        const { adapter } = description;
        this.#plan = plan;
        this.#become({
          name: 'ready',
          adapter,
          batchFrom: fewest,
          ...(!gpuRequired && { plan: plan.times }),
          processId: host.processId!,
        });
      }
    } catch (error) {
      // An adapter that has worked may only be away, while its driver starts again.
      const isHopeless = error instanceof CodedError && error.code === 'GPU_UNAVAILABLE' && !this.#wasReady;
      if (isHopeless && !gpuRequired) await this.#turnOff(error.message);
      else await this.#lose(host, error);
    }
  }

  /** @returns the plan, and the fewest tasks that it gives to the GPU */
  async #calibrate(
    host: GpuHost,
    { widths }: GpuDescription,
  ): Promise<[plan: BatchPlan, fewest: number | undefined]> {
    const { samples, cpuWorkers, batchTimeoutMs } = this.options;
    const simulate = async (tasks: readonly BatchTask[]) => {
      const protocols = tasks.map(({ protocol }) => protocol);
      this.#learn(tasks, await host.simulate(protocols, MEASURING_TIMEOUT_MS));
    };
    // The first one compiles. All of them tell how many synaptic events a sample delivers.
    for (const sample of samples) await simulate([sample]);
    const loads = samples.map((sample) => this.#activity.loadOf(sample));
    const onCpu = [];
    for (const [i, { simulateOnCpu }] of samples.entries()) {
      onCpu.push({ load: loads[i]!, ms: await medianOf(CPU_ROUNDS, simulateOnCpu) });
    }
    const cpu = { ...costOf(onCpu), workers: cpuWorkers };
    const byEvents = [...samples.keys()].sort((a, b) => loads[a]!.synapticEvents - loads[b]!.synapticEvents);
    const quietest = byEvents[0]!;
    const busiest = byEvents.at(-1)!;
    const gpu: (Cost & { width: number })[] = [];
    for (const width of widths) {
      const measured: { load: Load; ms: number }[] = [];
      let isWorthIt = false;
      for (const sample of new Set([quietest, busiest])) {
        const tasks = new Array<BatchTask>(width).fill(samples[sample]!);
        const ms = await streamMs(GPU_ROUNDS, () => simulate(tasks));
        measured.push({ load: batchLoad(new Array<Load>(width).fill(loads[sample]!)), ms });
        // A wider batch takes no less time, so it cannot be worth it where this one takes longer than the widest may.
        isWorthIt ||= ms <= batchTimeoutMs && ms <= (widths.at(-1)! * onCpu[sample]!.ms) / cpuWorkers;
      }
      if (!isWorthIt) break;
      gpu.push({ width, ...costOf(measured) });
    }
    const plan = new BatchPlan({ cpu, gpu });
    const mean = {
      steps: Math.max(...loads.map(({ steps }) => steps)),
      synapticEvents: loads.reduce((sum, { synapticEvents }) => sum + synapticEvents, 0) / loads.length,
    };
    return [plan, plan.fewestOf(mean) ?? plan.fewestOf(loads[busiest]!)];
  }

  #learn(tasks: readonly BatchTask[], trials: BatchResult): void {
    tasks.forEach((task, i) => {
      const trial = trials[i];
      if (trial !== undefined) this.#activity.learn(task, trial.deliveredEvents);
    });
  }

  #timeoutMsOf(tasks: readonly BatchTask[]): number {
    const { batchTimeoutMs } = this.options;
    const steps = Math.max(...tasks.map(({ protocol }) => protocol.durationSteps));
    return batchTimeoutMs * Math.max(1, steps / LONGEST_RUN_STEPS);
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

/** A reason that anybody may read: messages about the GPU name neither files nor code, others may. */
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
