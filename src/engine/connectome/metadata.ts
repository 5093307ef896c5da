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
import { type ConnectomeMetadata, MAX_SYNAPSE_MV, TABLE_SIGN_RULES, WIRING_ORIGINS } from './connectome.js';
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

/** Unknown members are allowed, because a later version may add some. */
function open<const M extends Readonly<Record<string, Schema>>>(members: M) {
  return object(undefined, members, { additionalProperties: true });
}

const POPULATION = {
  id: textOf(undefined, { pattern: POPULATION_ID }),
  label: text,
  description: text,
  selectors: listOf(undefined, { type: 'object' } as SchemaOf<Selector>),
  citations: listOf(undefined, { type: 'object' } as SchemaOf<Citation>),
  /** The rate of a population is the mean over its neurons, so it needs at least one. */
  neuronCount: { ...count, minimum: 1 },
};

export const METADATA = open({
  /** For display. */
  name: text,
  dataset: text,
  /** Null if the data set has no releases; a string such as 1.2.1 if the release is no integer. */
  release: { ...count, type: ['integer', 'string', 'null'] } as SchemaOf<number | string | null>,
  wiring: oneOf(undefined, WIRING_ORIGINS),
  signRule: oneOf(undefined, [...TABLE_SIGN_RULES, 'as given']),
  /** Pairs of neurons with fewer synapses were omitted. */
  minimumSynapses: count,
  neuronCount: count,
  connectionCount: count,
  synapseCount: count,
  /** The licence and the citations of a data set other than FlyWire. */
  'licence?': open({ spdx: text, url: text }),
  'citations?': listOf(undefined, open({ text, doi: text, subject: text })),
  /** The method that found the synapses, if the data set has several tables and this is not its own. */
  'synapses?': open({ id: text, title: text }),
  /** The source of the signs, or of the transmitters that the sign rule reads. */
  'signSource?': text,
  /** The gain of one synapse in mV, if it differs from the network model's. */
  'synapseMv?': number(undefined, { ...POSITIVE, maximum: MAX_SYNAPSE_MV }),
  /**
   * The number of neurons by predicted transmitter, or "unknown". Absent in a synthetic brain, which has only signs.
   */
  'transmitterCounts?': mapOf(undefined, count),
  /** The digest of the content, if the file was compiled from tables; lower-case hex. */
  'contentDigest?': textOf(undefined, { pattern: '^[0-9a-f]{64}$' }),
  /** Sentences that describe how this file was made. */
  provenance: listOf(undefined, text),
  sources: listOf(undefined, open({ file: text, sha256: text })),
  /**
   * A super class is that of most neurons of the type. Neurons without a type have an empty name for each super class.
   */
  types: listOf(undefined, open({ name: text, superClass: text })),
  classes: listOf(undefined, open({ superClass: text, class: text, subClass: text })),
  /** The nominal rate is the mean of input events per neuron and second at intensity 1. */
  stimuli: listOf(
    undefined,
    open({ ...POPULATION, nominalRateHz: number(undefined, { ...POSITIVE, maximum: 1000 }) }),
  ),
  channels: listOf(undefined, open({ ...POPULATION, kind: oneOf(undefined, CHANNEL_KINDS) })),
});

const check = checkOf(METADATA, 'the document');

/**
 * Checks the metadata of a file. A file with a correct digest may still come from another program, and readers rely on
 * every member.
 * @returns the first error as a phrase, or null
 */
export function metadataFault(value: unknown): string | null {
  const fault = check(value);
  if (fault !== undefined) return `in its metadata ${fault.message}`;
  const repeated = repeatedPopulation(value as ConnectomeMetadata);
  return repeated === undefined ? null : `its metadata has the ${repeated} twice`;
}
