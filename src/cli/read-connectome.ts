import { existsSync } from 'node:fs';
import type { Connectome } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { CodedError } from '../errors.js';

/** A connectome, and the verified bytes of its file, which the threads of a pool share. */
export interface ReadConnectome {
  readonly connectome: Connectome;
  readonly bytes: SharedArrayBuffer;
}

/** @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID */
export async function readConnectome(path: string): Promise<ReadConnectome> {
  if (!existsSync(path)) {
    throw new CodedError(
      'CONNECTOME_MISSING',
      `There is no connectome file ${path}. npm run up makes the default one, npm run model:compile makes others.`,
    );
  }
  const bytes = await readConnectomeFile(path);
  return { connectome: openConnectome(bytes), bytes };
}

/**
 * The connectome file that the service would serve, as CONNECTOME_FILE says or its default. The settings of the service
 * are imported only when they are asked for: their check doubles the time to --help.
 */
export async function servedFile(environment: NodeJS.ProcessEnv): Promise<string> {
  const { readEnvironment } = await import('../service/config/environment.js');
  return readEnvironment(environment).CONNECTOME_FILE;
}
