/** The drives of a run over time, from the channel rates of its frames. */
import { drivesFrom, type DriveFormula, type Drives } from './drive-formulas.js';

/** The members of a response with view=full that are used here. */
export interface Run {
  readonly duration_ms: number;
  /** Each frame lasts from `t`, in ms, to the next frame; rates in Hz. */
  readonly frames: readonly {
    readonly t: number;
    readonly channels: Readonly<Record<string, number>>;
  }[];
}

/** The members of GET /api/v1/model that are used here. */
export interface Model {
  readonly drives: readonly DriveFormula[];
}

/** Drives from a moment on, until the next. */
export interface DriveMoment {
  readonly fromMs: number;
  readonly drive: Drives;
}

/**
 * A channel of two neurons can have only 0, 100 or 200 Hz in a frame of 5 ms. A body needs smoother rates, so a frame's
 * rates are means over this time before its end.
 */
export const WINDOW_MS = 20;

/**
 * @returns one moment for each frame, and one without drives from the end of the run on
 * @throws Error if the formulas of the model do not fit the channels of the run
 */
export function drivesOf(run: Run, model: Model): readonly DriveMoment[] {
  const drivesAt = drivesFrom(model.drives);
  const frames = run.frames.map(({ t, channels }, i) => ({
    fromMs: t,
    toMs: run.frames[i + 1]?.t ?? run.duration_ms,
    channels,
  }));
  const moments = frames.map(({ fromMs, toMs, channels }, i) => {
    const rates = Object.keys(channels).map((id) => {
      let hzTimesMs = 0;
      for (let j = i; j >= 0 && frames[j]!.toMs > toMs - WINDOW_MS; j--) {
        const inWindowMs = frames[j]!.toMs - Math.max(frames[j]!.fromMs, toMs - WINDOW_MS);
        hzTimesMs += (frames[j]!.channels[id] ?? 0) * inWindowMs;
      }
      // Rates before the run are 0.
      return [id, hzTimesMs / WINDOW_MS] as const;
    });
    return { fromMs, drive: drivesAt(Object.fromEntries(rates)) };
  });
  return [...moments, { fromMs: run.duration_ms, drive: {} }];
}
