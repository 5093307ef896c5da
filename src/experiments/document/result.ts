/**
 * The answer of an experiment as a sequence of events: a head, conditions, totals. Every format writes these.
 *
 * JSON has these objects unchanged, except that tables stay in columns until a format writes them. Types, OpenAPI and clients
 * follow from the schemas here; the members of a report are in the schema of its kind.
 */
import { WIRING_ORIGINS } from '../../engine/connectome/connectome.js';
import {
  anyOf,
  count,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  orNull,
  ref,
  type Schema,
  type SchemaOf,
  type Static,
  text,
  truth,
} from '../../engine/schema/json-schema.js';
import type { ExperimentDocument } from './document.js';
import { RESOLVED_OF_EDITS } from '../kinds/edit-kinds.js';
import { CONTROL, MEAN_SD, OVER_TRIALS, RATE } from '../kinds/report-answers.js';
import type { ReportKind } from '../kinds/report-kind.js';
import { REPORT_KINDS } from '../kinds/report-kinds.js';
import type { ExperimentWarning } from '../kinds/warning.js';
import type { EventTable, GroupResults, ParameterValue } from '../kinds/result-rows.js';

/** The name of a page of events: CONDITION.TRIAL of its first trial. */
export const PAGE = /^(\d{1,5})\.(\d{1,3})$/;

/** The id of an experiment. */
export const ID = text('32 hex digits of the SHA-256 of the model and the complete document.', {
  pattern: '^[0-9a-f]{32}$',
});

const PARAMETER: SchemaOf<ParameterValue> = {
  description:
    'The value of a swept parameter; of an axis with `each`, the labels of the group, or null if there is none.',
  oneOf: [{ type: 'number' }, { type: 'object', additionalProperties: text() }, { type: 'null' }],
};
const PARAMETERS = mapOf(
  'Values that this condition sets, in the order of the axes of the sweep.',
  PARAMETER,
);
const CONDITION_PARAMETERS = {
  index: count('Number of the condition in the sweep; the last axis varies fastest.'),
  parameters: PARAMETERS,
};

const RESOLVED_SET = object('The neurons that a selector stands for.', {
  neurons: count('Their number.'),
  sides: mapOf('Their number on each side.', count(undefined, 1)),
  types: mapOf('Their number in each cell type.', count(undefined, 1)),
  missing: listOf('Ids and types that the model lacks and that were skipped.', text()),
});

/** One form for all members: with names for some, other types beside them fit no type of a map. */
const RESOLVED = mapOf(
  'The neurons of the selectors, by the name of a node set, `inputs.NAME`, `reports.NAME`, `silence`, `silence.N` of ' +
    'an item with a window, `connection_overrides.NAME.source` and `.target`, or `sweep.N` of an axis with `each`. ' +
    `Beside them ${RESOLVED_OF_EDITS.map(({ name }) => `\`${name}\``).join(' and ')} have facts about edits of the network.`,
  anyOf('Neurons, or facts about an edit.', [
    ref<ResolvedSet>('ResolvedSet'),
    ...RESOLVED_OF_EDITS.map(({ schema }) => schema),
  ]),
);

const HEAD = {
  id: ID,
  model: text(
    'Names the model down to the bytes of its wiring, as `id` of GET /api/v1/model; with rewired in the place of its ' +
      'wiring if the experiment changed it.',
  ),
  wiring: oneOf(
    'measured: every connection is one of the data set. synthetic: sampled, so single neurons mean nothing. custom: as ' +
      'whoever compiled the model gave it. rewired: as `wiring` of the experiment changed it.',
    [...WIRING_ORIGINS, 'rewired'],
  ),
  'licence?': text('Licence of the data set (SPDX), if it is not FlyWire: see GET /api/v2/model.'),
  side_convention: text('Meaning of left and right.'),
  experiment: ref<ExperimentDocument>(
    'CompleteExperiment',
    'The experiment with every default. Posted again, it gives the same answer.',
  ),
  resolved: ref<Readonly<Record<string, ResolvedSet>>>('Resolved', 'The neurons of the selectors.'),
};

const EXPECTED_COST = {
  brain_seconds: number('Conditions x trials x duration, in seconds of simulated time.', { minimum: 0 }),
  input_events: number('Events of the inputs, also those that meet a refractory period.', { minimum: 0 }),
};
const COST = object('The cost of an experiment.', {
  ...EXPECTED_COST,
  synaptic_events: number('Synaptic events delivered.', { minimum: 0 }),
});

const TOTALS = {
  unchanged: listOf(
    'Parameters of conditions that were not run, because the silenced group never spikes in the baseline, or the group ' +
      'has no connection to override: their results are those of the baseline.',
    PARAMETERS,
  ),
  cost: ref<ExperimentCost>('Cost', 'Its cost.'),
  warnings: listOf('Limits of the results.', ref<ExperimentWarning>('Warning')),
  cite: listOf('Publications to cite.', text()),
};
const SCREEN = object('The groups of all conditions, each compared with its matched controls.', {
  tests: count('Number of comparisons.'),
  found: listOf(
    'Those with q of at most 0.05, the lowest p first. On average over many experiments, at most one in twenty of them is there by chance.',
    object(undefined, {
      ...CONDITION_PARAMETERS,
      report: text('Name of the report.'),
      group: mapOf('Labels of the group.', text()),
      p: number('As in its `control`.', { minimum: 0, maximum: 1 }),
      q: number('p corrected for all tests of the answer, after Benjamini and Hochberg (1995).', {
        minimum: 0,
        maximum: 1,
      }),
    }),
  ),
});
const TOTALS_OF_ANSWER = {
  ...TOTALS,
  'screen?': ref<ScreenResult>(
    'Screen',
    'The groups that a screen leaves, if there are matched controls. Absent if the answer lacks conditions: it begins ' +
      'at a later one, is one of several pages, or is that of a job that is not finished.',
  ),
  'partial?': oneOf(
    'There in the results of a job that is not finished: they are those of the conditions that are done.',
    [true],
  ),
  'next_page?': text(
    'Present if more rows of events follow than an answer may have: `page` of the request for the next ' +
      'answer. It begins with this trial of this condition. A condition that is divided stands in both answers; its cost ' +
      'counts in the first.',
    { pattern: PAGE.source },
  ),
};

const answersOf = (shape: ReportKind['shape']) =>
  Object.values(REPORT_KINDS)
    .filter((kind) => kind.shape === shape)
    .map(({ answer }): Readonly<Record<string, Schema>> => answer);
const [ANSWERS_OF_GROUPS, ANSWERS_OF_EVENTS] = [answersOf('groups'), answersOf('events')];

/** References to the schemas of a group or a table, each once. */
function formsOf(answers: readonly Readonly<Record<string, Schema>>[]): Schema[] {
  return [...new Set(answers.map((answer) => Object.keys(answer)[0]!))].map((name) => ref(name));
}

const CONDITION = object('A condition that was run.', {
  ...CONDITION_PARAMETERS,
  complete: truth('True if no trial exceeded the limit on synaptic events.'),
  'stopped_at_ms?': number('When the first trial that exceeded it was stopped.', { minimum: 0 }),
  'reason?': oneOf('Why a trial was stopped.', ['EVENT_BUDGET']),
  spikes: orNull('Spikes of all neurons in a trial.', MEAN_SD),
  responding_neurons: orNull('Neurons with at least one spike in a trial.', MEAN_SD),
  responding_any: orNull('Neurons with at least one spike in any trial.', count()),
  synaptic_events: count('Synaptic events delivered, of all trials.'),
  reports: mapOf('The result of each report, by its name.', {
    oneOf: [
      ...formsOf(ANSWERS_OF_GROUPS).map((items) => ({ type: 'array', items })),
      ...formsOf(ANSWERS_OF_EVENTS),
    ],
  }),
});

/** Members of a dry run's cost with numbers of rows. */
type RowsMember = Extract<
  (typeof REPORT_KINDS)[keyof typeof REPORT_KINDS],
  { readonly shape: 'events' }
>['cost']['member'];

const EXPECTED_ROWS = Object.fromEntries(
  Object.values<ReportKind>(REPORT_KINDS).flatMap((kind) =>
    kind.shape === 'events' ? [[`${kind.cost.member}?`, kind.cost.schema]] : [],
  ),
) as Readonly<Record<`${RowsMember}?`, SchemaOf<number>>>;

const DRY_RUN = object(
  'The answer to an experiment with dry_run=true: all that is known without simulating.',
  {
    dry_run: oneOf('Nothing was simulated. Answers with results do not have this member.', [true]),
    ...HEAD,
    conditions: listOf(
      'Parameters of the conditions. Of an axis of responders only the baseline is known.',
      ref<ConditionParameters>('ConditionParameters'),
    ),
    ...TOTALS,
    cost: object('The most that it can come to; input events, and their rows, are the expected number.', {
      ...EXPECTED_COST,
      ...EXPECTED_ROWS,
    }),
  },
);

const PROGRESS = object('A line of an NDJSON answer that says how far the experiment is.', {
  progress: object('How far the experiment is. Totals are upper bounds until the baseline is known.', {
    conditions_done: count('Conditions that are done.'),
    conditions: count('Conditions of the experiment.'),
    trials_done: count('Trials that are done.'),
    trials: count('Trials of the experiment.'),
  }),
});

const HEAD_LINE = object('First line of an NDJSON answer.', HEAD);
const TOTALS_LINE = object('Last line of an NDJSON answer.', TOTALS_OF_ANSWER);
const CONDITION_NOT_RUN = object('A condition that was not run.', CONDITION_PARAMETERS);

/** Schemas of the answer, by their names in OpenAPI. */
export const RESULT_SCHEMAS: Readonly<Record<string, Schema>> = {
  ExperimentAnswer: object('The answer to an experiment.', {
    ...HEAD,
    conditions: listOf('The conditions, in the order of their indices.', ref('Condition')),
    ...TOTALS_OF_ANSWER,
  }),
  DryRunAnswer: DRY_RUN,
  ExperimentHead: HEAD_LINE,
  ExperimentProgress: PROGRESS,
  ExperimentTotals: TOTALS_LINE,
  Resolved: RESOLVED,
  ResolvedSet: RESOLVED_SET,
  ConditionParameters: CONDITION_NOT_RUN,
  Condition: CONDITION,
  MeanSd: OVER_TRIALS,
  ...(Object.assign({}, ...ANSWERS_OF_GROUPS) as Readonly<Record<string, Schema>>),
  Rate: RATE,
  Control: CONTROL,
  ...(Object.assign({}, ...ANSWERS_OF_EVENTS) as Readonly<Record<string, Schema>>),
  Cost: COST,
  Screen: SCREEN,
};

export type ResolvedSet = Static<typeof RESOLVED_SET>;
/** The first event, known before any trial runs. */
export type ExperimentHead = Static<typeof HEAD_LINE>;
export type ConditionParameters = Static<typeof CONDITION_NOT_RUN>;
export type ExperimentCost = Static<typeof COST>;
export type ScreenResult = Static<typeof SCREEN>;
export type ExperimentProgress = Static<typeof PROGRESS>['progress'];
/** The last event. */
export type ExperimentTotals = Static<typeof TOTALS_LINE>;
/** The answer of a dry run. */
export type DryRun = Static<typeof DRY_RUN>;

/** A condition that was run. */
export interface AnsweredCondition extends Omit<Static<typeof CONDITION>, 'reports'> {
  readonly reports: Readonly<Record<string, GroupResults | EventTable>>;
}

/** An event of a running experiment: first the head, then each condition, last the totals. */
export type ExperimentEvent =
  | { readonly kind: 'head'; readonly head: ExperimentHead }
  | { readonly kind: 'condition'; readonly condition: AnsweredCondition }
  | { readonly kind: 'totals'; readonly totals: ExperimentTotals };
