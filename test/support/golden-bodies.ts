import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { connectomeFile } from './connectomes.js';
import { startProcess } from './service-process.js';

/**
 * SHA-256 of whole answers of the default brain. They change only together with ENGINE_VERSION or with the brain
 * itself; then `npm run golden:bodies` writes them anew.
 */
export const goldenBodies: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(resolve('test/experiments/bodies.json'), 'utf8'),
) as Record<string, string>;

/** Asks a service in a process of its own for every golden body. */
export async function bodiesOf(
  variables: Record<string, string>,
  node?: string,
): Promise<Record<string, string>> {
  const CONNECTOME_FILE = await connectomeFile('default');
  const service = await startProcess({ ...variables, CONNECTOME_FILE }, undefined, node);
  try {
    await service.untilReady();
    const digests = await Promise.all(
      Object.keys(goldenBodies).map(async (request) => {
        const [view, body] = request.split(' ');
        const response = await fetch(`${service.url}/api/v1/run?view=${view}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        const bytes = Buffer.from(await response.arrayBuffer());
        return [request, `${response.status} ${createHash('sha256').update(bytes).digest('hex')}`] as const;
      }),
    );
    return Object.fromEntries(digests);
  } finally {
    await service.stop();
  }
}
