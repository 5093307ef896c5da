/**
 * Computes a piece of work when it is its turn. A thread that serves several clients gives each of them one piece after
 * another; a piece takes a few milliseconds and waits for nothing.
 */
export type Turn = <T>(piece: () => T) => Promise<T>;

/** The turn of a thread that has one user. */
export const inOneGo: Turn = async (piece) => piece();
