import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import type { Trial } from '../../simulation/simulation.js';
import { CodedError } from '../../errors.js';
import type { Protocol } from '../../stimulus/protocol.js';
import { withTimeout } from '../../with-timeout.js';
import { RemoteCalls, type Given, type Result, type WorkId } from '../remote-calls.js';
import { builtFile } from '../worker-file.js';

export interface GpuWanted {
  readonly allowSoftware: boolean;
  /** Powers of two, ascending: how many trials a batch may hold, where the adapter has room for it. */
  readonly widths?: readonly number[];
}

export interface HostOpening extends GpuWanted {
  readonly connectomeFile: string;
  /** Digest of the connectome that the service holds; the host refuses another one. */
  readonly digest: string;
  /** File that the threads run, as a URL: for tests. */
  readonly workerFile?: string;
}

export interface GpuDescription {
  readonly adapter: string;
  /** Protocols that a batch may hold, ascending. */
  readonly widths: readonly number[];
}

/** In the order of the protocols; undefined where the GPU has no certified trial and the CPU must simulate. */
export type BatchResult = readonly (Trial | undefined)[];

/** Methods of the process. */
export interface GpuProcess {
  /** @returns the name of the adapter */
  adapter(allowSoftware: boolean): Promise<string>;
  open(opening: HostOpening): Promise<GpuDescription>;
  simulate(protocols: readonly Protocol[]): Promise<BatchResult>;
}

const PROCESS_FILE = builtFile('./gpu-host.process.js', import.meta.url);
/** The process has one object, which all calls are of. */
const GPU: WorkId = { client: '', id: 0 };
const ADAPTER_TIMEOUT_MS = 30_000;
/** Compiling the kernels takes seconds, on a software adapter far longer. */
const OPEN_TIMEOUT_MS = 180_000;
const REMEMBERED_OUTPUT = 2_000;
/** A process that waits inside a driver ends when the driver lets it, if ever. */
const END_WITHIN_MS = 3_000;

/**
 * The GPU host as the service sees it. Whatever goes wrong over there, a crash, a hang or a refusal, ends the
 * process and becomes one coded error here.
 */
export class GpuHost {
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  readonly #calls: RemoteCalls<GpuProcess>;
  /** Timers of the calls that wait, by the number of the call. */
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #lastCall = 0;
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
    const post = (message: unknown) => {
      this.#process.send(message as Serializable, (error) => {
        if (error !== null) this.#fail(`The GPU process cannot be reached: ${error.message}`);
      });
    };
    this.#calls = new RemoteCalls(post, () => undefined);
    this.#process.on('message', this.#calls.receive);
    this.ended = new Promise((resolve) => {
      this.#process.once('exit', (status, signal) => {
        this.#fail(`The GPU process ended (${signal ?? `status ${status}`}).`, this.#output);
        resolve();
      });
      this.#process.on('error', ({ message }) => {
        this.#fail(`The GPU process failed: ${message}`);
        // A process that was never started never ends.
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
      return await host.#call(ADAPTER_TIMEOUT_MS, 'adapter', allowSoftware);
    } finally {
      await host.close();
    }
  }

  /**
   * Starts a host, compiles its kernels and checks them against the CPU.
   * @param signal ends the process, now or later
   * @throws CodedError as open in gpu-host.process.ts
   */
  static async open(opening: HostOpening, signal?: AbortSignal): Promise<[GpuHost, GpuDescription]> {
    const host = new GpuHost(signal);
    try {
      return [host, await host.#call(OPEN_TIMEOUT_MS, 'open', opening)];
    } catch (error) {
      await host.close();
      throw error;
    }
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
    // Node copies arrays into messages between processes, also those in shared memory.
    const trials = await this.#call(timeoutMs, 'simulate', protocols);
    return trials.map((trial) => trial && sharedTrial(trial));
  }

  /** Ends the process at once, or as soon as its driver lets it; what it still computes is lost. */
  async close(): Promise<void> {
    this.#fail('The GPU process was ended.');
    this.#process.kill('SIGKILL');
    await withTimeout(END_WITHIN_MS, this.ended, () => undefined);
    // This process waits for that one no longer.
    this.#process.unref();
    this.#process.channel?.unref();
    this.#process.stderr!.destroy();
  }

  async #call<Name extends keyof GpuProcess>(
    timeoutMs: number,
    name: Name,
    ...given: Given<GpuProcess, Name>
  ): Promise<Result<GpuProcess, Name>> {
    const call = ++this.#lastCall;
    const timer = setTimeout(() => {
      this.#fail(`The GPU process did not answer within ${timeoutMs} ms and was ended.`);
      this.#process.kill('SIGKILL');
    }, timeoutMs);
    this.#timers.set(call, timer);
    try {
      return await this.#calls.call(GPU, name, ...given);
    } finally {
      clearTimeout(timer);
      this.#timers.delete(call);
      // Later calls have waited for this answer.
      for (const [later, waiting] of this.#timers) if (later > call) waiting.refresh();
    }
  }

  /** The first reason is the one that counts; everyone who waits is told. */
  #fail(message: string, cause?: string): void {
    this.#end ??= new CodedError('GPU_FAILED', message, { cause });
    this.#calls.fail(this.#end);
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
