import { NODE_SET_SCHEMAS } from '../../../experiments/document/node-set-list.js';
import { PUBLIC_ERROR_CODES, type PublicErrorCode } from '../../http/error-examples.js';
import { RESULT_SCHEMAS, WARNING } from '../../../experiments/run/result.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import { count, listOf, mapOf, object, oneOf, ref, type Schema, text } from '../../../schema/json-schema.js';
import { SESSION_SCHEMAS } from '../../../sessions/step.js';
import { JOB_STATUS, LINK } from './job-status.js';
import { MODEL_V2_SCHEMAS } from './model.controller.js';

/** Errors of version 1 alone. */
const ONLY_OF_V1: readonly PublicErrorCode[] = ['STIMULUS_UNAVAILABLE'];

export const ANSWER_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...RESULT_SCHEMAS,
  NeuronSearch: object('Neurons with all that was given.', {
    model: text('Names the model, as `id` of GET /api/v1/model.'),
    count: count('How many match in all.'),
    types: mapOf('How many of each cell type; an empty name stands for neurons without one.', {
      type: 'integer',
      minimum: 1,
    }),
    sides: mapOf('How many on each side.', count(undefined, 1)),
    neurons: listOf('Those that are listed, in the order of the model.', ref('Neuron')),
    suggestions: mapOf(
      'For each label or id that no neuron has: names that may have been meant, nearest first.',
      {
        type: 'array',
        items: text(),
      },
    ),
  }),
  Neuron: object('A neuron with its labels; an empty text stands for a label that it lacks.', {
    root_id: text('Its root id, as text: it exceeds 2^53. On synthetic wiring a made-up name.'),
    type: text('Cell type.'),
    class: text('Class.'),
    sub_class: text('Sub-class.'),
    super_class: text('Super-class.'),
    side: text('Side.'),
  }),
  ...MODEL_V2_SCHEMAS,
  NodeSetList: NODE_SET_SCHEMAS.NodeSetList,
  NodeSet: { ...NODE_SET_SCHEMAS.NodeSet, examples: [EXAMPLES.nodeSet] },
  JobStatus: JOB_STATUS,
  Link: LINK,
  Warning: WARNING,
  ...SESSION_SCHEMAS,
};

/** The one of version 1 with two more members, and more codes. */
export const ERROR_SCHEMA = object('The body of every failure, from whatever layer.', {
  error: text('What is wrong: the field, what it got and what is allowed. For people.'),
  code: oneOf(
    'The same in one word, for programs.',
    PUBLIC_ERROR_CODES.filter((code) => !ONLY_OF_V1.includes(code)),
  ),
  'path?': text(
    'Where in the document the fault is, as a JSON Pointer (RFC 6901); empty for the document as a whole and for the query.',
  ),
  'suggestions?': listOf('Names that may have been meant, nearest first.', text()),
});
