import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describeWith, GOLDEN_DIR, TABLES_DIR } from '../../../test/support/requirements.js';
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

  it('names the publication of each set', () => {
    const { publications, sets } = publishedNodeSets();
    for (const { publication } of Object.values(sets))
      expect(Object.keys(publications)).toContain(publication);
  });

  it('has the 106 types of the subesophageal zone, one by one and all together', () => {
    const { sets } = publishedNodeSets();
    const types = Object.entries(sets).flatMap(([name, set]) => (name.startsWith('SEZ.') ? [set] : []));
    expect(types).toHaveLength(106);
    const united = new Set(types.flatMap(({ root_ids: ids }) => ids));
    expect(sets['SEZ']!.root_ids).toEqual([...united].sort());
    // Some neurons are on the lists of two types.
    expect(sets['SEZ']!.published_count).toBeLessThanOrEqual(
      types.reduce((sum, { published_count: count }) => sum + count, 0),
    );
  });
});

describeWith(['tables'], 'the published neurons', () => {
  it('are all in the tables, and have the types that stand for them', () => {
    const { tables, types } = typesOfTables();
    for (const [name, set] of Object.entries(publishedNodeSets().sets)) {
      expect({ name, lacking: set.root_ids.filter((id) => !tables.has(id)) }).toEqual({ name, lacking: [] });
      expect({ name, unknown: set.types.filter((type) => !types.has(type)) }).toEqual({ name, unknown: [] });
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

/** Straight from the files: ids of all neurons, and all primary types. */
function typesOfTables(): { tables: Set<string>; types: Set<string> } {
  const rows = (file: string) =>
    gunzipSync(readFileSync(join(TABLES_DIR, file)))
      .toString()
      .split('\n')
      .slice(1);
  return {
    tables: new Set(rows('neurons.csv.gz').map((row) => row.split(',')[0]!)),
    types: new Set(rows('consolidated_cell_types.csv.gz').map((row) => row.split(',')[1]!)),
  };
}
