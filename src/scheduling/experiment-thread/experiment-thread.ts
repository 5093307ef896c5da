/**
 * The thread of experiments, as the service sees it. Documents go in and bytes come out; trials are asked of the
 * service. A piece of work that takes too long ends the thread: its experiments fail, another thread takes its place,
 * and runs of version 1 notice nothing.
 */
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CodedError, queueFull } from '../../errors.js';
import { withTimeout } from '../../with-timeout.js';
import { ClientShares, placesFor } from '../client-shares.js';
import { builtFile } from '../worker-file.js';
import type { ThreadData } from './experiment.thread.js';
import { RemoteCalls } from '../remote-calls.js';
import { ThreadWork } from './thread-work.js';
import { Watchdog } from './watchdog.js';
import type { WorkHandler } from './work-handler.js';

const THREAD_FILE = builtFile('./experiment.thread.js', import.meta.url);
/** Limit of JavaScript objects; sums and rows of tables are arrays, which lie outside. */
const HEAP_MB = 512;
/** Limit on new objects: by default they may take 48 MB, three times as much as all others. */
const YOUNG_HEAP_MB = 12;
/** For opening the connectome and indexing its neurons: many times what it takes. */
const START_TIMEOUT_MS = 120_000;
/** Pieces are made to take some 20 ms. */
const LONGEST_PIECE_MS = 10_000;
const LOOK_EVERY_MS = 500;
/** After a thread that ended before it was ready. */
const RESTART_MS = 1_000;
const RETRY_AFTER_S = 1;
/** Losses of the thread after which their cause is not computed any more. */
const MAXIMUM_LOSSES = 2;
const BLAMED_KEPT = 1_000;

interface ThreadOptions {
  readonly connectome: SharedArrayBuffer;
  /** Documents that may wait to be planned. */
  readonly documents: Bounds;
  /** Other than by default in tests. */
  readonly longestPieceMs?: number;
  readonly threadFile?: URL;
}

/** Requests that may wait for their turn, of all clients and of one. */
interface Bounds {
  readonly ofAll: number;
  readonly ofClient: number;
}

/** Searches and cards, which take some kB each. To refuse one costs the service as much as to let it wait. */
const WAITING_QUERIES: Bounds = { ofAll: 8192, ofClient: 2048 };

interface OpenWork {
  readonly work: ThreadWork;
  /** The document or job that is computed, which counts how often it ended the thread. */
  readonly subject: string | undefined;
}

export class ExperimentThread {
  readonly #log = new Logger('experiments');
  readonly #works = new Map<number, OpenWork>();
  readonly #documents = new ClientShares();
  readonly #queries = new ClientShares();
  /** How often a subject ended the thread. */
  readonly #losses = new LRUCache<string, number>({ max: BLAMED_KEPT });
  readonly #watchdog = new Watchdog();
  readonly #timer: NodeJS.Timeout;
  #worker!: Worker;
  #link!: RemoteCalls<WorkHandler>;
  #lastWork = 0;
  #isReady = false;
  #isClosed = false;
  #restarts = 0;

  private constructor(private readonly options: ThreadOptions) {
    const { longestPieceMs = LONGEST_PIECE_MS } = options;
    this.#startThread();
    this.#timer = setInterval(() => {
      const { ms = 0 } = this.#watchdog.current ?? {};
      if (ms > longestPieceMs) void this.#worker.terminate();
    }, LOOK_EVERY_MS).unref();
  }

  /**
   * Resolves once the thread is ready.
   * @throws CodedError WORKER_LOST, DEADLINE_PASSED
   */
  static async start(options: ThreadOptions): Promise<ExperimentThread> {
    const thread = new ExperimentThread(options);
    try {
      await withTimeout(START_TIMEOUT_MS, thread.#probe(), () => {
        const message = `The thread of experiments was not ready within ${START_TIMEOUT_MS} ms.`;
        throw new CodedError('DEADLINE_PASSED', message);
      });
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** Threads that were started in place of one that ended. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Begins work on a document that a client sent. To be ended by whoever begins it.
   * @param text undefined where every default is wanted
   * @throws CodedError QUEUE_FULL where too many wait for their turn already, TOO_EXPENSIVE where it has
   *   ended the thread twice
   */
  openDocument(client: string, text: string | undefined): ThreadWork {
    const subject = text === undefined ? undefined : hash('sha256', text);
    const { documents } = this.options;
    return this.#open(client, subject, enter('documents', this.#documents, documents, client));
  }

  /** Begins work on the results of a job; as openDocument. */
  openResults(client: string, job: string): ThreadWork {
    const { documents } = this.options;
    return this.#open(client, jobSubject(job), enter('documents', this.#documents, documents, client));
  }

  /** Begins work that is bounded elsewhere: on a chunk of a job. */
  openChunk(client: string, job: string): ThreadWork {
    return this.#open(client, jobSubject(job));
  }

  /**
   * Asks something that takes a moment.
   * @throws CodedError QUEUE_FULL, and what the question fails with
   */
  async query<T>(client: string, ask: (work: ThreadWork) => Promise<T>): Promise<T> {
    const work = this.#open(client, undefined, enter('searches', this.#queries, WAITING_QUERIES, client));
    try {
      return await ask(work);
    } finally {
      work.end();
    }
  }

  /** Ends the thread at once; what is under way fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#link.fail(new ThreadLost());
    await this.#worker.terminate();
  }

  #open(client: string, subject?: string, leave: () => void = () => undefined): ThreadWork {
    const losses = subject === undefined ? 0 : (this.#losses.get(subject) ?? 0);
    if (losses >= MAXIMUM_LOSSES) {
      leave();
      throw new CodedError(
        'TOO_EXPENSIVE',
        `Computing this experiment has ended its thread ${losses} times, so it is not tried again. A smaller one may do.`,
        { path: '' },
      );
    }
    const id = ++this.#lastWork;
    const work = new ThreadWork({ client, id }, this.#link, leave, () => this.#works.delete(id));
    this.#works.set(id, { work, subject });
    return work;
  }

  #startThread(): void {
    const { connectome, threadFile = THREAD_FILE } = this.options;
    this.#watchdog.end();
    const worker = new Worker(threadFile, {
      workerData: { connectome, watchdog: this.#watchdog.memory } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    const link = new RemoteCalls<WorkHandler>(
      (message, memory) => worker.postMessage(message, memory),
      ({ id }) => this.#works.get(id)?.work,
    );
    worker.on('message', link.receive);
    let reason = '';
    worker.on('error', (error) => (reason = `: ${error instanceof Error ? error.stack : String(error)}`));
    worker.once('exit', () => {
      link.fail(new ThreadLost());
      if (!this.#isClosed) this.#replaceThread(reason);
    });
    this.#worker = worker;
    this.#link = link;
  }

  async #probe(): Promise<void> {
    const work = this.#open('');
    try {
      await work.call('probe');
      this.#isReady = true;
    } finally {
      work.end();
    }
  }

  #replaceThread(reason: string): void {
    const { current } = this.#watchdog;
    const subject = current && this.#works.get(current.work)?.subject;
    if (subject !== undefined) this.#losses.set(subject, (this.#losses.get(subject) ?? 0) + 1);
    this.#log.error(`The thread of experiments has ended${reason}`);
    this.#restarts++;
    const pauseMs = this.#isReady ? 0 : RESTART_MS;
    this.#isReady = false;
    const restart = () => {
      if (this.#isClosed) return;
      this.#startThread();
      const worker = this.#worker;
      withTimeout(START_TIMEOUT_MS, this.#probe(), () => void worker.terminate()).catch(() => undefined);
    };
    if (pauseMs === 0) restart();
    else setTimeout(restart, pauseMs).unref();
  }
}

function jobSubject(id: string): string {
  return `job ${id}`;
}

/**
 * @returns what gives the place back
 * @throws CodedError QUEUE_FULL
 */
function enter(what: string, shares: ClientShares, { ofAll, ofClient }: Bounds, client: string): () => void {
  const own = shares.of(client);
  if (own >= ofClient) throw queueFull(`${own} ${what} of this client wait for their turn`, RETRY_AFTER_S);
  if (shares.ofAll >= placesFor(own, ofAll)) {
    throw queueFull(`${shares.ofAll} ${what} wait for their turn`, RETRY_AFTER_S);
  }
  return shares.take(client, 1);
}

/** The thread ended, over whatever it was computing: what else it had may be tried again. */
export class ThreadLost extends CodedError {
  constructor() {
    super('WORKER_LOST', 'The thread that computes experiments has ended; try again.', {
      retryAfterS: RETRY_AFTER_S,
    });
  }
}
