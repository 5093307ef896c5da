/** Describes the network that experiments run on. */
import { type Connectome, WIRING_ORIGINS } from '../../engine/connectome/connectome.js';
import { modelId, networkName } from '../../engine/connectome/model-id.js';
import { dataCitations, licenceOf, SIGN_RULE_TEXTS } from '../../engine/connectome/model-origin.js';
import {
  anyOf,
  count,
  listOf,
  number,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
} from '../../engine/schema/json-schema.js';
import { SYNAPSE_MV } from '../../engine/simulation/network.js';

/** The schema of GET /api/v2/model by its name in OpenAPI. */
export const MODEL_V2_SCHEMAS: Readonly<Record<string, Schema>> = {
  ServedModel: object('The network that experiments run on, with its origin and the publications to cite.', {
    id: text('Id of the model, as in every answer.'),
    network: text('Name that `network` of a document may have: data set, release and changes to it.'),
    name: text('Name for display.'),
    dataset: text('Data set of its neurons.'),
    release: orNull(
      'Release of the data set; null if it has none.',
      anyOf(undefined, [count(undefined, 1), text()]),
    ),
    wiring: oneOf('As `wiring` of an answer.', WIRING_ORIGINS),
    'synapses?': text('Method that found the synapses, if the data set has several tables of them.'),
    neurons: count('Neurons.', 1),
    connections: count('Ordered pairs of neurons that are connected.'),
    minimum_synapses: count('Pairs with fewer synapses were left out.', 1),
    signs: object(
      'The rule of the signs, and the numbers of neurons that excite, inhibit, or have no fast effect.',
      {
        rule: text('Name of the rule.'),
        description: text('The rule as a sentence.'),
        'source?': text('Source of the transmitters or signs.'),
        excitatory: count('Neurons that excite.'),
        inhibitory: count('Neurons that inhibit.'),
        without_fast_effect: count('Neurons with the sign 0.'),
      },
    ),
    synapse_mv: number('Gain of one synapse in mV; 0.275 was fitted to FlyWire.', { minimum: 0 }),
    licence: text('Licence of the data (SPDX); NOASSERTION if it is not known.'),
    'licence_url?': text('Text of the licence.'),
    cite: listOf('Publications of the data set.', text()),
    provenance: listOf('Sentences on how the model was made.', text()),
    sources: listOf('Files from which it was compiled.', {
      type: 'object',
      required: ['file', 'sha256'],
      properties: { file: text('Name.'), sha256: text('SHA-256 of its bytes.') },
    }),
    connectome_digest: text('SHA-256 of the content of the connectome file.'),
  }),
};

/** Builds the body of GET /api/v2/model. */
export function servedModel(connectome: Connectome) {
  const { metadata, signs, digest } = connectome;
  const withSign = (sign: number) => signs.reduce((sum, each) => sum + (each === sign ? 1 : 0), 0);
  return {
    id: modelId(connectome),
    network: networkName(metadata),
    name: metadata.name,
    dataset: metadata.dataset,
    release: metadata.release,
    wiring: metadata.wiring,
    ...(metadata.synapses && { synapses: metadata.synapses.title }),
    neurons: metadata.neuronCount,
    connections: metadata.connectionCount,
    minimum_synapses: metadata.minimumSynapses,
    signs: {
      rule: metadata.signRule,
      description: SIGN_RULE_TEXTS[metadata.signRule],
      ...(metadata.signSource !== undefined && { source: metadata.signSource }),
      excitatory: withSign(1),
      inhibitory: withSign(-1),
      without_fast_effect: withSign(0),
    },
    synapse_mv: metadata.synapseMv ?? SYNAPSE_MV,
    licence: licenceOf(metadata),
    ...(metadata.licence && { licence_url: metadata.licence.url }),
    cite: dataCitations(metadata).map(({ text: authors, doi }) => `${authors}, doi:${doi}`),
    provenance: metadata.provenance,
    sources: metadata.sources,
    connectome_digest: digest,
  };
}
