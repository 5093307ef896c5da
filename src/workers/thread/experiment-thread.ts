/**
 * The service's handle of the experiment thread, which plans experiments and writes their answers. Documents go in
 * and bytes come out; the thread asks the service for trials. If one turn takes too long, the thread is ended: its
 * experiments fail, a new thread replaces it, and runs of version 1 are not affected.
 */
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CodedError, queueFull } from '../../engine/errors.js';
import { withTimeout } from '../pool/with-timeout.js';
import { type Bounds, ClientShares } from '../queue/client-shares.js';
import { builtFile } from '../pool/worker-file.js';
import type { ThreadData } from './experiment.thread.js';
import { RemoteCalls } from '../pool/remote-calls.js';
import { MAX_THREADS_ENDED } from '../pool/retries.js';
import { ThreadWork } from './thread-work.js';
import { Watchdog } from './watchdog.js';
import type { WorkHandler } from './work-handler.js';

const THREAD_FILE = builtFile('./experiment.thread.js', import.meta.url);
/** Limit of the JavaScript heap. Sums and rows of tables are typed arrays, which lie outside. */
const HEAP_MB = 512;
/** Limit of the young generation: Node's default is 48 MB, three times as much as all other objects take. */
const YOUNG_HEAP_MB = 12;
/** Time to open the connectome and to index its neurons, many times the usual one. */
const START_TIMEOUT_MS = 120_000;
/** A turn should take about 20 ms. After this long the thread is ended. */
const MAX_TURN_MS = 10_000;
const LOOK_EVERY_MS = 500;
/** Pause before the restart of a thread that ended before it was ready. */
const RESTART_MS = 1_000;
const RETRY_AFTER_S = 1;
const BLAMED_KEPT = 1_000;

interface ThreadOptions {
  readonly connectome: SharedArrayBuffer;
  /** Limits of documents that wait to be planned. */
  readonly documents: Bounds;
  /** Tests change this and the next one. */
  readonly maxTurnMs?: number;
  readonly threadFile?: URL;
}

/** Limits of waiting searches and cards, which take a few kB each. Refusing one costs as much as letting it wait. */
const WAITING_QUERIES: Bounds = { ofAll: 8192, ofClient: 2048 };

interface OpenWork {
  readonly work: ThreadWork;
  /** The document or job that is computed. For each one we count how often it ended the thread. */
  readonly subject: string | undefined;
}

export class ExperimentThread {
  readonly #log = new Logger('experiments');
  readonly #works = new Map<number, OpenWork>();
  readonly #documents = new ClientShares();
  readonly #queries = new ClientShares();
  /** Number of times that a subject ended the thread. */
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
    const { maxTurnMs = MAX_TURN_MS } = options;
    this.#startThread();
    this.#timer = setInterval(() => {
      if (this.#watchdog.isOverdue(maxTurnMs, LOOK_EVERY_MS)) void this.#worker.terminate();
    }, LOOK_EVERY_MS).unref();
  }

  /**
   * Resolves after the thread is ready.
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

  /** Number of threads started to replace one that ended. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Begins work on a document of a client. The caller must end the work.
   * @param text JSON text; undefined for a document of defaults
   * @throws CodedError QUEUE_FULL if too many documents wait; TOO_EXPENSIVE if this one ended the thread twice
   */
  openDocument(client: string, text: string | undefined): ThreadWork {
    const subject = text === undefined ? undefined : hash('sha256', text);
    const { documents } = this.options;
    return this.#open(client, subject, enter('documents', this.#documents, documents, client));
  }

  /** Begins work on the results of a job; see openDocument. */
  openResults(client: string, job: string): ThreadWork {
    const { documents } = this.options;
    return this.#open(client, jobSubject(job), enter('documents', this.#documents, documents, client));
  }

  /** Begins work on a chunk of a job. Its number is limited elsewhere. */
  openChunk(client: string, job: string): ThreadWork {
    return this.#open(client, jobSubject(job));
  }

  /**
   * Asks a short question, such as a search.
   * @throws CodedError QUEUE_FULL; the failure of the question
   */
  async query<T>(client: string, ask: (work: ThreadWork) => Promise<T>): Promise<T> {
    const work = this.#open(client, undefined, enter('searches', this.#queries, WAITING_QUERIES, client));
    try {
      return await ask(work);
    } finally {
      work.end();
    }
  }

  /** Ends the thread at once; pending calls fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#link.fail(new ThreadLost());
    await this.#worker.terminate();
  }

  #open(client: string, subject?: string, leave: () => void = () => undefined): ThreadWork {
    const losses = subject === undefined ? 0 : (this.#losses.get(subject) ?? 0);
    if (losses >= MAX_THREADS_ENDED) {
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
 * @returns a function that ends the wait
 * @throws CodedError QUEUE_FULL
 */
function enter(what: string, shares: ClientShares, bounds: Bounds, client: string): () => void {
  return shares.admit(client, 1, bounds, (waiting, whose) =>
    queueFull(`${waiting} ${what}${whose} wait for their turn`, RETRY_AFTER_S),
  );
}

/** The thread ended. The cause may be other work, so a client may try again. */
export class ThreadLost extends CodedError {
  constructor() {
    super('WORKER_LOST', 'The thread that computes experiments has ended; try again.', {
      retryAfterS: RETRY_AFTER_S,
    });
  }
}
