import { BATCHES_IN_FLIGHT } from './batch-stage.js';

/**
 * @param rounds batches that are timed; one more where the number is odd, since batches in flight may end in pairs
 * @param simulate one batch
 * @returns the time of a batch in ms, while others are in flight, as they are under load
 */
export async function streamMs(rounds: number, simulate: () => Promise<unknown>): Promise<number> {
  const endsMs: number[] = [];
  const timed = rounds + (rounds % BATCHES_IN_FLIGHT);
  let left = timed + 1;
  const oneAfterTheOther = async () => {
    while (left-- > 0) {
      await simulate();
      endsMs.push(performance.now());
    }
  };
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, oneAfterTheOther));
  return (endsMs.at(-1)! - endsMs[0]!) / timed;
}
