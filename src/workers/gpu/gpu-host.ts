import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import type { Trial } from '../../engine/simulation/simulation.js';
import { CodedError } from '../../engine/errors.js';
import type { Protocol } from '../../engine/stimulus/protocol.js';
import { withTimeout } from '../pool/with-timeout.js';
import { RemoteCalls, type Given, type Result, type WorkId } from '../pool/remote-calls.js';
import { builtFile } from '../pool/worker-file.js';

export interface GpuWanted {
  readonly allowSoftware: boolean;
  /**
   * Allowed numbers of trials in a batch: powers of two, ascending. The adapter's memory may allow only the smaller
   * ones.
   */
  readonly widths?: readonly number[];
}

export interface HostOpening extends GpuWanted {
  readonly connectomeFile: string;
  /** Digest of the service's connectome; the process refuses a file with another digest. */
  readonly digest: string;
  /** Module of the threads, as a URL. Only tests set it. */
  readonly workerFile?: string;
}

export interface GpuDescription {
  readonly adapter: string;
  /** Allowed numbers of protocols in a batch, ascending. */
  readonly widths: readonly number[];
}

/**
 * Trials in the order of the protocols. An entry is undefined if the GPU did not certify it; the CPU then simulates
 * it.
 */
export type BatchResult = readonly (Trial | undefined)[];

/** Methods that the service calls in the GPU process. */
export interface GpuProcess {
  /** @returns the name of the adapter */
  adapter(allowSoftware: boolean): Promise<string>;
  open(opening: HostOpening): Promise<GpuDescription>;
  simulate(protocols: readonly Protocol[]): Promise<BatchResult>;
}

const PROCESS_FILE = builtFile('./gpu-host.process.js', import.meta.url);
/** RemoteCalls addresses objects by a work id; this process has only one object. */
const GPU: WorkId = { client: '', id: 0 };
const ADAPTER_TIMEOUT_MS = 30_000;
/** Compiling the kernels takes seconds, on a software adapter far longer. */
const OPEN_TIMEOUT_MS = 180_000;
const REMEMBERED_OUTPUT = 2_000;
/** A process inside a driver call may end late or never, so close() waits no longer than this. */
const END_WITHIN_MS = 3_000;

/**
 * The service's handle of the GPU process. A crash, a hang or a refusal ends that process and becomes one coded error
 * here.
 */
export class GpuHost {
  /** Resolves after the process has ended, for any reason. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  readonly #calls: RemoteCalls<GpuProcess>;
  /** Timers of pending calls, by call number. */
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
    // If the service has no file descriptor left, the process has neither streams nor a channel, and `error` follows.
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-REMEMBERED_OUTPUT);
    });
    const post = (message: unknown) => {
      this.#process.send?.(message as Serializable, (error) => {
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
      this.#process.on('error', ({ code, name, message }: NodeJS.ErrnoException) => {
        // The message names the program of Node.
        this.#fail(`The GPU process failed (${code ?? name}).`, message);
        // A process that was never started never ends.
        if (this.#process.pid === undefined) resolve();
      });
    });
  }

  /**
   * @returns the name of the adapter that a new process would use
   * @throws CodedError GPU_UNAVAILABLE; GPU_FAILED if the request crashed the process
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
   * Starts a process, compiles its kernels and checks them against the CPU.
   * @param signal ends the process, during opening or later
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

  /** The reason why the process ended; undefined while it runs. */
  get error(): CodedError | undefined {
    return this.#end;
  }

  get processId(): number | undefined {
    return this.#process.pid;
  }

  /**
   * @param timeoutMs ends the process if the batch takes longer; it restarts whenever an earlier batch is answered
   * @returns trials whose spikes are in shared memory, so sending them to a worker copies nothing
   * @throws CodedError GPU_FAILED if the batch was not computed
   */
  async simulate(protocols: readonly Protocol[], timeoutMs: number): Promise<BatchResult> {
    // Node copies arrays into messages between processes, even those in shared memory.
    const trials = await this.#call(timeoutMs, 'simulate', protocols);
    return trials.map((trial) => trial && sharedTrial(trial));
  }

  /** Ends the process at once, or as soon as its driver lets it. Pending batches fail. */
  async close(): Promise<void> {
    this.#fail('The GPU process was ended.');
    this.#process.kill('SIGKILL');
    await withTimeout(END_WITHIN_MS, this.ended, () => undefined);
    // From here on the other process does not keep this one running.
    this.#process.unref();
    this.#process.channel?.unref();
    this.#process.stderr?.destroy();
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
      // The process answers in order, so later calls were waiting for this one: restart their timers.
      for (const [later, waiting] of this.#timers) if (later > call) waiting.refresh();
    }
  }

  /** Keeps only the first reason and rejects all pending calls with it. */
  #fail(message: string, cause?: string): void {
    this.#end ??= new CodedError('GPU_FAILED', message, { cause });
    this.#calls.fail(this.#end);
  }
}

/**
 * All arrays of a message are views of its one buffer. Sent to a worker, each array would carry a copy of the whole
 * buffer: 32 times 4 MB for a batch of busy trials.
 */
function sharedTrial(trial: Trial): Trial {
  const steps = new Uint16Array(new SharedArrayBuffer(trial.steps.byteLength));
  const neurons = new Uint32Array(new SharedArrayBuffer(trial.neurons.byteLength));
  steps.set(trial.steps);
  neurons.set(trial.neurons);
  return { ...trial, steps, neurons };
}
