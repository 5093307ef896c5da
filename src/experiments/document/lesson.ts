/**
 * The experiments of the lesson, a page with five figures that have a slider each. The page computes them, and the
 * service takes them for published ones.
 */

const SUGAR = { node_set: '@sugar', rate_hz: 100 };
const MN9 = { node_set: '@MN9' };
const DOSES = { set: 'inputs.sugar.rate_hz', values: [0, 40, 80, 120, 160, 200] };
const SHARES = [0, 0.25, 0.5, 0.75, 1];
const BIN_MS = 100;

interface LessonFigure {
  /** Values of its slider: the first, the last, and the distance between two. */
  readonly values: readonly [first: number, last: number, step: number];
  readonly documentOf: (value: number) => object;
}

/** @param members those in which the document differs from the others */
function documentWith(name: string, members: object): object {
  return { name, inputs: { sugar: SUGAR }, reports: { MN9 }, trials: 3, ...members };
}

const FIGURES: Readonly<Record<string, LessonFigure>> = {
  sugar: {
    values: [40, 200, 20],
    documentOf: (highestHz) =>
      documentWith('Sugar to MN9', {
        sweep: [{ set: DOSES.set, values: SHARES.map((share) => share * highestHz) }],
      }),
  },
  bitter: {
    values: [0, 200, 20],
    documentOf: (rateHz) =>
      documentWith('Sugar to MN9, with bitter', {
        inputs: { sugar: SUGAR, bitter: { node_set: '@bitter', rate_hz: rateHz } },
        sweep: [DOSES],
      }),
  },
  lesion: {
    values: [4, 16, 4],
    documentOf: (top) =>
      documentWith('Which types MN9 needs', {
        sweep: [{ each: { responders_of: 'baseline', top }, group_by: ['type'], as: 'silence' }],
      }),
  },
  shuffled: {
    values: [0, 8, 1],
    documentOf: (seed) =>
      documentWith('Sugar to MN9 in a shuffled brain', {
        sweep: [DOSES],
        ...(seed > 0 && { wiring: { shuffle: 'targets', seed } }),
      }),
  },
  tired: {
    values: [500, 2000, 500],
    documentOf: (durationMs) =>
      documentWith('Sugar for long', {
        reports: { MN9: { ...MN9, type: 'histogram', bin_ms: BIN_MS } },
        duration_ms: durationMs,
      }),
  },
};

export const LESSON: ReadonlyMap<string, LessonFigure> = new Map(Object.entries(FIGURES));

/** The documents of all positions of all sliders. */
export function lessonDocuments(): object[] {
  return [...LESSON.values()].flatMap(({ values: [first, last, step], documentOf }) =>
    Array.from({ length: (last - first) / step + 1 }, (_, at) => documentOf(first + at * step)),
  );
}
