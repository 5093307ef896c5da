/**
 * The number of times that work is tried again, for all kinds of work. A worker or thread that ends takes two kinds of
 * work with it: the work that it computed, which may be the cause, and work that only waited in it.
 */

/** A run of version 1 is blamed at once if its worker dies during it. A client waits, and may send it again. */
export const MAX_DEATHS_OF_RUN = 1;

/** A trial is tried a second time, because an experiment may have thousands, and one death may be an accident. */
export const MAX_DEATHS_OF_TRIAL = 2;

/** A run or trial fails after this many of its workers ended, even if it only waited in them: something else is wrong. */
export const MAX_LOSSES = 4;

/** Tries of a probe that bypasses the queue, if its worker dies during the work before it. */
export const MAX_TRIES_OF_PROBE = 3;

/** A document or job that ended the experiment thread this many times is refused, because its plan takes seconds. */
export const MAX_THREADS_ENDED = 2;

/** A job fails after this many tries of one of its chunks. Nobody waits, so there is time for a cause to pass. */
export const MAX_TRIES_OF_CHUNK = 5;
/** The pause before the second try of a chunk; later pauses are longer. */
export const CHUNK_RETRY_MS = 1_000;

/**
 * A job fails after this many processes died during one of its chunks. Chunks take half a second, so more deaths are
 * unlikely to be accidents.
 */
export const MAX_DEATHS_OF_CHUNK = 20;
