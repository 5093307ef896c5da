/** Rates of the sensory neurons of a live fly, from what is done to it. Made up for a display, as the drives are. */

/** The stimulus that is an object at a distance; all others are held. */
export const THREAT = 'loom';
/** A tap lasts at least so long, in brain time: a shorter one could fall between two steps. */
export const SHORTEST_ACT_MS = 250;
/** Beyond this distance, in halves of the canvas of the fly, nothing is near. */
export const FAR = 1.6;
const NEAREST = 0.2;
/** Size of the object; at a distance of as much it covers 90 degrees of the eye. */
const OBJECT_SIZE = 0.15;
/** The object follows the pointer in some 100 ms of the brain. */
const FOLLOWS_HALF_LIFE_MS = 50;
/** An object that is held by a key comes in so many ms. */
const COMES_IN_MS = 500;
/** Growth in the eye at which looming detectors fire at the rate that a run gives them, in degrees a second. */
const FULL_GROWTH = 80;
/** Growth below which nothing looms. */
const LEAST_GROWTH = 12;
/** Rates are given in such steps, in Hz, so that the document of a session stays short. */
const RATE_STEP_HZ = 10;
const DRIVE_HALF_LIFE_MS = 200;

export interface Sensed {
  /** Rates in Hz by the ids of stimuli, of all that there are. */
  readonly ratesHz: Readonly<Record<string, number>>;
  /** Strengths from 0 to 1 of what is seen to be done. */
  readonly strengths: Readonly<Record<string, number>>;
}

export class Senses {
  readonly #held = new Set<string>();
  /** Brain time for which what was tapped goes on. */
  readonly #leftMs = new Map<string, number>();
  #pointer = FAR;
  #threat = FAR;

  /** @param nominalHz rates of the stimuli that the model has, as a run of version 1 sets them */
  constructor(private readonly nominalHz: Readonly<Record<string, number>>) {}

  hold(stimulus: string): void {
    this.#held.add(stimulus);
    this.#leftMs.set(stimulus, stimulus === THREAT ? COMES_IN_MS : SHORTEST_ACT_MS);
  }

  letGo(stimulus: string): void {
    this.#held.delete(stimulus);
  }

  /** Sets the distance of the pointer from the fly, in halves of the canvas of the fly; FAR where there is none. */
  pointAt(distance: number): void {
    this.#pointer = Math.min(FAR, Math.max(NEAREST, distance));
  }

  /** Ends whatever is done. */
  reset(): void {
    this.#held.clear();
    this.#leftMs.clear();
    this.#pointer = this.#threat = FAR;
  }

  /** Tells whether something is done, or the object has yet to reach the pointer. */
  get isActing(): boolean {
    return this.#held.size > 0 || this.#leftMs.size > 0 || Math.abs(this.#pointer - this.#threat) > 0.02;
  }

  /** Returns what it senses during the next `stepMs` of the brain. */
  sense(stepMs: number): Sensed {
    const ratesHz: Record<string, number> = {};
    const strengths: Record<string, number> = {};
    for (const [stimulus, nominalHz] of Object.entries(this.nominalHz)) {
      const isDone = this.#held.has(stimulus) || this.#leftMs.has(stimulus);
      if (stimulus === THREAT) {
        const growth = this.#moveThreat(isDone, stepMs);
        const share = growth < LEAST_GROWTH ? 0 : Math.min(1, growth / FULL_GROWTH);
        ratesHz[stimulus] = RATE_STEP_HZ * Math.round((share * nominalHz) / RATE_STEP_HZ);
        const near = degreesAt(this.#threat) / degreesAt(NEAREST);
        if (this.#threat < FAR - 0.1) strengths[stimulus] = near;
      } else {
        ratesHz[stimulus] = isDone ? nominalHz : 0;
        if (isDone) strengths[stimulus] = 1;
      }
    }
    for (const [stimulus, leftMs] of this.#leftMs) {
      if (leftMs > stepMs) this.#leftMs.set(stimulus, leftMs - stepMs);
      else this.#leftMs.delete(stimulus);
    }
    return { ratesHz, strengths };
  }

  /** @returns growth in the eye, in degrees a second; negative where it recedes */
  #moveThreat(isHeld: boolean, stepMs: number): number {
    const before = degreesAt(this.#threat);
    if (isHeld) this.#threat = Math.max(NEAREST, this.#threat - ((FAR - NEAREST) * stepMs) / COMES_IN_MS);
    else this.#threat += (this.#pointer - this.#threat) * (1 - 2 ** (-stepMs / FOLLOWS_HALF_LIFE_MS));
    return ((degreesAt(this.#threat) - before) * 1000) / stepMs;
  }
}

/** Angle that the object covers in the eye. */
function degreesAt(distance: number): number {
  return (360 / Math.PI) * Math.atan(OBJECT_SIZE / distance);
}

/** Drives go up at once and fade: a body that takes 750 ms to take off would not see one of 20 ms. */
export function faded(
  shown: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
  elapsedMs: number,
): Record<string, number> {
  const share = 2 ** (-elapsedMs / DRIVE_HALF_LIFE_MS);
  return Object.fromEntries(
    [...new Set([...Object.keys(shown), ...Object.keys(now)])].map((id) => {
      const [old, fresh] = [(shown[id] ?? 0) * share, now[id] ?? 0];
      return [id, Math.abs(fresh) > Math.abs(old) ? fresh : old];
    }),
  );
}
