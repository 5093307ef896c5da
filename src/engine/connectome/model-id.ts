import type { Connectome, ConnectomeMetadata, WiringOrigin } from './connectome.js';

const MAX_SLUG_LENGTH = 40;
const DIGEST_LENGTH = 12;

/** A model. Its wiring has the connectome's origin, or `rewired` if an experiment changed it. */
interface NamedModel extends Pick<Connectome, 'digest'> {
  readonly metadata: Omit<ConnectomeMetadata, 'wiring'> & { readonly wiring: WiringOrigin | 'rewired' };
}

/**
 * The id of a model: data set, release, wiring, sign rule and the start of the digest. The table of synapses and the
 * gain are included if they differ from the defaults.
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

/** Tells whether two ids name models of the same neurons, even if experiments changed their connections. */
export function haveSameNeurons(id: string, other: string): boolean {
  return id.slice(-DIGEST_LENGTH) === other.slice(-DIGEST_LENGTH);
}

/**
 * The name of a network in a document: data set and release, then the origin of its wiring unless that is measured.
 */
export function networkName({ dataset, release, wiring, synapses }: ConnectomeMetadata): string {
  const name = isFlyWire({ dataset }) ? 'flywire' : slugOf(dataset);
  const parts = [name, release, synapses?.id, wiring === 'measured' ? null : wiring];
  return parts.filter((part) => part !== null && part !== undefined).join('-');
}

/** The name of the population of neurons in files for other programs. */
export function neuronPopulationName(metadata: Pick<ConnectomeMetadata, 'dataset' | 'release'>): string {
  const dataset = isFlyWire(metadata) ? 'flywire' : slugOf(metadata.dataset).replaceAll('-', '_');
  return metadata.release === null ? dataset : `${dataset}_${String(metadata.release).replace(/\W/g, '_')}`;
}

/** True for the neurons of FlyWire, even with another wiring: then FlyWire's sources must be cited. */
export function isFlyWire({ dataset }: Pick<ConnectomeMetadata, 'dataset'>): boolean {
  return dataset.startsWith('FlyWire');
}

/** Converts a name to lower-case ASCII letters and digits with hyphens, because ids are used in URLs and file names. */
function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-|-$/g, '');
  return slug === '' ? 'network' : slug;
}
