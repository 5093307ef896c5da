import type { Connectome, ConnectomeMetadata, WiringOrigin } from './connectome.js';

const LONGEST_SLUG = 40;
const DIGEST_LENGTH = 12;

/** A model; its wiring is that of its connectome, or `rewired` where an experiment changed it. */
interface NamedModel extends Pick<Connectome, 'digest'> {
  readonly metadata: Omit<ConnectomeMetadata, 'wiring'> & { readonly wiring: WiringOrigin | 'rewired' };
}

/**
 * The id of a model: data set, release, table of synapses and gain where they are not the usual ones, wiring, sign rule
 * and the start of the digest.
 */
export function modelId({ metadata, digest }: NamedModel): string {
  const { release, wiring, signRule, synapses, synapseMv } = metadata;
  const parts = [
    isFlyWire(metadata) ? 'fafb' : slugOf(metadata.dataset),
    ...(release === null ? [] : [release]),
    ...(synapses === undefined ? [] : [slugOf(synapses.id)]),
    wiring,
    signRule.replace(' ', '-'),
    ...(synapseMv === undefined ? [] : [`${synapseMv}mv`]),
    digest.slice(0, DIGEST_LENGTH),
  ];
  return parts.join('-');
}

/** Tells whether two ids name models of the same neurons, whatever an experiment did to their connections. */
export function haveSameNeurons(id: string, other: string): boolean {
  return id.slice(-DIGEST_LENGTH) === other.slice(-DIGEST_LENGTH);
}

/**
 * The network that a document may name: data set and release, and what was done to it where its connections are not the
 * measured ones.
 */
export function networkName({ dataset, release, wiring, synapses }: ConnectomeMetadata): string {
  const name = isFlyWire({ dataset }) ? 'flywire' : slugOf(dataset);
  const parts = [name, release, synapses?.id, wiring === 'measured' ? null : wiring];
  return parts.filter((part) => part !== null && part !== undefined).join('-');
}

/** A name of the neurons in files of other programs. */
export function neuronPopulationName(metadata: Pick<ConnectomeMetadata, 'dataset' | 'release'>): string {
  const dataset = isFlyWire(metadata) ? 'flywire' : slugOf(metadata.dataset).replaceAll('-', '_');
  return metadata.release === null ? dataset : `${dataset}_${String(metadata.release).replace(/\W/g, '_')}`;
}

/** True for the neurons of FlyWire, whatever was done to their wiring: then its sources are to be cited. */
export function isFlyWire({ dataset }: Pick<ConnectomeMetadata, 'dataset'>): boolean {
  return dataset.startsWith('FlyWire');
}

/** Lower-case letters and digits of ASCII, with hyphens between them: ids stand in addresses and file names. */
function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-|-$/g, '');
  return slug === '' ? 'network' : slug;
}
