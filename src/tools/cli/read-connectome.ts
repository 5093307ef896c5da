import { existsSync } from 'node:fs';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';

export type ReadConnectome = Awaited<ReturnType<typeof readConnectome>>;

/** @throws CodedError CONNECTOME_MISSING */
export function refuseMissing(path: string): void {
  if (existsSync(path)) return;
  throw new CodedError(
    'CONNECTOME_MISSING',
    `There is no connectome file ${path}. npm run up makes the default one, npm run model:compile makes others.`,
  );
}

/**
 * Reads a connectome and the verified bytes of its file, which the threads of a pool share.
 * @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID
 */
export async function readConnectome(path: string) {
  refuseMissing(path);
  const bytes = await readConnectomeFile(path);
  return { connectome: openConnectome(bytes), bytes };
}

/**
 * The connectome file that the service would serve: CONNECTOME_FILE or its default. The service's settings are imported
 * only on demand, because importing them doubles the time of --help.
 */
export async function servedFile(environment: NodeJS.ProcessEnv): Promise<string> {
  const { readEnvironment } = await import('../../service/config/environment.js');
  return readEnvironment(environment).CONNECTOME_FILE;
}
