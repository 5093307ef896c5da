import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { describeWith, TABLES_DIR } from '../../../test/support/requirements.js';
import { CodedError } from '../errors.js';
import { encodeConnectome, openConnectome } from './format.js';
import { searchNeurons } from './neuron-search.js';
import { NodeSetResolver } from './node-set-resolver.js';
import { publishedNodeSets } from './node-sets.js';

interface Entry {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly publications: readonly string[];
}

const FILE = JSON.parse(readFileSync('data/synonyms.json', 'utf8')) as {
  readonly publications: Readonly<Record<string, { readonly text: string; readonly doi: string }>>;
  readonly synonyms: readonly Entry[];
};
const [BIDAYE, MOONWALKER] = [
  'Bidaye et al. 2020, doi:10.1016/j.neuron.2020.07.032',
  'Bidaye et al. 2014, doi:10.1126/science.1249964',
];

/** The small brain, with types of the fly in place of three of its own. */
const content = smallConnectome();
const renamed: Readonly<Record<string, string>> = { C_walk: 'DNp09', C_backward: 'MDN', C_stop: 'DNge173' };
const connectome = openConnectome(
  encodeConnectome({
    ...content,
    metadata: {
      ...content.metadata,
      types: content.metadata.types.map((type) => ({ ...type, name: renamed[type.name] ?? type.name })),
    },
  }).buffer,
);

describe('synonyms of the literature', () => {
  it('are suggested if the model lacks such a type, with their source', () => {
    const resolver = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'error' });
    const selector = ['p9:left', 'Moonwalker', 'S_suga', { type: 'oDN1' }];
    let refusal: CodedError | undefined;
    try {
      resolver.neuronsOf(selector, '/x');
    } catch (error) {
      refusal = error as CodedError;
    }
    const { code, message, path, suggestions } = refusal!;
    expect({ code, message, path, suggestions }).toEqual({
      code: 'UNKNOWN_NEURONS',
      message:
        `The model lacks "Moonwalker" (called MDN here: ${MOONWALKER}), "S_suga" (near: S_sugar, @sugar, S_song), ` +
        `"p9" (called DNp09 here: ${BIDAYE}), "oDN1" (near: MDN).`,
      path: '/x/1',
      suggestions: ['MDN', 'S_sugar', '@sugar', 'S_song', 'DNp09'],
    });
  });

  it('are found by a search, of several types those that the model has', () => {
    const found = searchNeurons(
      connectome,
      { type: ['P9*', 'bract', 'Usnea', 'MDN'] },
      { from: 0, limit: 0 },
    );
    expect([found.count, found.synonyms]).toEqual([
      4,
      {
        'P9*': { types: ['DNp09'], sources: [BIDAYE] },
        bract: {
          types: ['DNge173'],
          sources: [
            'Shiu et al. 2022, doi:10.7554/eLife.79887',
            'Shiu et al. 2024, doi:10.1038/s41586-024-07763-9',
          ],
        },
      },
    ]);
    expect(found.suggestions).toEqual({ 'P9*': ['DNp09'], bract: ['DNge173'], Usnea: [] });
  });

  it('are no names of another label', () => {
    expect(searchNeurons(connectome, { class: 'P9' }, { from: 0, limit: 0 }).synonyms).toEqual({});
  });
});

describe('data/synonyms.json', () => {
  it('has each name once, and uses each publication', () => {
    const names = FILE.synonyms.flatMap((entry) => entry.names.map((name) => name.toLowerCase()));
    expect(names).toEqual([...new Set(names)]);
    const used = FILE.synonyms.flatMap(({ publications }) => publications);
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(FILE.publications).toSorted());
  });
});

describeWith(['tables'], 'data/synonyms.json beside the tables', () => {
  let lines: string[][];
  // Jest also collects skipped suites, and then the file may be missing.
  beforeAll(() => {
    const text = gunzipSync(readFileSync(`${TABLES_DIR}/consolidated_cell_types.csv.gz`)).toString();
    lines = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
  });
  const idsOf = (type: string) => lines.flatMap(([id, name]) => (name === type ? [id!] : []));

  it('has types of release 783, and no name that is one', () => {
    const lacking = FILE.synonyms.flatMap(({ types }) => types.filter((type) => idsOf(type).length === 0));
    expect(lacking).toEqual([]);
    const types = new Set(lines.map(([, type]) => type!.toLowerCase()));
    expect(
      FILE.synonyms.flatMap(({ names }) => names.filter((name) => types.has(name.toLowerCase()))),
    ).toEqual([]);
  });

  it('means the neurons that Shiu et al. 2024 list under the name, or their pair', () => {
    const listed = FILE.synonyms.filter(({ publications }) => publications.includes('shiu2024'));
    expect(listed.length).toBeGreaterThan(10);
    for (const { names, types } of listed) {
      const key = Object.keys(publishedNodeSets().sets).find(
        (set) => set.replace('SEZ.', '').replace('_', '-').toLowerCase() === names[0]!.toLowerCase(),
      );
      const ids = publishedNodeSets().sets[key!]!.root_ids;
      const all = types.flatMap(idsOf).toSorted();
      // The publication lists one neuron each of aDN1 and aDN2.
      expect({ names, all: ids.length === 1 ? all.filter((id) => ids.includes(id)) : all }).toEqual({
        names,
        all: [...ids],
      });
    }
  });
});
