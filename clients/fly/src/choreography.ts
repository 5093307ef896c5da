/** The movement for drives over time. It can show any moment, in any order. */
import { advance, AT_REST, type Motion } from './motion.js';
import type { DriveMoment } from './run-drives.js';

/** ms of movement for each ms of a run. At 1, a run of 100 ms would end before the fly had made one step. */
export const DEFAULT_SLOW_DOWN = 50;
/** The time step. It is short, so that movement looks the same at any frame rate. */
const STEP_MS = 10;
/** The movement continues for this time after the last change of drives. */
const ENDS_AFTER_MS = 6000;

export class Choreography {
  readonly #moments: readonly DriveMoment[];
  /** States STEP_MS apart, computed on demand. */
  readonly #states: Motion[] = [AT_REST];
  readonly #endMs: number;

  /**
   * @param moments drives, by time
   * @param slowDown ms of movement for each ms of `moments`
   */
  constructor(
    moments: readonly DriveMoment[],
    readonly slowDown: number = DEFAULT_SLOW_DOWN,
  ) {
    if (!(slowDown > 0 && Number.isFinite(slowDown))) {
      throw new RangeError(`slowDown is ${slowDown}; it must be a number above 0.`);
    }
    this.#moments = moments;
    this.#endMs = (moments.at(-1)?.fromMs ?? 0) * slowDown + ENDS_AFTER_MS;
  }

  /**
   * @param timeMs time of the run; before 0 the fly rests
   * @throws RangeError if it is no number
   */
  at(timeMs: number): Motion {
    const movedMs = Math.min(this.#endMs, Math.max(0, timeMs * this.slowDown));
    if (Number.isNaN(movedMs)) throw new RangeError(`timeMs is ${timeMs}; it must be a number.`);
    const step = Math.floor(movedMs / STEP_MS);
    for (let i = this.#states.length; i <= step; i++) {
      this.#states.push(advance(this.#states[i - 1]!, this.#driveAt((i - 1) * STEP_MS), STEP_MS));
    }
    return advance(this.#states[step]!, this.#driveAt(step * STEP_MS), movedMs - step * STEP_MS);
  }

  #driveAt(movedMs: number): DriveMoment['drive'] {
    return this.#moments.findLast(({ fromMs }) => fromMs * this.slowDown <= movedMs)?.drive ?? {};
  }
}

/** The state after any time of constant drives. */
export function advanceInSteps(before: Motion, drive: DriveMoment['drive'], elapsedMs: number): Motion {
  let motion = before;
  for (let leftMs = elapsedMs; leftMs > 0; leftMs -= STEP_MS) {
    motion = advance(motion, drive, Math.min(leftMs, STEP_MS));
  }
  return motion;
}
