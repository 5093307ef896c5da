/** The module of the worker that holds the brain, in a browser and in Node. */
import type * as NodeThreads from 'node:worker_threads';
import { sha256Aside } from './platform.js';
import { openConnectomeWith } from '../../src/engine/connectome/format.js';
import { viewConnectome } from '../../src/engine/connectome/sections.js';
import { failureOf } from '../../src/engine/errors.js';
import { Computer } from './computer.js';
import { type LocalAnswer, LocalService } from './local-service.js';
import type { FromWorker, Helping, OpenedBrain, Opening, ToWorker } from './messages.js';
import { serveTrials, trialsIn } from './trials.js';
import { unpacked } from './unpack.js';

/** The page's end of a connection, as both platforms have it. */
interface Port {
  postMessage(message: FromWorker, memory?: ArrayBuffer[]): void;
}

interface UnderWay {
  readonly stop: AbortController;
  pieces?: Exclude<LocalAnswer['body'], Uint8Array>;
}

class BrainWorker {
  #service: LocalService | undefined;
  readonly #underWay = new Map<number, UnderWay>();

  constructor(private readonly port: Port) {}

  receive(message: ToWorker): void {
    if (message.kind === 'open') void this.#open(message);
    else if (message.kind === 'help') this.#help(message);
    else if (message.kind === 'ask') void this.#answer(message);
    else if (message.kind === 'next') void this.#next(message.id);
    else this.#stop(message.id);
  }

  #open({ file, source, kernels, helpers }: Opening): Promise<void> {
    return this.#tell(async () => {
      const buffer = await unpacked(file, source);
      const connectome = await openConnectomeWith(sha256Aside, buffer);
      for (const port of helpers) port.postMessage({ connectome: buffer, kernels } satisfies OpenedBrain);
      const computer = new Computer(connectome, kernels);
      this.#service = new LocalService(connectome, computer, trialsIn(computer, helpers));
    });
  }

  #help({ trials }: Helping): void {
    trials.onmessage = ({ data: { connectome, kernels } }: MessageEvent<OpenedBrain>) =>
      void this.#tell(() => serveTrials(new Computer(viewConnectome(connectome), kernels), trials));
  }

  /** Tells the page whether the brain is open. */
  async #tell(open: () => void | Promise<void>): Promise<void> {
    try {
      await open();
      this.port.postMessage({ kind: 'ready' });
    } catch (error) {
      this.port.postMessage({ kind: 'failed', failure: failureOf(error) });
    }
  }

  async #answer({ id, ...request }: Extract<ToWorker, { kind: 'ask' }>): Promise<void> {
    const underWay: UnderWay = { stop: new AbortController() };
    this.#underWay.set(id, underWay);
    const { status, headers, body } = await this.#service!.answer(request, underWay.stop.signal);
    if (body instanceof Uint8Array) {
      this.#underWay.delete(id);
      this.port.postMessage({ kind: 'answer', id, status, headers, body }, [body.buffer]);
      return;
    }
    underWay.pieces = body;
    this.port.postMessage({ kind: 'answer', id, status, headers });
  }

  async #next(id: number): Promise<void> {
    const pieces = this.#underWay.get(id)?.pieces;
    if (pieces === undefined) return;
    try {
      const { done, value } = await pieces.next();
      if (done === true) {
        this.#underWay.delete(id);
        this.port.postMessage({ kind: 'piece', id });
      } else this.port.postMessage({ kind: 'piece', id, piece: value }, [value.buffer]);
    } catch (error) {
      this.#underWay.delete(id);
      this.port.postMessage({ kind: 'broken', id, failure: failureOf(error) });
    }
  }

  #stop(id: number): void {
    const underWay = this.#underWay.get(id);
    this.#underWay.delete(id);
    underWay?.stop.abort();
    void underWay?.pieces?.return().catch(() => undefined);
  }
}

if ('WorkerGlobalScope' in globalThis) {
  const scope = globalThis as unknown as Port & { onmessage: (event: MessageEvent<ToWorker>) => void };
  const worker = new BrainWorker(scope);
  scope.onmessage = ({ data }) => worker.receive(data);
} else {
  const module = 'node:worker_threads';
  void import(/* @vite-ignore */ module).then(({ parentPort }: typeof NodeThreads) => {
    const worker = new BrainWorker(parentPort as unknown as Port);
    parentPort!.on('message', (message: ToWorker) => worker.receive(message));
  });
}
