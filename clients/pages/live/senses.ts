/**
 * Rates of the sensory neurons of a live fly, from the user's actions. They are engineered for display, like the
 * drives.
 */

/** The stimulus that is an object at a distance; all others are on or off. */
const THREAT = 'loom';
/** Shortest duration of a tap, in brain time. A shorter one could fall between two steps. */
export const SHORTEST_ACT_MS = 250;
/** Beyond this distance, in halves of the canvas of the fly, nothing is near. */
export const FAR = 1.6;
const NEAREST = 0.2;
/** Half the width of the object. At a distance equal to it, the object covers 90 degrees. */
const OBJECT_HALF_SIZE = 0.15;
/** The object follows the pointer within about 100 ms of brain time. */
const FOLLOWS_HALF_LIFE_MS = 50;
/** Time in which an object approaches while its button is held. */
const COMES_IN_MS = 500;
/** Growth in the eye at which looming detectors fire at the rate of a run. */
const FULL_GROWTH_DEGREES_PER_SECOND = 80;
/** Growth below which nothing looms. */
const LEAST_GROWTH_DEGREES_PER_SECOND = 12;
/** Rates are rounded to this many Hz, so that the document of a session stays short. */
const RATE_STEP_HZ = 10;
const DRIVE_HALF_LIFE_MS = 200;

export class Senses {
  readonly #held = new Set<string>();
  /** Remaining brain time of tapped stimuli. */
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

  /** Sets the distance of the pointer from the fly, in halves of the canvas of the fly; FAR if there is none. */
  pointAt(distance: number): void {
    this.#pointer = Math.min(FAR, Math.max(NEAREST, distance));
  }

  /** Ends all stimuli. */
  reset(): void {
    this.#held.clear();
    this.#leftMs.clear();
    this.#pointer = this.#threat = FAR;
  }

  /** True if a stimulus is on, or if the object has not reached the pointer yet. */
  get isActing(): boolean {
    return this.#held.size > 0 || this.#leftMs.size > 0 || Math.abs(this.#pointer - this.#threat) > 0.02;
  }

  /**
   * Advances `stepMs` of brain time.
   * @returns the rates in Hz of all stimuli by their ids, and the strengths from 0 to 1 of those that are visible
   */
  sense(stepMs: number): Readonly<Record<'ratesHz' | 'strengths', Readonly<Record<string, number>>>> {
    const ratesHz: Record<string, number> = {};
    const strengths: Record<string, number> = {};
    for (const [stimulus, nominalHz] of Object.entries(this.nominalHz)) {
      const isOn = this.#held.has(stimulus) || this.#leftMs.has(stimulus);
      if (stimulus === THREAT) {
        const growth = this.#moveThreat(isOn, stepMs);
        const share =
          growth < LEAST_GROWTH_DEGREES_PER_SECOND ? 0 : Math.min(1, growth / FULL_GROWTH_DEGREES_PER_SECOND);
        ratesHz[stimulus] = RATE_STEP_HZ * Math.round((share * nominalHz) / RATE_STEP_HZ);
        const near = degreesAt(this.#threat) / degreesAt(NEAREST);
        if (this.#threat < FAR - 0.1) strengths[stimulus] = near;
      } else {
        ratesHz[stimulus] = isOn ? nominalHz : 0;
        if (isOn) strengths[stimulus] = 1;
      }
    }
    for (const [stimulus, leftMs] of this.#leftMs) {
      if (leftMs > stepMs) this.#leftMs.set(stimulus, leftMs - stepMs);
      else this.#leftMs.delete(stimulus);
    }
    return { ratesHz, strengths };
  }

  /** @returns growth in the eye, in degrees a second; negative if it recedes */
  #moveThreat(isHeld: boolean, stepMs: number): number {
    const before = degreesAt(this.#threat);
    if (isHeld) this.#threat = Math.max(NEAREST, this.#threat - ((FAR - NEAREST) * stepMs) / COMES_IN_MS);
    else this.#threat += (this.#pointer - this.#threat) * (1 - 2 ** (-stepMs / FOLLOWS_HALF_LIFE_MS));
    return ((degreesAt(this.#threat) - before) * 1000) / stepMs;
  }
}

/** Angle that the object covers in the eye. */
function degreesAt(distance: number): number {
  return (360 / Math.PI) * Math.atan(OBJECT_HALF_SIZE / distance);
}

/**
 * Drives as a body shows them. A drive rises at once and fades slowly, because one of 20 ms could not start a take-off, which
 * takes 750 ms.
 */
export class ShownDrive {
  #latest: Drive = {};
  /** The strongest since the last frame. A page that draws slowly gets several steps for one frame. */
  #unseen: Drive = {};
  #isSeen = true;
  #shown: Drive = {};

  /** Sets the drive of a step, which lasts until the next one. */
  take(drive: Drive): void {
    this.#latest = drive;
    this.#unseen = stronger(this.#unseen, drive);
    this.#isSeen = false;
  }

  /**
   * Advances `elapsedMs` of the page.
   * @param isMoved false if the last step is too long ago; steps since the last frame are shown nevertheless
   */
  frame(elapsedMs: number, isMoved: boolean): Drive {
    const share = 2 ** (-elapsedMs / DRIVE_HALF_LIFE_MS);
    const faded = Object.entries(this.#shown).map(([id, value]) => [id, value * share] as const);
    this.#shown = stronger(Object.fromEntries(faded), isMoved || !this.#isSeen ? this.#unseen : {});
    this.#isSeen = true;
    this.#unseen = isMoved ? this.#latest : {};
    return this.#shown;
  }
}

type Drive = Readonly<Record<string, number>>;

function stronger(old: Drive, fresh: Drive): Drive {
  const isStronger = ([id, value]: readonly [string, number]) => Math.abs(value) > Math.abs(old[id] ?? 0);
  return { ...fresh, ...old, ...Object.fromEntries(Object.entries(fresh).filter(isStronger)) };
}
