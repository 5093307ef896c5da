import { FIXED_LIMITS, JSON_ROWS, TABLE_ROWS } from '../../experiments/plan/experiment-limits.js';
import type { Environment } from '../config/environment.js';

/**
 * Limits without a variable of their own. Each limits the memory or time of one request, connection or piece of work.
 * docs/operations.md lists them together with the limits that environment variables set.
 */

/** Body of a request that is not a document. */
export const BODY_LIMIT_BYTES = 8 * 1024;
export const DOCUMENT_LIMIT_BYTES = 1024 * 1024;
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const PARAMETER_LIMIT_CHARACTERS = 200;
/** Time from the first byte of a request to its last. */
export const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Longer than proxies keep an idle connection: nginx 60 s, Traefik 90 s, Caddy 120 s. Otherwise a proxy may send a request on
 * a connection that is just being closed.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 130_000;
/**
 * Unanswered requests on one connection. No HTTP library pipelines so many; each takes about 10 kB until it is
 * answered.
 */
export const UNANSWERED_REQUESTS_LIMIT = 64;
/** Interval at which Node looks for requests that take too long. */
export const TIMEOUT_CHECK_MS = 1_000;
/** Time to send an answer that bypasses the HTTP server, and for the client to close the connection after it. */
export const RAW_ANSWER_TIMEOUT_MS = 5_000;

/** Documents of the largest size that may be arriving at once, of one client and in total. */
export const ARRIVING_DOCUMENTS_PER_CLIENT = 8;
export const ARRIVING_DOCUMENTS = 256;

/** Experiments that wait for an equal one that is planned or computed. Each holds its document. */
export const EQUAL_EXPERIMENTS_PER_CLIENT = 128;
export const EQUAL_EXPERIMENTS = 256;

/**
 * If a body is too large, up to this much of it is read and dropped. Some clients read an answer only after they have
 * sent the whole body. For a larger body the connection is closed.
 */
export const DROPPED_BODY_BYTES = 16 * 1024 * 1024;

/** Memory of answers being sent, of one client and in total. */
export const LEAVING_BYTES_PER_CLIENT = 64 * 1024 * 1024;
export const LEAVING_BYTES = 256 * 1024 * 1024;

/** Clients whose runs and brain seconds are remembered: about 20 MB if many addresses fill it. */
export const MAX_CLIENTS = 50_000;
/** Length of the sliding window in which runs and brain seconds are counted. */
export const RATE_WINDOW_MS = 60_000;
/** Resolution of the window for brain seconds. */
export const SPENDING_SLOT_MS = 1_000;

/** Documents that may wait for each concurrent experiment. Planning is short, but each takes memory. */
const DOCUMENTS_FOR_EACH = 8;

type FixedLimits = Readonly<Record<keyof typeof FIXED_LIMITS, number>>;

/** Limits of experiments, jobs and sessions: fixed ones, and those derived from the environment. */
export class Limits extends (Object as unknown as new () => FixedLimits) {
  readonly conditions: number = 2_000;
  readonly conditionsPerJob: number = 20_000;
  readonly jsonRows: number = JSON_ROWS;
  readonly tableRows: number = TABLE_ROWS;
  readonly sessionsPerClient: number = 8;
  /** For each worker that computes trials. */
  readonly sessionsPerWorker: number = 40;
  /** Memory of a client's sessions: enough for eight of a whole brain with a few stimuli. */
  readonly sessionBytesPerClient: number = 100_000_000;
  /** Memory of all sessions, for each worker that computes trials. */
  readonly sessionBytesPerWorker: number = 160_000_000;
  /** Requests that watch sessions; each may leave a megabyte unread. */
  readonly watchersPerClient: number = 16;
  readonly watchers: number = 64;
  /** A session ends after this time without a step. */
  readonly sessionIdleMs: number = 60_000;
  readonly experimentsPerClient: number;
  /** Documents that wait to be planned, of one client and in total. */
  readonly waitingDocumentsPerClient: number;
  readonly waitingDocuments: number;
  /** Unfinished jobs of one client. */
  readonly jobsPerClient: number;
  /** Compressed results of one job. */
  readonly jobResultBytes: number;
  /** Those of a client's unfinished jobs on disk. */
  readonly unfinishedResultBytesPerClient: number;
  /** Finished jobs that are stored. If there are more, the oldest one of the client with most of them is removed. */
  readonly finishedJobs: number = 200;

  /** Brain seconds of an experiment that is answered at once, and of a session, whose document is one. */
  readonly brainSeconds: number;

  /** @param replaced limits that tests change */
  constructor(environment: Environment, replaced: Partial<Limits> = {}) {
    super();
    const { EXPERIMENTS_AT_ONCE, JOBS_AT_ONCE, JOBS_KEPT_BYTES } = environment;
    const { EXPERIMENT_BRAIN_SECONDS: atOnce, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: perMinute } = environment;
    // Simulated time above a minute's budget costs more than that, so a retry could never succeed.
    this.brainSeconds = perMinute === 0 ? atOnce : Math.min(atOnce, perMinute);
    this.experimentsPerClient = replaced.experimentsPerClient ?? Math.ceil(EXPERIMENTS_AT_ONCE / 4);
    this.waitingDocumentsPerClient = DOCUMENTS_FOR_EACH * this.experimentsPerClient;
    this.waitingDocuments = DOCUMENTS_FOR_EACH * EXPERIMENTS_AT_ONCE;
    this.jobsPerClient = Math.ceil(JOBS_AT_ONCE / 16);
    this.jobResultBytes = Math.floor(JOBS_KEPT_BYTES / 4);
    this.unfinishedResultBytesPerClient = Math.floor(JOBS_KEPT_BYTES / 2);
    Object.assign(this, FIXED_LIMITS, replaced);
  }

  /** Limits of all documents alike. The record of a job stores them, and no others. */
  get ofDocuments(): FixedLimits {
    const names = Object.keys(FIXED_LIMITS) as (keyof FixedLimits)[];
    return Object.fromEntries(names.map((name) => [name, this[name]])) as FixedLimits;
  }
}
