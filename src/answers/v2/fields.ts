/**
 * Every field of the document of an open experiment, described once: the checks (parse-document.ts) and the JSON
 * Schema (document-schema.ts) are made from this table. The order of members here is that of the complete document.
 */
import { MAXIMUM_RATE_HZ, MAXIMUM_TRIAL_STEPS, STEPS_PER_MS } from '../../experiment/protocol.js';
import { GROUP_LABELS } from './document.js';

interface Description {
  /** For people: what the value means, with its unit. */
  readonly description: string;
  readonly example?: unknown;
  /** Stands in the complete document where a request leaves the member out. Without it, see `optional`. */
  readonly default?: unknown;
  /** May be left out although it has no fixed default. */
  readonly optional?: true;
}

export interface TextField extends Description {
  readonly kind: 'text';
  /** In code points. */
  readonly maximumLength: number;
}

export interface NumberField extends Description {
  readonly kind: 'number';
  readonly minimum: number;
  readonly maximum: number;
  /** 1: integers; 0.1: multiples of the time step; without it any number. */
  readonly multipleOf?: 1 | 0.1;
  /** null is allowed and stands for the end of the trial. */
  readonly untilEnd?: true;
}

export interface ChoiceField extends Description {
  readonly kind: 'choice';
  readonly allowed: readonly string[];
}

/** No item may occur twice. */
export interface ListField extends Description {
  readonly kind: 'list';
  readonly of: Field;
  readonly minimumLength: number;
  readonly maximumLength: number;
}

/** An object whose members have names that the request chooses. */
export interface MapField extends Description {
  readonly kind: 'map';
  readonly names: NameRule;
  readonly maximumLength: number;
  readonly of: Field;
}

export interface ObjectField extends Description {
  readonly kind: 'object';
  readonly members: Readonly<Record<string, Field>>;
}

/** An object whose other members depend on one of them. */
export interface TaggedField extends Description {
  readonly kind: 'tagged';
  readonly tag: string;
  readonly defaultTag: string;
  readonly variants: Readonly<Record<string, ObjectField>>;
}

/** Objects of two forms, told apart by a member that one of them has. */
export interface EitherField extends Description {
  readonly kind: 'either';
  readonly member: string;
  readonly having: Field;
  readonly otherwise: Field;
}

export interface SelectorField extends Description {
  readonly kind: 'selector';
}

/** Times of events, for all neurons or for each root id. */
export interface TimesField extends Description {
  readonly kind: 'times';
  readonly time: NumberField;
  /** Of all lists together. */
  readonly maximumLength: number;
}

export type Field =
  | TextField
  | NumberField
  | ChoiceField
  | ListField
  | MapField
  | ObjectField
  | TaggedField
  | EitherField
  | SelectorField
  | TimesField;

export interface NameRule {
  /** Of a JSON Schema, so without flags. `__proto__` is no ordinary member in JavaScript. */
  readonly pattern: string;
  /** Completes "a name must be ...". */
  readonly allowed: string;
}

const SET_NAME: NameRule = {
  pattern: '^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$',
  allowed: '1 to 64 letters, digits, "_", "." or "-", and not __proto__',
};
/** Without a dot, which separates the parts of `inputs.NAME.rate_hz`. */
const INPUT_NAME: NameRule = {
  pattern: '^(?!__proto__$)[A-Za-z0-9_-]{1,64}$',
  allowed: '1 to 64 letters, digits, "_" or "-", and not __proto__',
};

export const MAXIMUM_DURATION_MS = MAXIMUM_TRIAL_STEPS / STEPS_PER_MS;
export const TIME_STEP_MS = 1 / STEPS_PER_MS;
export const DEFAULT_BIN_MS = 10;

/** Of a root id in decimal: 64 bits without a sign. */
export const ROOT_ID = '^[1-9][0-9]{0,19}$';
/** Of a label, a name or a pattern. The longest label of release 783 has 31 characters. */
export const MAXIMUM_LABEL_LENGTH = 100;
/** Lists and objects inside one another in a selector. */
export const MAXIMUM_SELECTOR_DEPTH = 16;
/**
 * Objects, lists, names of sets and patterns with `*` in all selectors of a document. Each of them may stand for the
 * whole brain, so their number bounds what it costs to resolve a document.
 */
export const MAXIMUM_SELECTORS = 500;

const nodeSet: SelectorField = {
  kind: 'selector',
  description:
    'Which neurons: a name or cell type, an object of labels and ids, or a list of these, which are united.',
  example: '@sugar',
};

const MOST_TRIAL_MS = MAXIMUM_DURATION_MS - TIME_STEP_MS;

const startMs = (description: string): NumberField => ({
  kind: 'number',
  multipleOf: 0.1,
  minimum: 0,
  maximum: MOST_TRIAL_MS,
  default: 0,
  description,
  example: 200,
});

const someMs = (description: string): NumberField => ({
  kind: 'number',
  multipleOf: 0.1,
  minimum: TIME_STEP_MS,
  maximum: MAXIMUM_DURATION_MS,
  optional: true,
  description,
  example: 300,
});
const untilEndMs = (description: string): NumberField => ({ ...someMs(description), untilEnd: true });

const trialDurationMs: NumberField = {
  kind: 'number',
  multipleOf: 1,
  minimum: 1,
  maximum: MAXIMUM_DURATION_MS,
  default: 1000,
  description: 'Simulated time of one trial in ms.',
  example: 1000,
};

const seed: NumberField = {
  kind: 'number',
  multipleOf: 1,
  minimum: 0,
  maximum: 2 ** 32 - 1,
  default: 42,
  description: 'Seed of the Poisson trains; the same seed gives the same trains.',
  example: 42,
};

const rateHz: NumberField = {
  kind: 'number',
  minimum: 0,
  maximum: MAXIMUM_RATE_HZ,
  default: 150,
  description: 'Mean input events of each neuron per second.',
  example: 100,
};

const delayMs = startMs('Start of the window in which events arrive, in ms from the start of the trial.');
const WINDOW_LENGTH = 'Length of that window in ms';
const windowMs = untilEndMs(`${WINDOW_LENGTH}; null or left out: to the end of the trial.`);

function inputOf(module: string, description: string, members: ObjectField['members']): ObjectField {
  return {
    kind: 'object',
    description,
    members: {
      node_set: nodeSet,
      module: { kind: 'choice', allowed: [module], default: module, description: 'Where events come from.' },
      ...members,
      delay_ms: delayMs,
      duration_ms: windowMs,
    },
  };
}

const input: TaggedField = {
  kind: 'tagged',
  tag: 'module',
  defaultTag: 'poisson',
  description: 'Neurons that get input events.',
  variants: {
    poisson: inputOf('poisson', 'Each neuron gets a Poisson train of its own.', { rate_hz: rateHz }),
    spikes: inputOf('spikes', 'Each neuron gets events at given times, for replay.', {
      times_ms: {
        kind: 'times',
        maximumLength: 10_000,
        time: {
          kind: 'number',
          multipleOf: 0.1,
          minimum: 0,
          maximum: MOST_TRIAL_MS,
          description: 'Time of an event in ms from the start of the trial.',
        },
        description:
          'Times in ms from the start of the trial: a list for all neurons, or an object with a list for each root id.',
        example: [10, 20.5, 31],
      },
    }),
  },
};

const groupBy = (maximumLength: number, byDefault: readonly string[], description: string): ListField => ({
  kind: 'list',
  of: { kind: 'choice', allowed: GROUP_LABELS, description: 'A label; neurons with equal ones are a group.' },
  minimumLength: 0,
  maximumLength,
  default: byDefault,
  description,
  ...(maximumLength > 0 && { example: ['type', 'side'] }),
});

function reportOf(
  type: string,
  description: string,
  group: ListField,
  members: ObjectField['members'] = {},
): ObjectField {
  return {
    kind: 'object',
    description,
    members: {
      node_set: nodeSet,
      type: { kind: 'choice', allowed: [type], default: type, description: 'What is read.' },
      group_by: group,
      start_ms: startMs('Start of what is read, in ms from the start of the trial.'),
      end_ms: untilEndMs(
        'End of what is read, in ms from the start of the trial; null or left out: its end.',
      ),
      ...members,
    },
  };
}

const groups = groupBy(GROUP_LABELS.length, [], 'What makes a group; empty: all neurons are one.');
const noGroups = groupBy(0, [], 'Empty: a table has a row for each event.');

const report: TaggedField = {
  kind: 'tagged',
  tag: 'type',
  defaultTag: 'rate',
  description: 'What is read of some neurons.',
  variants: {
    rate: reportOf('rate', 'Mean rate of each group.', groups),
    histogram: reportOf('histogram', 'Mean rate of each group in each bin.', groups, {
      bin_ms: {
        kind: 'number',
        multipleOf: 0.1,
        minimum: 1,
        maximum: MAXIMUM_DURATION_MS,
        default: DEFAULT_BIN_MS,
        description: 'Length of a bin in ms; the last one may be shorter.',
        example: 25,
      },
    }),
    spikes: reportOf('spikes', 'Table of the spikes.', noGroups),
    inputs: reportOf('inputs', 'Table of the input events.', noGroups),
  },
};

const sweptNumber: NumberField = {
  kind: 'number',
  minimum: -Number.MAX_VALUE,
  maximum: Number.MAX_VALUE,
  optional: true,
  description: 'A value of the swept parameter.',
};

const setAxis: ObjectField = {
  kind: 'object',
  description: 'A parameter that takes several values in turn: either values, or from, to and step.',
  members: {
    set: {
      kind: 'text',
      maximumLength: MAXIMUM_LABEL_LENGTH,
      description: 'duration_ms, seed, inputs.NAME.rate_hz, inputs.NAME.delay_ms or inputs.NAME.duration_ms.',
      example: 'inputs.sugar.rate_hz',
    },
    values: {
      kind: 'list',
      of: sweptNumber,
      minimumLength: 1,
      maximumLength: Infinity,
      optional: true,
      description: 'Values of the parameter, each within its bounds.',
      example: [10, 50, 100],
    },
    from: { ...sweptNumber, description: 'First value.', example: 10 },
    to: { ...sweptNumber, description: 'Last value, included if a step hits it.', example: 200 },
    step: { ...sweptNumber, description: 'Distance of two values, above 0.', example: 10 },
  },
};

const eachAxis: ObjectField = {
  kind: 'object',
  description: 'Groups of neurons that are silenced or stimulated in turn, after a condition without any.',
  members: {
    each: {
      kind: 'either',
      member: 'responders_of',
      having: {
        kind: 'object',
        description: 'The groups that responded in the baseline, the most active first.',
        members: {
          responders_of: {
            kind: 'choice',
            allowed: ['baseline'],
            description: 'The condition without any group.',
          },
          top: {
            kind: 'number',
            multipleOf: 1,
            minimum: 1,
            maximum: 20_000,
            default: 200,
            description: 'Groups at most.',
            example: 200,
          },
        },
      },
      otherwise: nodeSet,
      description: 'The neurons that are grouped: a selector, or those that responded in the baseline.',
      example: 'CB*',
    },
    group_by: groupBy(
      GROUP_LABELS.length,
      ['neuron'],
      'What makes a group; empty: all neurons are one. By default each neuron is a group.',
    ),
    as: {
      kind: 'text',
      maximumLength: MAXIMUM_LABEL_LENGTH,
      description: 'silence, or inputs.NAME: each group takes the place of the neurons of that input.',
      example: 'silence',
    },
  },
};

/** The whole document. The default of `reports` is the channels of the connectome, so it is not in this table. */
export const DOCUMENT = {
  kind: 'object',
  description: 'An experiment: neurons that are stimulated or silenced, repeated trials, and what is read.',
  members: {
    name: {
      kind: 'text',
      maximumLength: 120,
      optional: true,
      description: 'A name of the experiment, for tables.',
      example: 'Sugar dose response',
    },
    node_sets: {
      kind: 'map',
      names: SET_NAME,
      maximumLength: 64,
      of: nodeSet,
      default: {},
      description:
        'Groups of neurons by name, for use as selectors. A set may name others, but not in a circle; no name is that of a cell type.',
      example: { mn9: ['@MN9'] },
    },
    inputs: {
      kind: 'map',
      names: INPUT_NAME,
      maximumLength: 16,
      of: input,
      default: {},
      description: 'What is stimulated. The random numbers of an input depend on its name.',
      example: { sugar: { node_set: '@sugar', rate_hz: 100 } },
    },
    silence: {
      kind: 'list',
      of: nodeSet,
      minimumLength: 0,
      maximumLength: 64,
      default: [],
      description: 'Neurons whose outputs are cut for the whole trial.',
      example: ['PVLP122b'],
    },
    duration_ms: trialDurationMs,
    trials: {
      kind: 'number',
      multipleOf: 1,
      minimum: 1,
      maximum: 100,
      default: 10,
      description: 'Repetitions of each condition, each from rest and with trains of its own.',
      example: 30,
    },
    seed,
    reports: {
      kind: 'map',
      names: SET_NAME,
      maximumLength: 32,
      of: report,
      optional: true,
      description: 'What is read. By default the rate of each channel of the model, by side.',
      example: { mn9: { node_set: '@MN9', group_by: ['side'] } },
    },
    sweep: {
      kind: 'list',
      of: {
        kind: 'either',
        member: 'each',
        having: eachAxis,
        otherwise: setAxis,
        description: 'An axis of the sweep.',
      },
      minimumLength: 0,
      maximumLength: 3,
      optional: true,
      description: 'Axes whose product is the conditions; the last one varies fastest.',
      example: [{ set: 'inputs.sugar.rate_hz', from: 10, to: 200, step: 10 }],
    },
    on_missing: {
      kind: 'choice',
      allowed: ['error', 'skip'],
      default: 'error',
      description: 'Ids and types that the model lacks: refuse the experiment, or leave them out and say so.',
      example: 'skip',
    },
  },
} as const satisfies ObjectField;

/** Members of an input that a sweep may set. */
export const SWEPT_OF_INPUT: Readonly<Record<string, NumberField>> = {
  rate_hz: rateHz,
  delay_ms: delayMs,
  // A condition has a window of its own, so null is not among the values.
  duration_ms: someMs(`${WINDOW_LENGTH}.`),
};
/** Members of the document that a sweep may set. */
export const SWEPT_OF_DOCUMENT: Readonly<Record<string, NumberField>> = {
  duration_ms: trialDurationMs,
  seed,
};

/** The labels of a selector that is an object, in the order of the complete document. `except` follows them. */
export const SELECTOR_LABELS: Readonly<Record<string, string>> = {
  type: 'Cell types; * stands for any text.',
  class: 'Cell classes; * stands for any text.',
  sub_class: 'Sub classes; * stands for any text.',
  super_class: 'Super classes; * stands for any text.',
  side: 'left, right or center, in the convention of the 783 classification.',
  root_id: 'Root ids as strings: they exceed 2^53, beyond which numbers in JSON are not exact.',
};
