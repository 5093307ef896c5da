import { withoutPauses } from '../parts.js';
import fc from 'fast-check';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { CodedError } from '../errors.js';
import { type Connectome, SIDES } from './connectome.js';
import { encodeConnectome, openConnectome } from './format.js';
import { NodeSetResolver, type SelectorContext } from './node-set-resolver.js';
import { PublishedNodeSets, publishedNodeSets } from './node-sets.js';
import type { SetSelector } from './set-selector.js';

/** Twelve neurons for each of ten stimuli, four for each channel, then a hundred without a type; sides take turns. */
const synthetic = opened(smallConnectome());
const idOf = (i: number) => String(720575940600000000n + BigInt(i));
const measured = opened({
  ...smallConnectome(),
  metadata: { ...smallConnectome().metadata, wiring: 'measured' },
  neuronIds: Array.from({ length: smallConnectome().metadata.neuronCount }, (_, i) => idOf(i)),
});
const set = (root_ids: string[], types: string[]) => ({
  publication: 'nobody2000',
  description: '',
  source: 'Figure 1',
  published_count: 3,
  root_ids,
  types,
});
const published = new PublishedNodeSets(
  { nobody2000: { text: 'Nobody 2000', doi: '10.1000/1' } },
  {
    sweet: set([idOf(3), idOf(1)], ['S_sugar', 'S_gone']),
    nameless: set([idOf(200)], []),
    renamed: set([], []),
    partly: set([idOf(2), '720575940699999999'], ['S_gone']),
  },
);

/** The publication of all published sets in these tests. */
const SOURCE = 'Nobody 2000, doi:10.1000/1: Figure 1';

function opened(content: ReturnType<typeof smallConnectome>): Connectome {
  return openConnectome(encodeConnectome(content).buffer);
}

function resolver(connectome: Connectome, context: Partial<SelectorContext> = {}): NodeSetResolver {
  return new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'error', ...context }, published);
}

function neurons(selector: SetSelector, node_sets: SelectorContext['node_sets'] = {}): number[] {
  return [...resolver(measured, { node_sets }).neuronsOf(selector, '/x').neurons];
}

function failure(resolve: () => unknown): object {
  try {
    resolve();
  } catch (error) {
    expect(error).toBeInstanceOf(CodedError);
    const { code, message, path, suggestions } = error as CodedError;
    return { code, message, path, ...(suggestions !== undefined && { suggestions }) };
  }
  throw new Error('nothing was refused');
}

describe('a selector', () => {
  it.each<[string, SetSelector, number[]]>([
    ['a type', 'C_walk', [124, 125, 126, 127]],
    ['a type on a side', 'C_walk:left', [124, 126]],
    ['a pattern', 'C_t*_left', [128, 129, 130, 131]],
    ['a list', ['C_walk:left', 'C_walk:right', 'C_stop'], [124, 125, 126, 127, 136, 137, 138, 139]],
    [
      'labels, of which all agree',
      { type: 'C_w*', side: 'left', super_class: 'desc*' },
      [124, 126, 148, 150],
    ],
    ['values, of which one fits', { type: ['C_walk', 'C_stop'], side: ['right'] }, [125, 127, 137, 139]],
    ['an exception', { type: 'C_w*', except: ['C_wing', 'C_walk:left'] }, [125, 127]],
    ['ids', { root_id: [idOf(9), idOf(4)] }, [4, 9]],
    ['ids and a label', { root_id: [idOf(9), idOf(4)], side: 'right' }, [9]],
    ['an id as text', idOf(9), [9]],
    ['an id as text on its side', `${idOf(9)}:right`, [9]],
    ['ids as text among types', [idOf(125), 'C_walk', idOf(9)], [9, 124, 125, 126, 127]],
    ['a published set', '@sweet', [1, 3]],
    ['a published set by its publication', '@nobody2000/sweet', [1, 3]],
    ['a published set on a side', ['@sweet:right'], [1, 3]],
    ['a channel', '@channel/walk', [124, 125, 126, 127]],
    ['a stimulus on a side', '@stimulus/sugar:left', [0, 2, 4, 6, 8, 10]],
  ])('%s', (_, selector, expected) => {
    expect(neurons(selector)).toEqual(expected);
  });

  it('may name all neurons, of which a wildcard leaves out those without a type', () => {
    const all = measured.neuronCount;
    expect(neurons('@all')).toEqual(Array.from({ length: all }, (_, i) => i));
    expect(neurons('*')).toHaveLength(all - 100);
  });

  it('may name sets of the document, which may name others', () => {
    const sets = { some: ['C_walk', 'more:left'], more: { type: ['C_stop'] } };
    expect(neurons('some', sets)).toEqual([124, 125, 126, 127, 136, 138]);
    // The exception leaves the two C_turn types and the right half of C_stop.
    expect(neurons({ type: ['C_walk', 'C_turn*', 'C_stop'], except: 'some' }, sets)).toEqual([
      128, 129, 130, 131, 132, 133, 134, 135, 137, 139,
    ]);
  });

  it('means the labels of each neuron', () => {
    const types = ['S_sugar', 'S_loom', 'C_walk', 'S_*', '*_s*', '*'];
    const values = (own: string[]) =>
      fc.oneof(fc.constantFrom(...own), fc.uniqueArray(fc.constantFrom(...own), { minLength: 1 }));
    const { selector } = fc.letrec<{ selector: SetSelector }>((tie) => ({
      selector: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...types, ...types.map((type) => `${type}:left`), 'C_walk:right'),
        fc.record(
          {
            type: values(types),
            class: values(['made_up', 'made*']),
            sub_class: values(['inter']),
            super_class: values(['sensory', 'descending', 'central', '*r*']),
            side: values(['left', 'right']),
            root_id: values(Array.from({ length: 300 }, (_, i) => idOf(i))),
            except: tie('selector'),
          },
          { requiredKeys: ['super_class'] },
        ),
        fc.array(tie('selector'), { minLength: 1, maxLength: 4 }),
      ),
    }));
    fc.assert(
      fc.property(selector, (each) => {
        const { neuronCount } = measured;
        const expected = Array.from({ length: neuronCount }, (_, i) => i).filter((i) => isIn(each, i));
        const resolve = () => [...resolver(measured).neuronsOf(each, '/x').neurons];
        if (expected.length > 0) expect(resolve()).toEqual(expected);
        else expect(failure(resolve)).toMatchObject({ code: 'EMPTY_NODE_SET', path: '/x' });
      }),
      { numRuns: 300 },
    );
  });
});

/** A slow resolver that uses only the metadata: neuron by neuron and label by label. */
function isIn(selector: SetSelector, i: number): boolean {
  const { metadata, typeIndices, classIndices, sides } = measured;
  const cellClass = metadata.classes[classIndices[i]!]!;
  const labels = {
    type: metadata.types[typeIndices[i]!]!.name,
    class: cellClass.class,
    sub_class: cellClass.subClass,
    super_class: cellClass.superClass,
    side: SIDES[sides[i]!]!,
    root_id: idOf(i),
  };
  const fits = (text: string, pattern: string) =>
    text !== '' && new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text);
  if (typeof selector === 'string') {
    const [name, side = '.*'] = selector.split(':');
    return fits(labels.type, name!) && new RegExp(`^${side}$`).test(labels.side);
  }
  if (Array.isArray(selector)) return selector.some((each: SetSelector) => isIn(each, i));
  const { except, ...wanted } = selector as Record<string, string | string[]> & { except?: SetSelector };
  return (
    Object.entries(wanted).every(([label, values]) =>
      [values].flat().some((value) => fits(labels[label as keyof typeof labels], value)),
    ) && !(except !== undefined && isIn(except, i))
  );
}

describe('a selector of neighbours', () => {
  /** Sugar neurons 0 to 11 reach two neurons of C_walk, these DNs of C_stop, which reach back. */
  const chain: readonly (readonly [pre: number, post: number, synapses: number])[] = [
    [0, 124, 5],
    [1, 125, 20],
    [124, 136, 8],
    [125, 137, 9],
    [136, 0, 30],
    [137, 138, 5],
  ];
  const content = smallConnectome();
  const wired = opened({
    ...content,
    metadata: {
      ...content.metadata,
      wiring: 'measured',
      connectionCount: chain.length,
      synapseCount: chain.reduce((sum, [, , synapses]) => sum + synapses, 0),
    },
    neuronIds: Array.from({ length: content.metadata.neuronCount }, (_, i) => idOf(i)),
    rowStart: Uint32Array.from(
      { length: content.metadata.neuronCount + 1 },
      (_, i) => chain.filter(([pre]) => pre < i).length,
    ),
    targets: Uint32Array.from(chain, ([, post]) => post),
    synapseCounts: Uint16Array.from(chain, ([, , synapses]) => synapses),
  });
  const found = (selector: SetSelector, context: Partial<SelectorContext> = {}) => [
    ...resolver(wired, context).neuronsOf(selector, '/x').neurons,
  ];

  it.each<[string, SetSelector, number[]]>([
    ['downstream', { downstream_of: 'S_sugar' }, [124, 125]],
    ['downstream over two hops', { downstream_of: 'S_sugar', hops: 2 }, [124, 125, 136, 137]],
    ['a circle', { downstream_of: 'S_sugar', hops: 3 }, [0, 124, 125, 136, 137, 138]],
    ['strong connections', { downstream_of: 'S_sugar', minimum_synapses: 6, hops: 3 }, [125, 137]],
    ['upstream', { upstream_of: ['C_stop:left', 'C_walk'] }, [0, 1, 124, 137]],
    ['a published set', { type: 'C_*', side: 'left', downstream_of: '@sweet', hops: 3 }, [138]],
    ['labels', { type: 'C_stop', downstream_of: 'S_sugar', hops: 2 }, [136, 137]],
    ['ids', { root_id: [idOf(124), idOf(3)], downstream_of: { root_id: idOf(0) } }, [124]],
    ['an exception', { downstream_of: 'S_sugar', hops: 3, except: 'S_sugar' }, [124, 125, 136, 137, 138]],
    ['between', { downstream_of: 'S_sugar', upstream_of: 'C_stop' }, [124, 125]],
    ['one in another', { downstream_of: { downstream_of: 'S_sugar' } }, [136, 137]],
    ['a list', ['C_walk:left', { upstream_of: { root_id: idOf(0) } }], [124, 126, 136]],
  ])('of %s', (_, selector, expected) => {
    expect(found(selector)).toEqual(expected);
  });

  it('may stand in a set of the document, and name one', () => {
    const node_sets = {
      tasters: 'S_sugar',
      next: { downstream_of: 'tasters' },
      last: { downstream_of: 'next' },
    };
    expect(found('last:left', { node_sets })).toEqual([136]);
  });

  it('refuses names that the model lacks, with their paths, or leaves them out', () => {
    const selector = { downstream_of: ['S_suga', 'S_sugar'], upstream_of: 'C_*' };
    expect(failure(() => found(selector))).toMatchObject({
      code: 'UNKNOWN_NEURONS',
      path: '/x/downstream_of/0',
      suggestions: ['S_sugar', 'S_song'],
    });
    const skipping = resolver(wired, { on_missing: 'skip' }).neuronsOf(selector, '/x');
    expect(skipping).toMatchObject({ neurons: Uint32Array.of(124, 125), missing: ['S_suga'] });
    expect(resolver(wired).neuronsOf({ downstream_of: '@sweet', upstream_of: '*' }, '/x')).toMatchObject({
      neurons: Uint32Array.of(125),
      sources: [SOURCE],
    });
  });

  it('selects at least one', () => {
    const selector = { downstream_of: { type: 'C_stop', side: 'right' }, minimum_synapses: 6 };
    expect(failure(() => found(selector))).toEqual({
      code: 'EMPTY_NODE_SET',
      message:
        'The selector at /x must select at least one neuron, got none with ' +
        '{"downstream_of":{"type":"C_stop","side":"right"},"minimum_synapses":6}.',
      path: '/x',
    });
  });

  it('refuses fewer synapses than the connections of the model have', () => {
    const selector = { type: 'C_walk', except: { upstream_of: 'C_stop', minimum_synapses: 4 } };
    expect(failure(() => found(selector))).toEqual({
      code: 'INVALID_PARAMETER',
      message:
        'minimum_synapses must be at least 5, since the model has no connections of fewer synapses, got 4.',
      path: '/x/except/minimum_synapses',
    });
  });
});

describe('names that the model lacks', () => {
  const selectors = [
    {
      selector: ['S_suga', 'S_loom', { type: ['C_walk', 'C_wlak'], root_id: [idOf(124), '12', '13'] }],
      path: '/a',
    },
    { selector: '@swet', path: '/b' },
    { selector: 'C_wlak', path: '/c' },
  ];

  it('is refused in one sentence that lists all, however many they are', () => {
    const names = Array.from({ length: 9_000 }, (_, i) => `${i + 1}`);
    expect(failure(() => resolver(measured).neuronsOf({ root_id: names }, '/a'))).toMatchObject({
      code: 'UNKNOWN_NEURONS',
      message: `The model lacks ${names.map((name) => `"${name}"`).join(', ')}.`,
    });
  });

  it('is refused without other digits as suggestions if it is digits', () => {
    const pasted = idOf(measured.neuronCount);
    expect(failure(() => resolver(measured).neuronsOf(['S_sugar', pasted], '/a'))).toEqual({
      code: 'UNKNOWN_NEURONS',
      message: `The model lacks "${pasted}".`,
      path: '/a/1',
    });
  });

  it('is refused at once, with near names and the place of the first', () => {
    expect(failure(() => withoutPauses(resolver(measured).resolving(selectors)))).toEqual({
      code: 'UNKNOWN_NEURONS',
      message:
        'The model lacks "S_suga" (near: S_sugar, S_song), "C_wlak" (near: C_walk, C_wing), "12", "13", "@swet" (near: @sweet).',
      path: '/a/0',
      suggestions: ['S_sugar', 'S_song', 'C_walk', 'C_wing', '@sweet'],
    });
  });

  it('is a channel or a set with more after its name', () => {
    for (const name of ['@channel/walk/left', '@stimulus/sugar/', '@nobody2000/sweet/left', '@channel']) {
      expect(failure(() => resolver(measured).neuronsOf(name, '/a'))).toMatchObject({
        code: 'UNKNOWN_NEURONS',
        path: '/a',
      });
    }
  });

  it('is left out and listed if the document says so', () => {
    const [a, ...others] = selectors;
    const skipping = resolver(measured, { on_missing: 'skip' });
    expect(skipping.neuronsOf(a!.selector as SetSelector, '/a')).toEqual({
      neurons: Uint32Array.from([...Array.from({ length: 12 }, (_, i) => 12 + i), 124]),
      missing: ['S_suga', 'C_wlak', '12', '13'],
      substituted: [],
      sources: [],
    });
    for (const { selector, path } of others) {
      const { neurons, missing } = skipping.neuronsOf(selector as SetSelector, path);
      expect(neurons).toHaveLength(0);
      expect(missing).not.toEqual([]);
    }
    expect(skipping.neuronsOf('@partly', '/x')).toMatchObject({
      neurons: Uint32Array.of(2),
      missing: ['720575940699999999'],
    });
  });

  it('is told once, however often the sets of a document name one another', () => {
    // Over so many levels, concatenated lists would exceed any memory.
    const names = Array.from({ length: 64 }, (_, i) => `n${i}`);
    const entries = names.map((name, i) => [
      name,
      i === 0 ? ['@partly', 'C_wlak'] : names.slice(Math.max(0, i - 7), i),
    ]);
    const node_sets = Object.fromEntries(entries) as SelectorContext['node_sets'];
    expect(resolver(measured, { node_sets, on_missing: 'skip' }).neuronsOf('n63', '/x')).toEqual({
      neurons: Uint32Array.of(2),
      missing: ['C_wlak', '720575940699999999'],
      substituted: [],
      sources: [SOURCE],
    });
    expect(failure(() => resolver(measured, { node_sets }).neuronsOf('n63', '/x'))).toMatchObject({
      message: 'The model lacks "C_wlak" (near: C_walk, C_wing), "720575940699999999".',
    });
  });

  it('may be every neuron of a published set', () => {
    expect(failure(() => neurons('@renamed'))).toEqual({
      code: 'UNKNOWN_NEURONS',
      message: 'The model lacks "@renamed" (release 783 has other ids for all neurons of this set).',
      path: '/x',
    });
  });

  it('in a set of the document has its place there', () => {
    const node_sets = { a: ['C_walk', { type: 'C_wlak' }] };
    expect(failure(() => resolver(measured, { node_sets }).neuronsOf('a', '/silence/0'))).toMatchObject({
      code: 'UNKNOWN_NEURONS',
      path: '/node_sets/a/1/type',
    });
  });

  it('is no type for a set of the document to be named after', () => {
    expect(failure(() => resolver(measured, { node_sets: { C_walk: 'C_stop' } }))).toEqual({
      code: 'INVALID_PARAMETER',
      message: 'node_sets.C_walk must have a name that is no cell type of the model, got "C_walk".',
      path: '/node_sets/C_walk',
    });
  });

  it('may be all that a selector selects', () => {
    expect(failure(() => neurons('C_walk:center'))).toEqual({
      code: 'EMPTY_NODE_SET',
      message: 'The selector at /x must select at least one neuron, got none with "C_walk:center".',
      path: '/x',
    });
  });
});

describe('a synthetic brain', () => {
  it('has types that stand for published neurons', () => {
    expect(resolver(synthetic).neuronsOf(['@sweet', 'C_walk'], '/x')).toEqual({
      neurons: Uint32Array.from([...Array.from({ length: 12 }, (_, i) => i), 124, 125, 126, 127]),
      missing: [],
      substituted: ['@sweet'],
      sources: [SOURCE],
    });
    expect(resolver(measured).neuronsOf('@sweet', '/x').substituted).toEqual([]);
  });

  it('come with their source, wherever in a selector they stand', () => {
    const selectors: SetSelector[] = [
      '@sweet:right',
      { type: 'S_*', except: '@nobody2000/sweet' },
      ['C_walk', ['@sweet', 'mine']],
      'mine',
    ];
    const context = { node_sets: { mine: '@sweet' } };
    for (const selector of selectors) {
      expect(resolver(measured, context).neuronsOf(selector, '/x').sources).toEqual([SOURCE]);
    }
    expect(resolver(measured).neuronsOf(['S_sugar', '@channel/escape'], '/x').sources).toEqual([]);
  });

  it('lacks sets for which no type stands', () => {
    for (const name of ['@nameless', '@partly']) {
      expect(failure(() => resolver(synthetic).neuronsOf(name, '/x'))).toEqual({
        code: 'UNKNOWN_NEURONS',
        message: `The model lacks "${name}" (the brain is synthetic, and no cell type stands for this set there).`,
        path: '/x',
      });
    }
  });

  it('has no root ids, not even its own', () => {
    const selector = { type: 'S_sugar', except: { root_id: 'N_0001' } };
    expect(
      failure(() => resolver(synthetic, { on_missing: 'skip' }).neuronsOf(selector, '/x')),
    ).toMatchObject({
      code: 'INVALID_PARAMETER',
      path: '/x/except/root_id',
      message:
        'x.except.root_id must be types, classes or published sets: the cells of a synthetic brain have no root ids, got ' +
        '"N_0001".',
    });
  });
});

describe('the brain of another fly', () => {
  const content = smallConnectome();
  const other = opened({
    ...content,
    metadata: { ...content.metadata, dataset: 'MaleCNS', wiring: 'measured' },
    neuronIds: Array.from({ length: content.metadata.neuronCount }, (_, i) => String(10_001 + i)),
  });
  const sets = new PublishedNodeSets(published.publications, {
    ...published.sets,
    elsewhere: { ...set([idOf(3)], ['S_gone']), types_elsewhere: ['C_walk'] },
  });
  const found = (connectome: Connectome, name: string) =>
    new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'error' }, sets).neuronsOf(name, '/x');

  it('has types that stand for published neurons, whatever it calls them', () => {
    expect(found(other, '@sweet')).toMatchObject({
      neurons: Uint32Array.from({ length: 12 }, (_, i) => i),
      substituted: ['@sweet'],
    });
    expect([...found(other, '@elsewhere').neurons]).toEqual([124, 125, 126, 127]);
    expect(failure(() => found(other, '@nameless'))).toMatchObject({
      message:
        'The model lacks "@nameless" (the brain is not that of FlyWire, and no cell type stands for this set there).',
    });
    // Another name for neurons of FlyWire: they have its ids.
    const renamed = opened({
      ...content,
      metadata: { ...content.metadata, dataset: 'Mine', wiring: 'custom' },
      neuronIds: Array.from({ length: content.metadata.neuronCount }, (_, i) => idOf(i)),
    });
    expect(found(renamed, '@sweet')).toMatchObject({ neurons: Uint32Array.of(1, 3), substituted: [] });
  });

  it('has root ids of its own', () => {
    const own = resolver(other).neuronsOf({ root_id: ['10002', '10001'] }, '/x');
    expect([...own.neurons]).toEqual([0, 1]);
  });
});

describe('the published sets', () => {
  it('are found only by their names, with or without their publication', () => {
    const sets = publishedNodeSets();
    expect(sets.find('sugar')!.root_ids).toHaveLength(20);
    expect(sets.find('shiu2024/sugar')).toBe(sets.find('sugar'));
    for (const name of ['', 'salt', 'constructor', 'nobody/sugar', 'shiu2024/sugar/x', '__proto__']) {
      expect(sets.find(name)).toBeUndefined();
    }
  });
});
