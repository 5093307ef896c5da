/** Batches that the GPU process may have: one is prepared, one submitted, one computed, one read. */
export const BATCHES_IN_FLIGHT = 4;

/**
 * @param rounds batches that are timed; some more where needed, since batches in flight may end together
 * @param simulate one batch; called before anything is timed as often as batches may be in flight, so that all is compiled
 *   that they need
 * @returns the time of a batch in ms, while others are in flight, as they are under load
 */
export async function streamMs(rounds: number, simulate: () => Promise<unknown>): Promise<number> {
  const inFlight = (work: () => Promise<unknown>) =>
    Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, work));
  await inFlight(simulate);
  const endsMs: number[] = [];
  const timed = Math.ceil(rounds / BATCHES_IN_FLIGHT) * BATCHES_IN_FLIGHT;
  let left = timed + 1;
  const oneAfterTheOther = async () => {
    while (left-- > 0) {
      await simulate();
      endsMs.push(performance.now());
    }
  };
  await inFlight(oneAfterTheOther);
  return (endsMs.at(-1)! - endsMs[0]!) / timed;
}
