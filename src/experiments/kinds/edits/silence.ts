import { unionOf } from '../../../connectome/neuron-set.js';
import { listOf, type Static } from '../../../schema/json-schema.js';
import { NODE_SET } from '../../document/fields.js';
import type { EditKind } from '../edit-kinds.js';
import { sharedArray } from '../shared-array.js';

const SCHEMA = listOf('Neurons whose outputs are cut for the whole trial.', NODE_SET, {
  maxItems: 64,
  uniqueItems: true,
  default: [],
  examples: [['PVLP122b']],
});

/** Outputs of neurons are cut for the whole trial. */
export const silence = {
  schema: SCHEMA,
  takesGroups: true,
  sparesSilent: true,
  selectorsOf: (selectors) => selectors.map((selector, at) => ({ selector, path: `/silence/${at}` })),
  edited: ({ neuronCount }, sets) => ({ silenced: sharedArray(unionOf(sets, neuronCount)) }),
} satisfies EditKind<Static<typeof SCHEMA>>;
