import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describeWith, GOLDEN_DIR } from '../../test/support/requirements.js';
import { publishedNodeSets } from './node-sets.js';

describe('data/node-sets.json', () => {
  it('has root ids in ascending order, and no more of them than were published', () => {
    for (const [name, { root_ids: ids, published_count: published }] of Object.entries(
      publishedNodeSets().sets,
    )) {
      const ascending = [...ids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
      expect({ name, ids }).toEqual({ name, ids: ascending });
      if (name !== 'MN9') expect(ids.length).toBeLessThanOrEqual(published);
    }
  });
});

describeWith(['golden'], 'sugar and bitter', () => {
  const stimulated = (file: string) =>
    gunzipSync(readFileSync(join(GOLDEN_DIR, 'open', file)))
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('stimulated'))
      .map((line) => line.split(',')[2]!);

  it('are the neurons that the golden files stimulate', () => {
    const { sugar, bitter } = publishedNodeSets().sets;
    expect([...sugar!.root_ids].sort()).toEqual(stimulated('sugar-1000ms.csv.gz').sort());
    expect([...sugar!.root_ids, ...bitter!.root_ids].sort()).toEqual(
      stimulated('sugar-bitter-500ms.csv.gz').sort(),
    );
  });
});
