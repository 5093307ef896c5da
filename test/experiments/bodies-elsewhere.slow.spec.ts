import { execFileSync } from 'node:child_process';
import { bodiesOf, goldenBodies } from '../support/golden-bodies.js';
import { describeWith, OTHER_NODES } from '../support/requirements.js';

describe('golden bodies of the default brain', () => {
  it('are the same bytes from a process with 1 worker', async () => {
    expect(await bodiesOf({})).toEqual(goldenBodies);
  });

  it('are the same bytes without a cache', async () => {
    expect(await bodiesOf({ CACHE_BYTES: '0' })).toEqual(goldenBodies);
  });
});

describeWith(['other-nodes'], 'golden bodies on other versions of Node', () => {
  const others = OTHER_NODES.map(
    (node) => [execFileSync(node, ['--version']).toString().trim(), node] as const,
  );

  it.each(others)('are the same bytes on %s', async (version, node) => {
    expect(version).not.toBe(process.version);
    expect(await bodiesOf({}, node)).toEqual(goldenBodies);
  });
});
