import type { Connectome } from './connectome.js';

/** The id of a model: dataset, release, wiring, sign rule and the start of the digest. */
export function modelId({ metadata, digest }: Pick<Connectome, 'metadata' | 'digest'>): string {
  const signs = metadata.signRule.replace(' ', '-');
  return `fafb-${metadata.release}-${metadata.wiring}-${signs}-${digest.slice(0, 12)}`;
}
