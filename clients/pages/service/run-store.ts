/**
 * The last answers, kept in the browser: a reload, Back and the list of recent runs show them without a request. Where
 * the browser has no IndexedDB, as in some private windows, nothing outlives the page.
 */
import type { Model } from './client.js';
import type { FullRun } from './client.js';
import { equal, type Experiment, experimentFrom } from './experiment.js';

export const KEPT_RUNS = 10;
const DATABASE = 'fly-brain-experiments';
const DATABASE_VERSION = 1;
const STORE = 'runs';

interface StoredRun {
  /** Id of the answer, which names model, engine and experiment: one experiment is stored once. */
  readonly id: string;
  readonly modelKey: string;
  /** Order of storing; the lowest is dropped first. */
  readonly turn: number;
  readonly response: FullRun;
}

/** Runs of one model; those of another model are forgotten when the store is opened. */
export class RunStore {
  /** Stored runs, the last one first. */
  #runs: StoredRun[] = [];

  private constructor(
    private readonly modelKey: string,
    private readonly database: IDBDatabase | undefined,
  ) {}

  static async open({ connectome_digest, version }: Model): Promise<RunStore> {
    const store = new RunStore(`${connectome_digest} ${version}`, await openDatabase());
    const all = await store.#inStore<StoredRun[]>('readonly', (runs) => runs.getAll());
    const ofModel = (all ?? []).filter(({ modelKey }) => modelKey === store.modelKey);
    if (ofModel.length !== (all ?? []).length) {
      await store.#inStore('readwrite', (runs) => runs.clear());
      for (const run of ofModel) await store.#inStore('readwrite', (runs) => runs.put(run));
    }
    store.#runs = ofModel.sort((a, b) => b.turn - a.turn);
    return store;
  }

  /** The experiments whose answers are stored, the last one first. */
  get experiments(): Experiment[] {
    return this.#runs.map(({ response }) => experimentFrom((name) => response[name]));
  }

  find(experiment: Experiment): FullRun | undefined {
    return this.#runs.find(({ response }) => equal(response, experiment))?.response;
  }

  /** Stores an answer as the last one and drops the oldest beyond KEPT_RUNS. */
  async add(response: FullRun): Promise<void> {
    const run = {
      id: response.id,
      modelKey: this.modelKey,
      turn: (this.#runs[0]?.turn ?? 0) + 1,
      response,
    };
    const all = [run, ...this.#runs.filter(({ id }) => id !== run.id)];
    this.#runs = all.slice(0, KEPT_RUNS);
    await this.#inStore('readwrite', (runs) => runs.put(run));
    for (const { id } of all.slice(KEPT_RUNS)) await this.#inStore('readwrite', (runs) => runs.delete(id));
  }

  async clear(): Promise<void> {
    this.#runs = [];
    await this.#inStore('readwrite', (runs) => runs.clear());
  }

  /** A full disk or a database that another page deletes costs the memory, never the run. */
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
