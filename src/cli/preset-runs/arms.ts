import type { Experiment } from '../../answers/v1/experiment.js';
import {
  allowedValuesOf,
  type Field,
  FIELD_NAMES,
  type FieldName,
  FIELDS,
  isAllowed,
  type RangeField,
} from '../../answers/v1/fields.js';
import { describeValue } from '../../errors.js';
import { usageError } from '../experiment-usage.js';
import type { Condition } from './summary.js';

const TRIALS: RangeField = {
  type: 'integer',
  minimum: 1,
  // The rasters of all trials are held in memory at once.
  maximum: 1000,
  default: 1,
  label: 'Trials',
  description: 'Seeds N to N + T - 1: mean and sd.',
  example: 20,
};

/** The name of a field without its unit. */
type OptionOf<Name extends FieldName> = Name extends `${infer Bare}_ms` ? Bare : Name;
type FieldOption = OptionOf<FieldName>;

/** For the description of a command: an option for each field of a request, and --trials. */
export const ARM_OPTIONS = {
  ...(Object.fromEntries(FIELD_NAMES.map((name) => [optionOf(name), described(FIELDS[name])])) as Readonly<
    Record<FieldOption, ReturnType<typeof described>>
  >),
  trials: { type: 'string', value: 'T', default: String(TRIALS.default), help: TRIALS.description },
} as const;

/** A condition before it was run. */
export type Arm = Omit<Condition, 'runs'>;

/** The options that say what to run, as they were given. */
export interface ArmOptions extends Readonly<Record<keyof typeof ARM_OPTIONS, string>> {
  readonly compare?: string | undefined;
  readonly silence?: readonly string[] | undefined;
}

/**
 * One arm, or two that differ in the stimulus or in the lesion alone.
 * @throws CodedError USAGE
 */
export function armsOf(options: ArmOptions): Arm[] {
  if (options.compare !== undefined && options.silence !== undefined) {
    throw usageError('--compare and --silence cannot be combined');
  }
  const values = FIELD_NAMES.map((name) => [
    name,
    valueOf(optionOf(name), FIELDS[name], options[optionOf(name)]),
  ]);
  const { seed, ...experiment } = Object.fromEntries(values) as unknown as Experiment;
  const trials = valueOf('trials', TRIALS, options.trials) as number;
  const { maximum } = FIELDS.seed;
  if (seed + trials - 1 > maximum) {
    throw usageError(`${trials} trials from seed ${seed} go beyond the largest seed, ${maximum}`);
  }
  const seeds = Array.from({ length: trials }, (_, trial) => seed + trial);
  const first: Arm = { experiment, seeds, silenced: [] };
  if (options.compare !== undefined) {
    const stimulus = valueOf('compare', FIELDS.stimulus, options.compare) as Experiment['stimulus'];
    return [first, { ...first, experiment: { ...experiment, stimulus } }];
  }
  return options.silence === undefined ? [first] : [first, { ...first, silenced: options.silence }];
}

function optionOf(name: FieldName): FieldOption {
  const { unit }: Field = FIELDS[name];
  return (unit === undefined ? name : name.slice(0, -`_${unit}`.length)) as FieldOption;
}

function described(field: Field) {
  const { type, unit, label } = field;
  const value = unit?.toUpperCase() ?? { string: 'NAME', integer: 'N', number: 'X' }[type];
  return {
    type: 'string',
    value,
    default: String(field.default),
    help: label + allowedInShort(field),
  } as const;
}

function allowedInShort(field: Field): string {
  // The summary of the command lists the stimuli.
  if (field.type === 'string') return '.';
  return 'allowed' in field ? `: ${field.allowed.join(', ')}.` : `, ${field.minimum} to ${field.maximum}.`;
}

/** How numbers are written: without exponents, signs and blanks. */
const WRITTEN = { string: /^/, integer: /^\d{1,16}$/, number: /^(\d+\.?\d*|\.\d+)$/ };

/** @throws CodedError USAGE */
function valueOf(option: string, field: Field, text: string): string | number {
  const value = field.type === 'string' ? text : Number(text);
  if (!WRITTEN[field.type].test(text) || !isAllowed(field, value)) {
    throw usageError(`--${option} should be ${allowedValuesOf(field)}, found ${describeValue(text)}`);
  }
  return value;
}
