import { type Field, FIELD_NAMES, type FieldName, FIELDS } from '../../../src/experiments/presets/fields.js';

/** Settings of the page under the names of the API. A link may have invalid values. */
export type Experiment = {
  readonly [Name in FieldName]: (typeof FIELDS)[Name]['type'] extends 'string' ? string : number;
};

export const DEFAULT_EXPERIMENT = experimentFrom((name) => FIELDS[name].default);

/**
 * @param valueOf gives the value of each field; a numeric text becomes a number, and any other text stays, so that the
 *   service can refuse it
 */
export function experimentFrom(valueOf: (name: FieldName) => string | number): Experiment {
  const values = FIELD_NAMES.map((name) => {
    const { type }: Field = FIELDS[name];
    const value = valueOf(name);
    return [name, type === 'string' || Number.isNaN(Number(value)) ? String(value) : Number(value)];
  });
  return Object.fromEntries(values) as unknown as Experiment;
}

/** Prefix of the fields of the run that is stored for comparison. */
const KEPT_PREFIX = 'kept.';

/** The part of a link after `#` that reopens the same experiments. */
export function toHash(current: Experiment, kept: Experiment | undefined): string {
  const parameters = new URLSearchParams();
  for (const field of FIELD_NAMES) parameters.set(field, String(current[field]));
  if (kept !== undefined) {
    for (const field of FIELD_NAMES) parameters.set(KEPT_PREFIX + field, String(kept[field]));
  }
  return `#${parameters}`;
}

/**
 * Reads the output of toHash. Missing fields get their defaults. Invalid values and unknown
 * fields stay, so that the service can refuse them with a message.
 */
export function fromHash(hash: string): Readonly<Record<'current' | 'kept', Experiment | undefined>> {
  // Without an equals sign it is an anchor on the page.
  const parameters = new URLSearchParams(hash.includes('=') ? hash.replace(/^#/, '') : '');
  const names = [...parameters.keys()];
  const read = (prefix: string, given: readonly string[]): Experiment | undefined => {
    if (given.length === 0) return undefined;
    const text = (field: string): string | undefined => parameters.get(prefix + field)?.trim() || undefined;
    const known = experimentFrom((field) => text(field) ?? FIELDS[field].default);
    const fields = given.map((name) => name.slice(prefix.length));
    const unknown = fields.filter((name) => !Object.hasOwn(FIELDS, name));
    return { ...known, ...Object.fromEntries(unknown.map((name) => [name, text(name) ?? ''])) };
  };
  const ofKept = names.filter((name) => name.startsWith(KEPT_PREFIX));
  const ofCurrent = names.filter((name) => !ofKept.includes(name));
  return { current: read('', ofCurrent), kept: read(KEPT_PREFIX, ofKept) };
}

export function equal(a: Experiment, b: Experiment): boolean {
  return FIELD_NAMES.every((field) => a[field] === b[field]);
}

/** One readable line: `Looming object, 200 ms, intensity 1.5, seed 7`. */
export function describe(experiment: Experiment, label = experiment.stimulus): string {
  return `${label}, ${experiment.duration_ms} ms, intensity ${experiment.intensity}, seed ${experiment.seed}`;
}

/** Writes the request of an experiment as a curl command. */
export function curlOf(experiment: Experiment, origin: string): string {
  const body = JSON.stringify(experimentFrom((name) => experiment[name]));
  return [
    `curl --compressed '${origin}/api/v1/run' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
