import { fork, type ChildProcess } from 'node:child_process';
import type { Trial } from '../../engine/simulation.js';
import { CodedError } from '../../errors.js';
import type { GivenTrain, Protocol } from '../../experiment/protocol.js';
import { within } from '../../within.js';
import type { Outcome } from '../task.js';
import type { BatchResult } from './batch-stage.js';
import type { GpuWanted } from './gpu-task.js';

export interface HostOpening extends GpuWanted {
  readonly connectomeFile: string;
  /** Of the connectome that the service holds; the host refuses another one. */
  readonly digest: string;
  /** Of the threads, as a URL: for tests. */
  readonly workerFile?: string;
}

export interface GpuDescription {
  readonly adapter: string;
  /** Protocols that a batch may hold, ascending. */
  readonly widths: readonly number[];
}

/** What the process is asked, and what it answers. */
export interface HostQuestion {
  readonly id: number;
  readonly task:
    | { readonly kind: 'adapter'; readonly allowSoftware: boolean }
    | ({ readonly kind: 'open' } & HostOpening)
    | { readonly kind: 'batch'; readonly protocols: readonly Protocol[] };
}
export interface HostAnswer {
  readonly id: number;
  readonly outcome: Outcome<unknown>;
}

/** Tests run the sources, and from there the way leads to what was built from them. */
const PROCESS_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/pool/gpu/gpu-host.process.js' : './gpu-host.process.js',
  import.meta.url,
);
const ADAPTER_TIMEOUT_MS = 30_000;
/** Compiling the kernels takes seconds, on a software adapter far longer. */
const OPEN_TIMEOUT_MS = 180_000;
const REMEMBERED_OUTPUT = 2_000;
/** A process that waits inside a driver ends when the driver lets it, if ever. */
const END_WITHIN_MS = 3_000;

interface Pending {
  readonly timer: NodeJS.Timeout;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: CodedError) => void;
}

/**
 * The GPU host as the service sees it. Whatever goes wrong over there, a crash, a hang or a refusal, ends the
 * process and becomes one coded error here.
 */
export class GpuHost {
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #ended: Promise<void>;
  #nextId = 0;
  #output = '';
  #end: CodedError | undefined;

  private constructor(signal: AbortSignal | undefined) {
    this.#process = fork(PROCESS_FILE, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
      signal,
      killSignal: 'SIGKILL',
    });
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-REMEMBERED_OUTPUT);
    });
    this.#process.on('message', ({ id, outcome }: HostAnswer) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      // What was asked later has waited for this answer.
      for (const [later, { timer }] of this.#pending) if (later > id) timer.refresh();
      if (outcome.ok) pending?.resolve(outcome.result);
      else pending?.reject(CodedError.fromFailure(outcome.failure));
    });
    this.#ended = new Promise((resolve) => {
      this.#process.once('exit', (status, signal) => {
        this.#fail(`The GPU process ended (${signal ?? `status ${status}`}).`, this.#output);
        resolve();
      });
      this.#process.on('error', ({ message }) => {
        this.#fail(`The GPU process failed: ${message}`);
        // What was never started never ends.
        if (this.#process.pid === undefined) resolve();
      });
    });
  }

  /**
   * @returns the name of the adapter that a host would use
   * @throws CodedError GPU_UNAVAILABLE, or GPU_FAILED when asking took the process down
   */
  static async adapter(allowSoftware: boolean, signal?: AbortSignal): Promise<string> {
    const host = new GpuHost(signal);
    try {
      return await host.#ask<string>({ kind: 'adapter', allowSoftware }, ADAPTER_TIMEOUT_MS);
    } finally {
      await host.close();
    }
  }

  /**
   * Starts a host, compiles its kernels and checks them against the CPU.
   * @param signal ends the process, now or later
   * @throws CodedError as `adapter`
   */
  static async open(opening: HostOpening, signal?: AbortSignal): Promise<[GpuHost, GpuDescription]> {
    const host = new GpuHost(signal);
    try {
      return [host, await host.#ask<GpuDescription>({ kind: 'open', ...opening }, OPEN_TIMEOUT_MS)];
    } catch (error) {
      await host.close();
      throw error;
    }
  }

  /** Resolves when the process has ended, for whatever reason. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Why the process has ended. */
  get error(): CodedError | undefined {
    return this.#end;
  }

  get processId(): number | undefined {
    return this.#process.pid;
  }

  /**
   * @param timeoutMs a batch that takes longer ends the process; its time begins anew when one before it is answered
   * @returns trials whose spikes lie in shared memory: sending them to a worker copies nothing
   * @throws CodedError GPU_FAILED when the batch was not computed
   */
  async simulate(protocols: readonly Protocol[], timeoutMs: number): Promise<BatchResult> {
    const task = { kind: 'batch', protocols: protocols.map(unshared) } as const;
    const trials = await this.#ask<BatchResult>(task, timeoutMs);
    return trials.map((trial) => trial && sharedTrial(trial));
  }

  /** Ends the process at once, or as soon as its driver lets it; what it still computes is lost. */
  async close(): Promise<void> {
    this.#fail('The GPU process was ended.');
    this.#process.kill('SIGKILL');
    await within(END_WITHIN_MS, this.#ended, () => undefined);
    // Nothing of this process waits for that one any longer.
    this.#process.unref();
    this.#process.channel?.unref();
    this.#process.stderr!.destroy();
  }

  async #ask<Result>(task: HostQuestion['task'], timeoutMs: number): Promise<Result> {
    if (this.#end !== undefined) throw this.#end;
    const id = this.#nextId++;
    const timer = setTimeout(() => {
      this.#fail(`The GPU process did not answer within ${timeoutMs} ms and was ended.`);
      this.#process.kill('SIGKILL');
    }, timeoutMs);
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#pending.set(id, { timer, resolve: resolve as (result: unknown) => void, reject });
        this.#process.send({ id, task } satisfies HostQuestion, (error) => {
          if (error !== null) this.#fail(`The GPU process cannot be reached: ${error.message}`);
        });
      });
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** The first reason is the one that counts; everyone who waits is told. */
  #fail(message: string, cause?: string): void {
    this.#end ??= new CodedError('GPU_FAILED', message, { cause });
    for (const { reject } of this.#pending.values()) reject(this.#end);
    this.#pending.clear();
  }
}

/**
 * The arrays of a message are views of its one buffer. Sent to a worker, each would take a copy of the whole buffer along:
 * 32 times 4 MB for a batch of busy trials.
 */
function sharedTrial(trial: Trial): Trial {
  const steps = new Uint16Array(new SharedArrayBuffer(trial.steps.byteLength));
  const neurons = new Uint32Array(new SharedArrayBuffer(trial.neurons.byteLength));
  steps.set(trial.steps);
  neurons.set(trial.neurons);
  return { ...trial, steps, neurons };
}

/** Shared memory cannot be sent to another process, so it is copied. */
function unshared({ inputs, silenced, ...protocol }: Protocol): Protocol {
  return {
    ...protocol,
    inputs: inputs.map(({ neurons, train }) => ({
      neurons: Uint32Array.from(neurons),
      train: train.kind === 'spikes' ? { ...train, steps: unsharedSteps(train.steps) } : train,
    })),
    silenced: Uint32Array.from(silenced),
  };
}

function unsharedSteps(steps: GivenTrain['steps']): GivenTrain['steps'] {
  return steps instanceof Uint16Array
    ? Uint16Array.from(steps)
    : steps.map((ofNeuron) => Uint16Array.from(ofNeuron));
}
