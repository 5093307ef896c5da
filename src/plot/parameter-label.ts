/** What a swept parameter is called, with its unit. */
const INPUT_MEMBERS: Readonly<Record<string, (input: string) => string>> = {
  rate_hz: (input) => `Rate of ${input} (Hz)`,
  delay_ms: (input) => `Start of ${input} (ms)`,
  duration_ms: (input) => `Window of ${input} (ms)`,
};
const DOCUMENT_MEMBERS: Readonly<Record<string, string>> = {
  duration_ms: 'Duration of a trial (ms)',
  seed: 'Seed',
};

const WITH_UNIT = /^(.*) \((\w+)\)$/;

/** @param parameter as a sweep names it: `inputs.sugar.rate_hz` */
export function parameterLabel(parameter: string): string {
  const [, input, member] = /^inputs\.([^.]+)\.(\w+)$/.exec(parameter) ?? [];
  return (input && INPUT_MEMBERS[member!]?.(input)) || (DOCUMENT_MEMBERS[parameter] ?? parameter);
}

/** A parameter with one of its values: `rate of sugar 100 Hz`. */
export function settingText(parameter: string, value: number): string {
  const label = parameterLabel(parameter);
  const [, name = label, unit = ''] = WITH_UNIT.exec(label) ?? [];
  return `${name === parameter ? name : name.charAt(0).toLowerCase() + name.slice(1)} ${value} ${unit}`.trimEnd();
}
