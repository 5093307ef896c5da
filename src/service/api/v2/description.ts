/** The OpenAPI description of version 2, except its operations. */
import { readFileSync } from 'node:fs';
import { CONNECTION_GROUPS } from '../../../engine/connectome/connections.js';
import { WIRING_ORIGINS } from '../../../engine/connectome/connectome.js';
import { NODE_SET_SCHEMAS } from '../../../experiments/document/node-set-list.js';
import { PUBLIC_ERROR_CODES, type PublicErrorCode } from '../../http/error-examples.js';
import { RESULT_SCHEMAS } from '../../../experiments/document/result.js';
import { WARNING } from '../../../experiments/kinds/warning.js';
import { withComponents } from '../../../engine/schema/components.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import {
  count,
  listOf,
  mapOf,
  object,
  oneOf,
  ref,
  type Schema,
  text,
} from '../../../engine/schema/json-schema.js';
import { SESSION_SCHEMAS } from '../../../experiments/sessions/step.js';
import { JOB_STATUS, LINK } from './job-status.js';
import { MODEL_V2_SCHEMAS } from '../../../experiments/document/served-model.js';
import { documentSchemas } from '../../../experiments/document/document.js';
import type { VersionDescription } from '../openapi/openapi-document.js';

/** Errors that only version 1 has. */
const ONLY_OF_V1: readonly PublicErrorCode[] = ['STIMULUS_UNAVAILABLE'];

const ANSWER_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...RESULT_SCHEMAS,
  NeuronSearch: object('Neurons that have all given labels.', {
    model: text('Names the model, as `id` of GET /api/v1/model.'),
    count: count('Number of all that match.'),
    types: mapOf('Their number in each cell type; an empty name stands for neurons without one.', {
      type: 'integer',
      minimum: 1,
    }),
    sides: mapOf('Their number on each side.', count(undefined, 1)),
    neurons: listOf('Those that are listed, in the order of the model.', ref('Neuron')),
    suggestions: mapOf(
      'For each label or id that no neuron has: names that may have been meant, nearest first.',
      {
        type: 'array',
        items: text(),
      },
    ),
    synonyms: mapOf(
      'For each of these labels that the literature uses: the cell types that it means. They are suggested first.',
      object(undefined, {
        types: listOf('As the model calls them.', text()),
        sources: listOf('Publications.', text()),
      }),
    ),
  }),
  Neuron: object('A neuron with its labels; an empty text stands for a label that it lacks.', {
    root_id: text('Its root id, as text: it exceeds 2^53. On synthetic wiring a made-up name.'),
    type: text('Cell type.'),
    class: text('Class.'),
    sub_class: text('Sub-class.'),
    super_class: text('Super-class.'),
    side: text('Side.'),
    input_synapses: count('Synapses at which other neurons of the model reach it.'),
    output_synapses: count('Synapses at which it reaches others.'),
  }),
  ConnectionList: object('Connections between the neurons of two selectors.', {
    model: text('Names the model, as `id` of GET /api/v1/model.'),
    wiring: oneOf('Origin of the connections. Those of synthetic wiring are sampled.', WIRING_ORIGINS),
    group_by: oneOf('Meaning of a row.', CONNECTION_GROUPS),
    count: count('Number of all rows.'),
    pairs: count('Connected pairs of neurons in all.'),
    synapses: count('Their synapses in all.'),
    connections: listOf('Rows, in the order of the model: by source, then by target.', ref('Connection')),
  }),
  Connection: object('Connections from one cell type to another, or from one neuron to another.', {
    'source_root_id?': text('Presynaptic neuron, of group_by=neuron.'),
    source_type: text('Its cell type; empty for neurons without one, like `target_type`.'),
    'source_side?': text('Its side, of group_by=neuron; empty if it has none.'),
    'target_root_id?': text('Postsynaptic neuron, of group_by=neuron.'),
    target_type: text('Its cell type.'),
    'target_side?': text('Its side, of group_by=neuron.'),
    pairs: count('Ordered pairs of neurons, each one connection of the model; 1 of group_by=neuron.', 1),
    synapses: count('Synapses of these pairs.', 1),
    sign: oneOf(
      'Effect of the sources. mixed: the sources of these pairs have more than one. none: they have no fast effect.',
      ['excitatory', 'inhibitory', 'mixed', 'none'],
    ),
    excitatory_pairs: count('Pairs whose source excites.'),
    inhibitory_pairs: count('Pairs whose source inhibits.'),
  }),
  ...MODEL_V2_SCHEMAS,
  NodeSetList: NODE_SET_SCHEMAS.NodeSetList,
  NodeSet: { ...NODE_SET_SCHEMAS.NodeSet, examples: [EXAMPLES.nodeSet] },
  JobStatus: JOB_STATUS,
  Link: LINK,
  Warning: WARNING,
  ...SESSION_SCHEMAS,
};

/** The error schema: that of version 1 with two more members and more codes. */
const ERROR_SCHEMA = object('The body of every failure, from whatever layer.', {
  error: text('A sentence for people: the field, the value received and the allowed values.'),
  code: oneOf(
    'The same in one word, for programs.',
    PUBLIC_ERROR_CODES.filter((code) => !ONLY_OF_V1.includes(code)),
  ),
  'path?': text(
    'Position of the fault in the document, as a JSON Pointer (RFC 6901). Empty for the document as a whole and for the query, except selectors of the query.',
  ),
  'suggestions?': listOf('Names that may have been meant, nearest first.', text()),
});

export const DESCRIPTION_OF_V2: VersionDescription = {
  version: '2',
  fullVersion: '2.0.0',
  description: readFileSync(new URL('./description.md', import.meta.url), 'utf8').trimEnd(),
  tags: {
    'Open experiments': 'Experiments on any neurons.',
    Jobs: 'Experiments in the background.',
    Sessions: 'Brains that continue step by step.',
    Neurons: 'Neurons that a selector can name, and their connections.',
    Descriptions: 'How the interface works.',
  },
  schemas: { ...documentSchemas(), ...withComponents({ ...ANSWER_SCHEMAS, ErrorResponse: ERROR_SCHEMA }) },
};
