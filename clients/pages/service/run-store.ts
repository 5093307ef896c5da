/**
 * Stores the last answers in the browser. A reload and Back show them without a request. If
 * the browser has no IndexedDB, as in some private windows, they last as long as the page.
 */
import type { FullRun, Model } from './client.js';
import { equal, type Experiment } from './experiment.js';

const MAX_STORED_RUNS = 10;
const DATABASE = 'fly-brain-experiments';
const DATABASE_VERSION = 1;
const STORE = 'runs';

interface StoredRun {
  /** Id of the answer, which names model, engine and experiment: one experiment is stored once. */
  readonly id: string;
  readonly modelKey: string;
  /** Number in order of storing; the lowest is dropped first. */
  readonly turn: number;
  readonly response: FullRun;
}

/** Runs of one model. Opening the store drops runs of other models. */
export class RunStore {
  /** Stored runs, the last one first. */
  #runs: StoredRun[] = [];

  private constructor(
    private readonly modelKey: string,
    private readonly database: IDBDatabase | undefined,
  ) {}

  static async open({ connectome_digest, version }: Model): Promise<RunStore> {
    const store = new RunStore(`${connectome_digest} ${version}`, await openDatabase());
    const all = (await store.#inStore<StoredRun[]>('readonly', (runs) => runs.getAll())) ?? [];
    const isOfModel = ({ modelKey }: StoredRun): boolean => modelKey === store.modelKey;
    store.#runs = all.filter(isOfModel).sort((a, b) => b.turn - a.turn);
    await store.#drop(all.filter((run) => !isOfModel(run)));
    return store;
  }

  find(experiment: Experiment): FullRun | undefined {
    return this.#runs.find(({ response }) => equal(response, experiment))?.response;
  }

  /** Stores an answer as the last one and drops the oldest beyond MAX_STORED_RUNS. */
  async add(response: FullRun): Promise<void> {
    const run = {
      id: response.id,
      modelKey: this.modelKey,
      turn: (this.#runs[0]?.turn ?? 0) + 1,
      response,
    };
    const all = [run, ...this.#runs.filter(({ id }) => id !== run.id)];
    this.#runs = all.slice(0, MAX_STORED_RUNS);
    await this.#inStore('readwrite', (runs) => runs.put(run));
    await this.#drop(all.slice(MAX_STORED_RUNS));
  }

  async #drop(dropped: readonly StoredRun[]): Promise<void> {
    for (const { id } of dropped) await this.#inStore('readwrite', (runs) => runs.delete(id));
  }

  /** If the disk is full or another page deletes the database, the run is not stored, but the page still shows it. */
  async #inStore<T>(
    mode: IDBTransactionMode,
    ask: (runs: IDBObjectStore) => IDBRequest,
  ): Promise<T | undefined> {
    if (this.database === undefined) return undefined;
    try {
      return await settled<T>(ask(this.database.transaction(STORE, mode).objectStore(STORE)));
    } catch {
      return undefined;
    }
  }
}

async function openDatabase(): Promise<IDBDatabase | undefined> {
  try {
    const request = indexedDB.open(DATABASE, DATABASE_VERSION);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'id' });
    return await settled<IDBDatabase>(request);
  } catch {
    return undefined;
  }
}

function settled<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error ?? new Error('The database refused.'));
  });
}
