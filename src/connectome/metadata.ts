import { shown } from '../errors.js';
import type { ConnectomeMetadata } from './connectome.js';
import { CHANNEL_IDS, CHANNEL_KINDS, STIMULUS_IDS } from './populations.js';

interface Kind {
  readonly expected: string;
  test(value: unknown): boolean;
}

const text: Kind = { expected: 'a text', test: (value) => typeof value === 'string' };
const count: Kind = {
  expected: 'a whole number from 0 on',
  test: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};
const size: Kind = {
  expected: 'a whole number from 1 on',
  test: (value) => count.test(value) && value !== 0,
};
const rate: Kind = {
  expected: 'a number above 0',
  test: (value) => Number.isFinite(value) && (value as number) > 0,
};
const object: Kind = {
  expected: 'an object',
  test: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const list: Kind = { expected: 'a list', test: Array.isArray };

function listOf(kind: Kind, plural: string): Kind {
  return {
    expected: `a list of ${plural}`,
    test: (value) => Array.isArray(value) && value.every((each) => kind.test(each)),
  };
}

/** A synthetic brain has none. */
const countsByName: Kind = {
  expected: 'whole numbers by name, or left out',
  test: (value) =>
    value === undefined || (object.test(value) && Object.values(value as object).every(count.test)),
};

function oneOf(...values: readonly string[]): Kind {
  return { expected: values.join(' or '), test: (value) => values.includes(value as string) };
}

type Members = Readonly<Record<string, Kind>>;

const POPULATION: Members = {
  id: text,
  label: text,
  description: text,
  selectors: listOf(object, 'objects'),
  citations: listOf(object, 'objects'),
  /** A rate is a mean over them. */
  neuronCount: size,
};

const METADATA: Members = {
  name: text,
  dataset: text,
  release: count,
  wiring: oneOf('measured', 'synthetic'),
  signRule: oneOf('predicted', 'corrected'),
  minimumSynapses: count,
  neuronCount: count,
  connectionCount: count,
  synapseCount: count,
  transmitterCounts: countsByName,
  provenance: listOf(text, 'texts'),
  sources: list,
  types: list,
  stimuli: list,
  channels: list,
};

const LISTS: Readonly<Record<string, Members>> = {
  sources: { file: text, sha256: text },
  types: { name: text, superClass: text },
  stimuli: { ...POPULATION, nominalRateHz: rate },
  channels: { ...POPULATION, kind: oneOf(...CHANNEL_KINDS) },
};

/**
 * What is wrong with the metadata of a file, as a phrase; null if nothing is. A file whose digest is right may
 * still come from another program, and whoever reads it later must not stumble over a member that is missing.
 */
export function metadataFault(value: unknown): string | null {
  const fault = memberFault('', value, METADATA);
  if (fault !== null) {
    return fault;
  }
  const metadata = value as ConnectomeMetadata & Record<string, readonly unknown[]>;
  for (const [name, members] of Object.entries(LISTS)) {
    for (const [i, entry] of metadata[name]!.entries()) {
      const entryFault = memberFault(`${name}[${i}]`, entry, members);
      if (entryFault !== null) {
        return entryFault;
      }
    }
  }
  return (
    idsFault('stimuli', metadata.stimuli, STIMULUS_IDS) ??
    idsFault('channels', metadata.channels, CHANNEL_IDS)
  );
}

function memberFault(place: string, value: unknown, members: Members): string | null {
  if (!object.test(value)) {
    return `expected ${place === '' ? 'the metadata' : place} to be ${object.expected}, found ${shown(value)}`;
  }
  for (const [member, { expected, test }] of Object.entries(members)) {
    const found = (value as Record<string, unknown>)[member];
    if (!test(found)) {
      const path = place === '' ? member : `${place}.${member}`;
      return `expected ${path} of the metadata to be ${expected}, found ${shown(found)}`;
    }
  }
  return null;
}

function idsFault(
  name: string,
  populations: readonly { readonly id: string }[],
  ids: readonly string[],
): string | null {
  const found = populations.map(({ id }) => id);
  const isComplete = found.length === ids.length && ids.every((id) => found.includes(id));
  return isComplete ? null : `expected the ${name} ${ids.join(', ')}, found ${found.join(', ')}`;
}
