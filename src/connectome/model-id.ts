import type { Connectome } from './connectome.js';

/** Names what is served, down to the wiring, the rule of its signs and its very bytes. */
export function modelId({ metadata, digest }: Pick<Connectome, 'metadata' | 'digest'>): string {
  const signs = metadata.signRule.replace(' ', '-');
  return `fafb-${metadata.release}-${metadata.wiring}-${signs}-${digest.slice(0, 12)}`;
}
