import { ATLAS_VERSION } from '../connectome/atlas.js';
import type { Connectome } from '../connectome/connectome.js';

export const ATLAS_PATH = 'atlas';
const DIGEST_CHARACTERS = 32;

/** The atlas depends only on the connectome and on its own layout, so its URL contains the versions of both. */
export function atlasFolder({ digest }: Pick<Connectome, 'digest'>): string {
  return `${digest.slice(0, DIGEST_CHARACTERS)}-${ATLAS_VERSION}`;
}

export function atlasName(connectome: Pick<Connectome, 'digest'>, extension: 'json' | 'bin'): string {
  return `${atlasFolder(connectome)}.${extension}`;
}

export function atlasUrl(connectome: Pick<Connectome, 'digest'>): string {
  return `/${ATLAS_PATH}/${atlasName(connectome, 'json')}`;
}
