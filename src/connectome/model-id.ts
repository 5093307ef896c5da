import type { Connectome, ConnectomeMetadata } from './connectome.js';

const LONGEST_SLUG = 40;

/** The id of a model: data set, release, wiring, sign rule and the start of the digest. */
export function modelId({ metadata, digest }: Pick<Connectome, 'metadata' | 'digest'>): string {
  const { release, wiring, signRule } = metadata;
  const dataset = isFlyWire(metadata) ? 'fafb' : slugOf(metadata.dataset);
  const version = release === null ? '' : `-${release}`;
  return `${dataset}${version}-${wiring}-${signRule.replace(' ', '-')}-${digest.slice(0, 12)}`;
}

/** A name of the neurons in files of other programs. */
export function neuronPopulationName(metadata: Pick<ConnectomeMetadata, 'dataset' | 'release'>): string {
  const dataset = isFlyWire(metadata) ? 'flywire' : slugOf(metadata.dataset).replaceAll('-', '_');
  return metadata.release === null ? dataset : `${dataset}_${metadata.release}`;
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
