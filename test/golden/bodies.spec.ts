import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { connectomeFile } from '../support/connectomes.js';
import { startProcess } from '../support/service-process.js';
import { describeWith, OTHER_NODES } from '../support/requirements.js';

/**
 * SHA-256 of whole answers of the default brain. They change only together with ENGINE_VERSION or with the brain
 * itself; then `npm run golden:bodies` writes them anew.
 */
const golden = JSON.parse(readFileSync(resolve('test/golden/bodies.json'), 'utf8')) as Record<string, string>;

/** Asks a service in a process of its own for every golden body. */
async function bodiesOf(variables: Record<string, string>, node?: string): Promise<Record<string, string>> {
  const CONNECTOME_FILE = await connectomeFile('default');
  const service = await startProcess({ ...variables, CONNECTOME_FILE }, undefined, node);
  try {
    await service.untilReady();
    const digests = await Promise.all(
      Object.keys(golden).map(async (request) => {
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

describe('golden bodies of the default brain', () => {
  it.each([['1'], ['3']])('are the same bytes from a process with %s workers', async (WORKERS) => {
    expect(await bodiesOf({ WORKERS })).toEqual(golden);
  });

  it('are the same bytes without a cache', async () => {
    expect(await bodiesOf({ CACHE_BYTES: '0' })).toEqual(golden);
  });
});

describeWith(['other-nodes'], 'golden bodies on other versions of Node', () => {
  const others = OTHER_NODES.map(
    (node) => [execFileSync(node, ['--version']).toString().trim(), node] as const,
  );

  it.each(others)('are the same bytes on %s', async (version, node) => {
    expect(version).not.toBe(process.version);
    expect(await bodiesOf({}, node)).toEqual(golden);
  });
});
