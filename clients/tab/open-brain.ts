/** Opens a brain in workers of this page, or of this program in Node. The bundle of this file is brain.js of a site. */
import type * as NodeThreads from 'node:worker_threads';
import { Brain, type BrainOptions, type OpenBrain } from '#client';
import { CodedError } from '../../src/engine/errors.js';
import type { Kernels } from './computer.js';
import { HERE, loadBrain, loadFile } from './load-brain.js';
import type { FromWorker, ToWorker } from './messages.js';

export { Brain, BrainSession, connect, ServiceError } from '#client';
export type { BrainOptions, LoadProgress } from '#client';

/** A worker, with the same members in a browser and in Node. */
interface Thread {
  post(message: ToWorker, memory: Transferable[]): void;
  end(): void;
}

/** A message, and the memory that moves with it. */
interface Sent {
  readonly message: ToWorker;
  readonly memory: Transferable[];
}

export const openBrain: OpenBrain = async (
  first: string | URL | BrainOptions = {},
  more: BrainOptions = {},
): Promise<Brain> => {
  const isSource = typeof first === 'string' || first instanceof URL;
  const { onProgress, signal, workers = 1 } = isSource ? more : first;
  if (!Number.isInteger(workers) || workers < 1)
    throw new RangeError(`workers must be an integer from 1, got ${workers}.`);
  signal?.throwIfAborted();
  const calls = new WorkerCalls();
  const over = new AbortController();
  const end = (): void => {
    over.abort();
    calls.end();
  };
  try {
    const channels = Array.from({ length: workers - 1 }, () => new MessageChannel());
    const helpers = channels.map(({ port1 }) => port1);
    const begin = (message: Sent | Promise<Sent>): Promise<Thread> =>
      start(message, calls.receive, signal, over.signal);
    const loading = Promise.all([
      loadBrain(isSource ? first : undefined, { onProgress, signal }),
      loadKernels(signal),
    ]);
    // Workers start meanwhile. The file moves to the first, so the page holds no copy; helpers get the brain from there.
    const [answering, [{ keep }]] = await Promise.all([
      begin(
        loading.then(([{ bytes: file, source }, kernels]) => ({
          message: { kind: 'open', file, source, kernels, helpers },
          memory: [file, ...helpers],
        })),
      ),
      loading,
      // A helper that dies leaves trials unanswered, so all calls fail.
      ...channels.map(({ port2 }) => begin({ message: { kind: 'help', trials: port2 }, memory: [port2] })),
    ]);
    calls.connect(answering);
    // The worker has opened the bytes, so they are right. A browser that refuses to store them loads them again.
    void keep().catch(() => undefined);
    // An answer always comes unless the worker fails. After a sleep, a timer would run out before the answer is read.
    return new Brain('', { fetch: calls.fetch, timeoutMs: Infinity }, end);
  } catch (error) {
    end();
    throw error;
  }
};

async function loadKernels(signal: AbortSignal | undefined): Promise<Kernels> {
  const load = (name: keyof Kernels) => loadFile(new URL(`./${name}.wasm`, HERE), signal);
  const [simulation, rewiring, drawing] = await Promise.all([
    load('simulation'),
    load('rewiring'),
    load('drawing'),
  ]);
  return { simulation, rewiring, drawing };
}

/** Starts a worker and waits until its brain is open. @param over ends the worker */
async function start(
  opening: Sent | Promise<Sent>,
  receive: (message: FromWorker) => void,
  signal: AbortSignal | undefined,
  over: AbortSignal,
): Promise<Thread> {
  let isReady = false;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal!.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    const onMessage = (message: FromWorker): void => {
      if (isReady) receive(message);
      else if (message.kind === 'failed') reject(CodedError.fromFailure(message.failure));
      else {
        isReady = true;
        signal?.removeEventListener('abort', onAbort);
        resolve(thread);
      }
    };
    const onError = (error: unknown): void => {
      if (isReady) receive({ kind: 'failed', failure: { code: 'WORKER_LOST', message: messageOf(error) } });
      else reject(new CodedError('WORKER_LOST', messageOf(error)));
    };
    let thread: Thread;
    const started = newThread(onMessage, onError).then((begun) => {
      if (over.aborted) begun.end();
      else over.addEventListener('abort', () => begun.end(), { once: true });
      return begun;
    });
    Promise.all([started, opening]).then(([begun, { message, memory }]) => {
      thread = begun;
      begun.post(message, memory);
    }, reject);
  });
}

function messageOf(error: unknown): string {
  return `The worker of the brain failed: ${(error as { message?: string }).message ?? String(error)}`;
}

async function newThread(
  onMessage: (message: FromWorker) => void,
  onError: (error: unknown) => void,
): Promise<Thread> {
  const file = new URL('./brain.worker.js', HERE);
  if (typeof Worker === 'function') {
    const worker = new Worker(file, { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => onMessage(data);
    worker.onerror = onError;
    return { post: (message, memory) => worker.postMessage(message, memory), end: () => worker.terminate() };
  }
  const module = 'node:worker_threads';
  const { Worker: NodeWorker } = (await import(/* @vite-ignore */ module)) as typeof NodeThreads;
  const worker = new NodeWorker(file);
  worker.on('message', onMessage);
  worker.on('error', onError);
  return {
    post: (message, memory) => worker.postMessage(message, memory as never[]),
    end: () => void worker.terminate(),
  };
}

interface Waiting {
  resolve(message: FromWorker): void;
  reject(error: unknown): void;
}

/** Requests to the first worker, in the form of fetch. */
class WorkerCalls {
  #thread: Thread | undefined;
  #asked = 0;
  #failure: CodedError | undefined;
  readonly #waiting = new Map<number, Waiting>();

  connect(thread: Thread): void {
    this.#thread = thread;
  }

  readonly receive = (message: FromWorker): void => {
    if (message.kind === 'failed') this.#fail(CodedError.fromFailure(message.failure));
    if (!('id' in message)) return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'broken') waiting?.reject(CodedError.fromFailure(message.failure));
    else waiting?.resolve(message);
  };

  readonly fetch: typeof fetch = async (input, { method = 'GET', headers, body: given, signal } = {}) => {
    // Text is sent at once, so requests keep their order.
    const body = given == null || typeof given === 'string' ? given : await new Response(given).text();
    signal?.throwIfAborted();
    const id = ++this.#asked;
    const stop = (): void => {
      this.#thread!.post({ kind: 'stop', id }, []);
      this.#waiting.get(id)?.reject(signal!.reason);
      this.#waiting.delete(id);
    };
    signal?.addEventListener('abort', stop, { once: true });
    const over = (): void => signal?.removeEventListener('abort', stop);
    const isJob = /\brespond-async\b/i.test(new Headers(headers).get('Prefer') ?? '');
    const request = { method, path: String(input), isJob, ...(body != null && { body }) };
    const answer = await this.#call({ kind: 'ask', id, ...request }).catch((error: unknown) => {
      over();
      throw error;
    });
    if (answer.kind !== 'answer') throw new TypeError('The worker of the brain did not answer.');
    if (answer.body !== undefined) over();
    return new Response(answer.body ?? this.#pieces(id, over, signal), answer);
  };

  /** Ends all calls. */
  end(): void {
    this.#fail(new CodedError('RUN_CANCELLED', 'The brain was closed.'));
  }

  #fail(failure: CodedError): void {
    this.#failure ??= failure;
    for (const { reject } of this.#waiting.values()) reject(failure);
    this.#waiting.clear();
  }

  #call(message: Extract<ToWorker, { id: number }>): Promise<FromWorker> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.set(message.id, { resolve, reject });
      this.#thread!.post(message, []);
    });
  }

  /** The pieces of a body. Each is made if somebody reads it. */
  #pieces(
    id: number,
    over: () => void,
    signal?: AbortSignal | null,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      pull: async (controller) => {
        // The worker has forgotten the request if it was stopped while nobody waited for a piece.
        signal?.throwIfAborted();
        const message = await this.#call({ kind: 'next', id });
        if (message.kind === 'piece' && message.piece !== undefined) {
          controller.enqueue(message.piece);
          return;
        }
        over();
        controller.close();
      },
      cancel: () => {
        over();
        this.#thread!.post({ kind: 'stop', id }, []);
      },
    });
  }
}
