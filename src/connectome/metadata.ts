import { checkOf } from '../schema/check.js';
import {
  integer,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  type Schema,
  type SchemaOf,
  text as textOf,
} from '../schema/json-schema.js';
import { type ConnectomeMetadata, MAXIMUM_SYNAPSE_MV, TABLE_SIGN_RULES, WIRINGS } from './connectome.js';
import {
  CHANNEL_KINDS,
  type Citation,
  POPULATION_ID,
  repeatedPopulation,
  type Selector,
} from './populations.js';

const text = textOf();
const count = integer(undefined, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const POSITIVE = { exclusiveMinimum: 0 };

/** Unknown members are allowed: a later version may add some. */
function open<const M extends Readonly<Record<string, Schema>>>(members: M) {
  return object(undefined, members, { additionalProperties: true });
}

const POPULATION = {
  id: textOf(undefined, { pattern: POPULATION_ID }),
  label: text,
  description: text,
  selectors: listOf(undefined, { type: 'object' } as SchemaOf<Selector>),
  citations: listOf(undefined, { type: 'object' } as SchemaOf<Citation>),
  /** A rate is a mean over them. */
  neuronCount: { ...count, minimum: 1 },
};

export const METADATA = open({
  /** For display. */
  name: text,
  dataset: text,
  /** Null where the data set has none; a text such as 1.2.1 where it is no number. */
  release: { ...count, type: ['integer', 'string', 'null'] } as SchemaOf<number | string | null>,
  wiring: oneOf(undefined, WIRINGS),
  signRule: oneOf(undefined, [...TABLE_SIGN_RULES, 'as given']),
  /** Pairs of neurons with fewer synapses were omitted. */
  minimumSynapses: count,
  neuronCount: count,
  connectionCount: count,
  synapseCount: count,
  /** Licence of a data set other than FlyWire, and whom to cite for it. */
  'licence?': open({ spdx: text, url: text }),
  'citations?': listOf(undefined, open({ text, doi: text, subject: text })),
  /** How the synapses were found, where the data set has several tables and this is not its own. */
  'synapses?': open({ id: text, title: text }),
  /** Where the transmitters come from that the sign rule reads, or the signs themselves. */
  'signSource?': text,
  /** Gain of one synapse in mV, where it is not that of the network model. */
  'synapseMv?': number(undefined, { ...POSITIVE, maximum: MAXIMUM_SYNAPSE_MV }),
  /** Number of neurons by predicted transmitter, "unknown" for the rest; not in a synthetic brain, which has only signs. */
  'transmitterCounts?': mapOf(undefined, count),
  /** Sentences on how this file was made. */
  provenance: listOf(undefined, text),
  sources: listOf(undefined, open({ file: text, sha256: text })),
  /** An empty name is that of neurons without a type, which are grouped by super class; else it is that of most neurons. */
  types: listOf(undefined, open({ name: text, superClass: text })),
  classes: listOf(undefined, open({ superClass: text, class: text, subClass: text })),
  /** The nominal rate is the mean of input events per neuron and second at intensity 1. */
  stimuli: listOf(undefined, open({ ...POPULATION, nominalRateHz: number(undefined, POSITIVE) })),
  channels: listOf(undefined, open({ ...POPULATION, kind: oneOf(undefined, CHANNEL_KINDS) })),
});

const check = checkOf(METADATA, 'the document');

/**
 * @returns the first error in the metadata of a file, as a phrase, or null. A file with a correct digest may still come
 *   from another program, and its readers rely on every member.
 */
export function metadataFault(value: unknown): string | null {
  const fault = check(value);
  if (fault !== undefined) return `in its metadata ${fault.message}`;
  const repeated = repeatedPopulation(value as ConnectomeMetadata);
  return repeated === undefined ? null : `its metadata has the ${repeated} twice`;
}
