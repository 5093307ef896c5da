import type { Connectome } from './connectome.js';

/** Names what is served, down to the wiring, the rule of its signs and its very bytes. */
export function modelId({ metadata, digest }: Pick<Connectome, 'metadata' | 'digest'>): string {
  return `fafb-${metadata.release}-${metadata.wiring}-${metadata.signRule}-${digest.slice(0, 12)}`;
}
