import type { Environment } from '../config/environment.js';

/*
 * Limits that no operator chooses: each bounds what one request, connection or piece of work takes of memory and time.
 * The table in docs/operations.md lists them with those that the environment sets.
 */

/** Body of a request, unless it is the document of an open experiment. */
export const BODY_LIMIT_BYTES = 8 * 1024;
export const DOCUMENT_LIMIT_BYTES = 1024 * 1024;
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const PARAMETER_LIMIT_CHARACTERS = 200;
/** From the first byte of a request to its last. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Requests of one connection. No library sends so many without waiting; each takes some 10 kB until it is answered. */
export const UNANSWERED_REQUESTS_LIMIT = 64;
/** How often Node looks for requests that take too long. */
export const TIMEOUT_CHECK_MS = 1_000;
/** Time for an answer outside of HTTP, or after it, to be sent, and for the client to end the connection. */
export const RAW_ANSWER_TIMEOUT_MS = 5_000;

/** Documents of the largest size whose bytes may be arriving at the same time, of one client and of all. */
export const ARRIVING_DOCUMENTS_PER_CLIENT = 8;
export const ARRIVING_DOCUMENTS = 256;

/** Clients whose runs and brain seconds are remembered: some 20 MB of addresses where a flood of them fills it. */
export const MAX_CLIENTS = 50_000;
/** Runs and brain seconds are counted in any time of this length. */
export const RATE_WINDOW_MS = 60_000;
/** Parts of the window by which brain seconds are summed up. */
export const SPENDING_SLOT_MS = 1_000;

/** Documents that wait for each experiment that may be under way: planned in a moment, but each takes memory. */
const DOCUMENTS_FOR_EACH = 8;

/** Limits of open experiments and jobs: fixed ones, and those that follow from what the environment sets. */
export class Limits {
  readonly conditions: number = 2_000;
  readonly conditionsPerJob: number = 20_000;
  /** Types and root ids that a document may name. */
  readonly ids: number = 10_000;
  /** Neurons that all selectors of a document may select together. */
  readonly selectedNeurons: number = 1_000_000;
  readonly inputEventsPerTrial: number = 2_000_000;
  readonly inputEventsPerBrainSecond: number = 400_000;
  /** A trial that exceeds it is stopped, in the first step in which the seconds so far have no more either. */
  readonly synapticEventsPerTrial: number = 50_000_000;
  readonly synapticEventsPerBrainSecond: number = 25_000_000;
  /** Connections that the overrides of a condition name together. */
  readonly overriddenPairs: number = 1_000_000;
  /** Numbers of groups in an answer: for each condition and group 10, and one per trial and bin. */
  readonly groupNumbers: number = 10_000_000;
  /** Membrane potentials in an answer, on all of its pages, and in a step of a session. */
  readonly samples: number = 2_000_000;
  /** Rows of spikes, input events and membrane potentials on a page of JSON or NDJSON. */
  readonly jsonRows: number = 200_000;
  /** The same of CSV, Arrow and Parquet, and of a condition of a job. */
  readonly tableRows: number = 2_000_000;
  readonly sessionsPerClient: number = 8;
  /** For each worker that computes trials: a session takes some 3 MB of a whole brain. */
  readonly sessionsPerWorker: number = 40;
  /** A session that is not asked for a step for so long ends. */
  readonly sessionIdleMs: number = 60_000;
  readonly experimentsPerClient: number;
  /** Documents that wait to be checked and planned, of one client and of all. */
  readonly waitingDocumentsPerClient: number;
  readonly waitingDocuments: number;
  /** Unfinished jobs of one client. */
  readonly jobsPerClient: number;
  /** Compressed results of one job. */
  readonly jobResultBytes: number;
  /** Finished jobs; beyond it, the oldest of the client with most of them is removed. */
  readonly jobsKept: number = 200;

  /** @param replaced limits that tests make smaller or larger */
  constructor(
    { EXPERIMENTS_AT_ONCE, JOBS_AT_ONCE, JOBS_KEPT_BYTES }: Environment,
    replaced: Partial<Limits> = {},
  ) {
    this.experimentsPerClient = replaced.experimentsPerClient ?? Math.ceil(EXPERIMENTS_AT_ONCE / 4);
    this.waitingDocumentsPerClient = DOCUMENTS_FOR_EACH * this.experimentsPerClient;
    this.waitingDocuments = DOCUMENTS_FOR_EACH * EXPERIMENTS_AT_ONCE;
    this.jobsPerClient = Math.ceil(JOBS_AT_ONCE / 16);
    this.jobResultBytes = Math.floor(JOBS_KEPT_BYTES / 4);
    Object.assign(this, replaced);
  }
}
