import { PUBLIC_ERROR_CODES, type PublicErrorCode } from '../../../http/error-examples.js';
import { WARNING_CODES } from '../result.js';
import { EXAMPLES } from './openapi-examples.js';
import { count, listOf, mapOf, number, object, orNull, ref, text, type Schema } from './schema.js';

/** Of stimuli, and of the time limit on runs. */
const ONLY_OF_V1: readonly PublicErrorCode[] = ['STIMULUS_UNAVAILABLE'];

const ID = text('32 hex digits of the SHA-256 of the model and the complete document.', {
  pattern: '^[0-9a-f]{32}$',
});
const PARAMETER: Schema = {
  description:
    'The value of a swept parameter; of an axis with `each`, the labels of the group, or null where there is none.',
  oneOf: [{ type: 'number' }, { type: 'object', additionalProperties: { type: 'string' } }, { type: 'null' }],
};
const PARAMETERS = mapOf('What this condition sets, in the order of the axes of the sweep.', PARAMETER);
const INDEX = count('Place of the condition in the sweep; the last axis varies fastest.');
const COMPLETE: Readonly<Record<string, Schema>> = {
  complete: { type: 'boolean', description: 'Whether no trial exceeded the limit on synaptic events.' },
  'stopped_at_ms?': number('When the first trial that exceeded it was stopped.', { minimum: 0 }),
  'reason?': text('Why a trial was stopped.', { enum: ['EVENT_BUDGET'] }),
};
const HEAD: Readonly<Record<string, Schema>> = {
  id: ID,
  model: text('Names the model down to the bytes of its wiring, as `id` of GET /api/v1/model.'),
  wiring: text(
    'measured: every connection is one of the release. synthetic: sampled, so single neurons mean nothing.',
    { enum: ['measured', 'synthetic'] },
  ),
  side_convention: text('What left and right mean.'),
  experiment: ref('Experiment', 'The experiment with every default. Posted again, it gives the same answer.'),
  resolved: mapOf(
    'Which neurons the selectors stand for: by the name of a node set, `inputs.NAME`, `reports.NAME`, `silence`, or ' +
      '`sweep.PLACE` of an axis with `each`.',
    ref('ResolvedSet'),
  ),
};
const TOTALS: Readonly<Record<string, Schema>> = {
  unchanged: listOf(
    'Parameters of conditions that were not run, because the silenced group never spikes in the baseline: their ' +
      'results are those of the baseline.',
    PARAMETERS,
  ),
  cost: ref('Cost', 'What it came to.'),
  warnings: listOf('What to bear in mind about the results.', ref('Warning')),
  cite: listOf('What to cite.', { type: 'string' }),
};
const PARTIAL: Readonly<Record<string, Schema>> = {
  'partial?': {
    type: 'boolean',
    const: true,
    description:
      'There in the results of a job that is not finished: they are those of the conditions that are done.',
  },
};
const COST: Readonly<Record<string, Schema>> = {
  brain_seconds: number('Conditions x trials x duration, in seconds of simulated time.', { minimum: 0 }),
  input_events: number('Events that stimulated neurons got.', { minimum: 0 }),
};
const LABELS: Readonly<Record<string, Schema>> = {
  'root_id?': text('Root id of the neuron, where groups are neurons.'),
  'type?': text('Cell type of the group.'),
  'side?': text('Side of the group.'),
  'super_class?': text('Super-class of the group.'),
};

function time(description: string): Schema {
  return text(description, { format: 'date-time' });
}

export const ANSWER_SCHEMAS: Readonly<Record<string, Schema>> = {
  ExperimentAnswer: object('The answer to an experiment.', {
    ...HEAD,
    conditions: listOf('The conditions, in the order of their indices.', ref('Condition')),
    ...TOTALS,
    ...PARTIAL,
  }),
  DryRunAnswer: object(
    'The answer to an experiment with dry_run=true: all that is known without simulating.',
    {
      ...HEAD,
      conditions: listOf(
        'Parameters of the conditions. Of an axis of responders only the baseline is known.',
        ref('ConditionParameters'),
      ),
      ...TOTALS,
      cost: object('The most that it can come to; input events are the expected number.', COST),
    },
  ),
  ExperimentHead: object('First line of an NDJSON answer.', HEAD),
  ExperimentProgress: object('A line of an NDJSON answer that says how far the experiment is.', {
    progress: object('How far the experiment is. Totals are upper bounds until the baseline is known.', {
      conditions_done: count('Conditions that are done.'),
      conditions: count('Conditions of the experiment.'),
      trials_done: count('Trials that are done.'),
      trials: count('Trials of the experiment.'),
    }),
  }),
  ExperimentTotals: object('Last line of an NDJSON answer.', { ...TOTALS, ...PARTIAL }),
  ResolvedSet: object('The neurons that a selector stands for.', {
    neurons: count('How many.'),
    sides: mapOf('How many on each side.', { type: 'integer', minimum: 1 }),
    types: mapOf('How many of each cell type.', { type: 'integer', minimum: 1 }),
    missing: listOf('Ids and types that the model lacks and that were skipped.', { type: 'string' }),
  }),
  ConditionParameters: object('A condition that was not run.', { index: INDEX, parameters: PARAMETERS }),
  Condition: object('A condition that was run.', {
    index: INDEX,
    parameters: PARAMETERS,
    ...COMPLETE,
    spikes: orNull('Spikes of all neurons in a trial.', ref('MeanSd')),
    responding_neurons: orNull('Neurons with at least one spike in a trial.', ref('MeanSd')),
    synaptic_events: count('Synaptic events delivered, of all trials.'),
    reports: mapOf('What each report read, by its name.', {
      oneOf: [{ type: 'array', items: ref('Group') }, ref('EventTable')],
    }),
  }),
  MeanSd: object('Over the trials of a condition.', {
    mean: number('Mean.', { minimum: 0 }),
    sd: number('Standard deviation of the trials as a whole population (ddof 0).', { minimum: 0 }),
  }),
  Group: object(
    'What a report of type rate or histogram read of a group of neurons. Labels are those of group_by.',
    {
      ...LABELS,
      neurons: count('Neurons of the group.', 1),
      responding: orNull('Of these, with at least one spike in a trial.', ref('MeanSd')),
      responding_any: orNull('Of these, with at least one spike in any trial.', {
        type: 'integer',
        minimum: 0,
      }),
      rate_hz: orNull('Mean rate of the neurons of the group. Null where a trial was stopped.', ref('Rate')),
      'bins_hz?': orNull('Of a histogram: mean rate in each bin.', {
        type: 'array',
        items: { type: 'number', minimum: 0 },
      }),
    },
  ),
  Rate: object('A rate in Hz over the trials of a condition.', {
    mean: number('Mean.', { minimum: 0 }),
    sd: number('Standard deviation of the trials as a whole population (ddof 0).', { minimum: 0 }),
    trials: listOf('Of each trial.', { type: 'number', minimum: 0 }),
  }),
  EventTable: object('A table of spikes or input events as columns, by trial, time, neuron.', {
    trial: listOf('Trial, from 0.', { type: 'integer', minimum: 0 }),
    t_ms: listOf('Time from the start of the trial in ms.', { type: 'number', minimum: 0 }),
    'input?': listOf('Of input events: the name of the input.', { type: 'string' }),
    root_id: listOf('Root id of the neuron, as text: it exceeds 2^53.', { type: 'string' }),
    'truncated?': {
      type: 'boolean',
      const: true,
      description: 'There where the condition has more events; the first ones are given.',
    },
  }),
  Cost: object('What an experiment came to.', {
    ...COST,
    synaptic_events: number('Synaptic events delivered.', { minimum: 0 }),
  }),
  NeuronSearch: object('Neurons with all labels that were given.', {
    model: text('Names the model, as `id` of GET /api/v1/model.'),
    count: count('How many match in all.'),
    types: mapOf('How many of each cell type; an empty name stands for neurons without one.', {
      type: 'integer',
      minimum: 1,
    }),
    sides: mapOf('How many on each side.', { type: 'integer', minimum: 1 }),
    neurons: listOf('Those that are listed, in the order of the model.', ref('Neuron')),
    suggestions: mapOf('For each label that no neuron has: names that may have been meant, nearest first.', {
      type: 'array',
      items: { type: 'string' },
    }),
  }),
  Neuron: object('A neuron with its labels; an empty text stands for a label that it lacks.', {
    root_id: text('Its root id, as text: it exceeds 2^53. On synthetic wiring a made-up name.'),
    type: text('Cell type.'),
    class: text('Class.'),
    sub_class: text('Sub-class.'),
    super_class: text('Super-class.'),
    side: text('Side.'),
  }),
  NodeSetList: object('The sets of neurons that every selector can name.', {
    model: text('Names the model, as `id` of GET /api/v1/model.'),
    node_sets: listOf('Published lists, then channels and stimuli of version 1.', ref('NodeSet')),
  }),
  NodeSet: object(
    'A set of neurons that every selector can name.',
    {
      name: text('As a selector names it.'),
      description: text('What these neurons are.'),
      sources: listOf('Where the choice of neurons comes from.', { type: 'string' }),
      neurons: count('How many the served model has; 0 where it has none, and naming it is refused.'),
      'published_count?': count('Neurons of the published list.'),
      'missing?': listOf('Root ids of the list that the model lacks.', { type: 'string' }),
      'substitute_types?': listOf('Cell types that stand for the list where single cells were sampled.', {
        type: 'string',
      }),
      'root_ids?': listOf('Root ids of the list in release 783.', { type: 'string' }),
    },
    EXAMPLES.nodeSet,
  ),
  JobStatus: object('The state of a job, as in OGC API - Processes, with members of our own.', {
    jobID: text('Name of the job.', { pattern: '^[\\w-]{24}$' }),
    type: text('What the job is one of.', { const: 'process' }),
    status: text('accepted: it waits for a worker. dismissed: it was ended.', {
      enum: ['accepted', 'running', 'successful', 'failed', 'dismissed'],
    }),
    progress: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'Per cent of the simulated time that is done; 100 once it has succeeded.',
    },
    created: time('When it was accepted.'),
    'started?': time('When it was begun.'),
    updated: time('When this state last changed.'),
    'finished?': time('When it succeeded, failed or was dismissed.'),
    id: ID,
    model: text('Names the model, as `id` of GET /api/v1/model.'),
    conditions: count('Conditions that are computed: all of the experiment, unless `from` was given.', 1),
    conditions_done: count('Of these, the ones that are done.'),
    brain_seconds: number('Conditions x trials x duration, at most.', { minimum: 0 }),
    'seconds_left?': count('Estimate of the time left, from the pace so far.', 1),
    'error?': ref('ErrorResponse', 'What the job failed with.'),
    links: listOf('Where its state and its results are.', ref('Link')),
  }),
  Link: object('Where something is.', {
    href: text('Path on this service.'),
    rel: text('What it is.'),
    type: text('Media type.'),
  }),
  Warning: object('Something to bear in mind about the results.', {
    code: text('For programs.', { enum: WARNING_CODES }),
    message: text('For people.'),
  }),
};

/** The one of version 1 with two more members, and more codes. */
export const ERROR_SCHEMA = object('The body of every failure, from whatever layer.', {
  error: text('What is wrong: the field, what it got and what is allowed. For people.'),
  code: text('The same in one word, for programs.', {
    enum: PUBLIC_ERROR_CODES.filter((code) => !ONLY_OF_V1.includes(code)),
  }),
  'path?': text(
    'Where in the document the fault is, as a JSON Pointer (RFC 6901); empty for the document as a whole and for the query.',
  ),
  'suggestions?': listOf('Names that may have been meant, nearest first.', { type: 'string' }),
});
