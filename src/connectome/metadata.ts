import { type ConnectomeMetadata, MAXIMUM_SYNAPSE_MV, TABLE_SIGN_RULES, WIRINGS } from './connectome.js';
import { checkOf } from '../schema/check.js';
import type { Schema } from '../schema/json-schema.js';
import { CHANNEL_KINDS, POPULATION_ID } from './populations.js';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

/** Unknown members are allowed: a later version may add some. */
function objectOf(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

const population = {
  /** Part of URLs, tables and documents, so it contains nothing that needs escaping. */
  id: { type: 'string', pattern: POPULATION_ID },
  label: text,
  description: text,
  selectors: listOf({ type: 'object' }),
  citations: listOf({ type: 'object' }),
  /** A rate is a mean over them. */
  neuronCount: { ...count, minimum: 1 },
};

const metadataSchema = objectOf(
  {
    name: text,
    dataset: text,
    release: { ...count, type: ['integer', 'string', 'null'] },
    wiring: { enum: [...WIRINGS] },
    signRule: { enum: [...TABLE_SIGN_RULES, 'as given'] },
    minimumSynapses: count,
    neuronCount: count,
    connectionCount: count,
    synapseCount: count,
    licence: objectOf({ spdx: text, url: text }),
    citations: listOf(objectOf({ text, doi: text, subject: text })),
    synapses: objectOf({ id: text, title: text }),
    signSource: text,
    synapseMv: { type: 'number', exclusiveMinimum: 0, maximum: MAXIMUM_SYNAPSE_MV },
    /** A synthetic brain has none. */
    transmitterCounts: { type: 'object', additionalProperties: count },
    provenance: listOf(text),
    sources: listOf(objectOf({ file: text, sha256: text })),
    types: listOf(objectOf({ name: text, superClass: text })),
    classes: listOf(objectOf({ superClass: text, class: text, subClass: text })),
    stimuli: listOf(objectOf({ ...population, nominalRateHz: { type: 'number', exclusiveMinimum: 0 } })),
    channels: listOf(objectOf({ ...population, kind: { enum: [...CHANNEL_KINDS] } })),
  },
  ['transmitterCounts', 'licence', 'citations', 'synapses', 'signSource', 'synapseMv'],
);

const check = checkOf(metadataSchema, 'the document');

/**
 * @returns the first error in the metadata of a file, as a phrase, or null. A file with a correct digest may still come
 *   from another program, and its readers rely on every member.
 */
export function metadataFault(value: unknown): string | null {
  const fault = check(value);
  if (fault !== undefined) return `in its metadata ${fault.message}`;
  const { stimuli, channels } = value as ConnectomeMetadata;
  return repeatedId('stimulus', stimuli) ?? repeatedId('channel', channels);
}

function repeatedId(kind: string, populations: readonly { readonly id: string }[]): string | null {
  const ids = populations.map(({ id }) => id);
  const repeated = ids.find((id, i) => ids.indexOf(id) !== i);
  return repeated === undefined ? null : `its metadata has the ${kind} ${repeated} twice`;
}
