/** What a person sets on the page, in the names of the API. */
export interface Experiment {
  readonly stimulus: string;
  readonly duration_ms: number;
  readonly intensity: number;
  readonly seed: number;
}

const FIELDS = ['stimulus', 'duration_ms', 'intensity', 'seed'] as const;
/** Marks the fields of the run that was kept for comparison. */
const KEPT_PREFIX = 'kept.';

export interface SharedExperiments {
  readonly current: Experiment | undefined;
  readonly kept: Experiment | undefined;
}

/** The part of a link after `#` that reopens the same experiments. */
export function toHash(current: Experiment, kept: Experiment | undefined): string {
  const parameters = new URLSearchParams();
  for (const field of FIELDS) parameters.set(field, String(current[field]));
  if (kept !== undefined) {
    for (const field of FIELDS) parameters.set(KEPT_PREFIX + field, String(kept[field]));
  }
  return `#${parameters}`;
}

/**
 * Reads what toHash wrote. Fields that are missing come from `defaults`; whether the values are allowed is
 * left to the service, which says what is wrong with them.
 */
export function fromHash(hash: string, defaults: Experiment): SharedExperiments {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const read = (prefix: string): Experiment | undefined => {
    const text = (field: string): string | undefined => parameters.get(prefix + field)?.trim() || undefined;
    if (FIELDS.every((field) => text(field) === undefined)) return undefined;
    const number = (field: (typeof FIELDS)[number]): number => Number(text(field) ?? defaults[field]);
    return {
      stimulus: text('stimulus') ?? defaults.stimulus,
      duration_ms: number('duration_ms'),
      intensity: number('intensity'),
      seed: number('seed'),
    };
  };
  return { current: read(''), kept: read(KEPT_PREFIX) };
}

export function equal(a: Experiment, b: Experiment): boolean {
  return FIELDS.every((field) => a[field] === b[field]);
}

/** One line for people: `Looming object, 200 ms, intensity 1.5, seed 7`. */
export function describe(experiment: Experiment, label = experiment.stimulus): string {
  return `${label}, ${experiment.duration_ms} ms, intensity ${experiment.intensity}, seed ${experiment.seed}`;
}

/** The same request for a terminal. */
export function curlOf({ stimulus, duration_ms, intensity, seed }: Experiment, origin: string): string {
  const body = JSON.stringify({ stimulus, duration_ms, intensity, seed });
  return [
    `curl --compressed '${origin}/api/v1/run' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
