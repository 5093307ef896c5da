import type { WiringOrigin } from '../../engine/connectome/connectome.js';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { populationsOf } from '../../../test/support/tables.js';
import { type ChannelKind, type Selector } from '../../engine/connectome/populations.js';
import { CHANNEL_IDS, STIMULUS_IDS } from '../../experiments/presets/populations.js';
import { type Brain, FLYWIRE_783 } from './brain.js';
import { buildConnectome } from './build-connectome.js';
import { readPopulations } from './populations.js';

/** id, type, side, super class, class */
const NEURONS = [
  ['1', 'LPLC2', 'left', 'visual_projection', ''],
  ['2', 'LPLC2', 'right', 'visual_projection', ''],
  ['3', 'LC4', 'left', 'visual_projection', ''],
  ['4', 'BM_Ant', 'left', 'sensory', 'mechanosensory'],
  ['5', 'BM_InOm', 'left', 'sensory', 'mechanosensory'],
  ['6', 'DNp01', 'left', 'descending', ''],
  ['7', 'renamed', 'right', 'descending', ''],
  ['8', 'a+b', 'right', 'central', ''],
] as const;

function brain(wiring: WiringOrigin = 'measured'): Brain {
  const column = (k: number) => NEURONS.map((neuron) => neuron[k]!);
  const none = new Uint32Array(0);
  return {
    identity: { ...FLYWIRE_783, wiring },
    minimumSynapses: 5,
    neurons: {
      count: NEURONS.length,
      ids: column(0),
      labels: {
        type: column(1),
        side: column(2),
        super_class: column(3),
        class: column(4),
        sub_class: NEURONS.map(() => ''),
      },
      signs: { predicted: new Int8Array(8).fill(1), corrected: new Int8Array(8).fill(1) },
      positionsNm: new Int32Array(24),
      positionEstimated: new Uint8Array(8),
    },
    connections: { count: 0, pre: none, post: none, synapseCounts: new Uint16Array(0) },
    sources: [],
    provenance: [],
  };
}

function selected(selectors: readonly Selector[], of: Brain = brain()) {
  const populations = populationsOf({ type: 'LC4' }, { sugar: selectors });
  const {
    metadata,
    populations: neurons,
    neuronIds,
  } = buildConnectome(of, { signRule: 'predicted', populations });
  expect(metadata.stimuli[0]).toMatchObject({ id: 'sugar', neuronCount: neurons[0]!.length });
  return { ids: [...neurons[0]!].map((place) => neuronIds[place]!), remarks: metadata.provenance };
}

describe('a selector', () => {
  it.each<[string, Selector, string[]]>([
    ['a type', { type: 'LPLC2' }, ['1', '2']],
    ['a wildcard at the end', { type: 'LPLC*' }, ['1', '2']],
    ['a wildcard at the beginning', { type: '*01' }, ['6']],
    ['a wildcard in the middle', { type: 'B*t' }, ['4']],
    ['a wildcard and nothing else', { type: 'LC4*' }, ['3']],
    ['a type with signs that mean something in patterns', { type: 'a+*' }, ['8']],
    ['a type and a side', { type: 'LPLC2', side: 'right' }, ['2']],
    ['a super class', { super_class: 'descending' }, ['6', '7']],
    ['a class without some types', { class: 'mechanosensory', except: ['BM_In*'] }, ['4']],
  ])('by %s', (_, selector, ids) => {
    expect(selected([selector]).ids).toEqual(ids);
  });

  it('adds up with others, each neuron once, in ascending order', () => {
    expect(selected([{ super_class: 'sensory' }, { type: 'BM_Ant' }, { type: 'LC4' }]).ids).toEqual([
      '3',
      '4',
      '5',
    ]);
  });

  it('goes by root ids in measured wiring and reports labels that disagree', () => {
    expect(selected([{ type: 'DNp01', root_ids: ['6'] }])).toEqual({ ids: ['6'], remarks: [] });
    const { ids, remarks } = selected([{ type: 'DNp01', root_ids: ['7', '99'] }]);
    expect(ids).toEqual(['7']);
    expect(remarks).toEqual([
      'stimulus sugar: the root ids of type "DNp01" decide, but the labels disagree: ' +
        '7 is type "renamed", class "", sub_class "", super_class "descending", side "right"; ' +
        '6 matches, too; 99 is not in the tables.',
    ]);
  });

  it('goes by labels in a synthetic brain, whose ids are made up', () => {
    expect(selected([{ type: 'DNp01', root_ids: ['7'] }], brain('synthetic'))).toEqual({
      ids: ['6'],
      remarks: [],
    });
  });

  it.each<[string, Selector, string]>([
    [
      'a type that is not there, with near matches',
      { type: 'LPLC3' },
      'stimulus sugar: The model lacks "LPLC3" (near: LPLC2)',
    ],
    [
      'a class that is not there',
      { type: 'BM_*', class: 'mechanosensor' },
      'stimulus sugar: The model lacks "mechanosensor" (near: mechanosensory)',
    ],
    ['nothing near', { type: 'Q' }, 'stimulus sugar: The model lacks "Q"'],
    [
      'members that match apart, but not together',
      { type: 'LC4', side: 'right' },
      'stimulus sugar: The selector must select at least one neuron, got none with {"type":"LC4","side":"right"}',
    ],
    [
      'exceptions that leave nothing',
      { type: 'LC4', except: ['LC*'] },
      'stimulus sugar: The selector must select at least one neuron, got none with {"type":"LC4","except":["LC*"]}',
    ],
    [
      'an exception that is not there',
      { class: 'mechanosensory', except: ['BM_Inom'] },
      'stimulus sugar: The model lacks "BM_Inom" (near: BM_InOm, BM_Ant)',
    ],
    [
      'root ids of another release',
      { type: 'LC4', root_ids: ['77', '78'] },
      'stimulus sugar: none of the root ids 77, 78 is in the tables',
    ],
  ])('is refused: %s', (_, selector, what) => {
    expect(() => selected([{ type: 'LPLC2' }, selector])).toThrow(
      expect.objectContaining({
        code: 'POPULATIONS_INVALID',
        message: `The populations do not fit: ${what}.`,
      }) as Error,
    );
  });
});

describe('the kind of a channel', () => {
  const withKind = (kind: ChannelKind, selector: Selector) => () =>
    buildConnectome(brain(), {
      signRule: 'predicted',
      populations: populationsOf({ type: 'LC4' }, { escape: [selector] }, kind),
    });

  it('is that of all its neurons', () => {
    const refusals: [ChannelKind, Selector, string][] = [
      [
        'station',
        { type: 'DNp01' },
        'neuron 6 of type "DNp01" has the super class "descending", which makes it "descending"',
      ],
      [
        'motor',
        { type: 'DNp01' },
        'neuron 6 of type "DNp01" has the super class "descending", which makes it "descending"',
      ],
      [
        'descending',
        { type: 'LC4' },
        'neuron 3 of type "LC4" has the super class "visual_projection", which makes it "station"',
      ],
    ];
    for (const [kind, selector, what] of refusals) {
      expect(withKind(kind, selector)).toThrow(
        `The populations do not fit: channel escape: its kind is "${kind}", but ${what}.`,
      );
    }
    expect(withKind('station', { type: 'LPLC2' })).not.toThrow();
  });
});

describe('a populations file', () => {
  const written = (change: (definitions: Record<string, unknown[]>) => unknown) => {
    const definitions = populationsOf({ type: 'LC4' }) as unknown as Record<string, unknown[]>;
    const path = join(mkdtempSync(join(tmpdir(), 'populations-')), 'populations.json');
    writeFileSync(path, JSON.stringify(change(definitions)));
    return path;
  };
  const refused = (path: string, message: string) =>
    expect(() => readPopulations(path)).toThrow(
      expect.objectContaining({ code: 'POPULATIONS_INVALID', message }) as Error,
    );

  it('is read in its own order', () => {
    const path = written(({ stimuli, channels }) => ({
      stimuli: stimuli!.toReversed(),
      channels: channels!.toReversed(),
    }));
    const { stimuli, channels } = readPopulations(path);
    expect(stimuli.map(({ id }) => id)).toEqual(STIMULUS_IDS.toReversed());
    expect(channels.map(({ id }) => id)).toEqual(CHANNEL_IDS.toReversed());
  });

  it('of the project holds every population', () => {
    const { stimuli, channels } = readPopulations();
    expect(stimuli.map(({ id }) => id)).toEqual([...STIMULUS_IDS]);
    expect(channels.map(({ id }) => id)).toEqual([...CHANNEL_IDS]);
  });

  it('may leave populations out, and holds none twice', () => {
    const without = written(({ stimuli }) => ({ stimuli: stimuli!.slice(1), channels: [] }));
    expect(readPopulations(without)).toMatchObject({
      stimuli: { length: STIMULUS_IDS.length - 1 },
      channels: { length: 0 },
    });
    const doubled = written(({ stimuli, channels }) => ({ stimuli, channels: [...channels!, channels![0]] }));
    refused(doubled, 'The populations do not fit: expected channel escape once, found it twice.');
  });

  it('may hold populations that version 1 does not know, under ids that need no escaping', () => {
    const withId = (id: string) =>
      written(({ stimuli, channels }) => ({
        stimuli: [...stimuli!, { ...(stimuli![0] as object), id }],
        channels: [...channels!, { ...(channels![0] as object), id }],
      }));
    const { stimuli, channels } = readPopulations(withId('halteres_2'));
    expect([stimuli.at(-1)!.id, channels.at(-1)!.id]).toEqual(['halteres_2', 'halteres_2']);
    expect(() => readPopulations(withId('Halteres, left'))).toThrow(
      expect.objectContaining({
        code: 'POPULATIONS_INVALID',
        message: expect.stringContaining(`stimuli[${STIMULUS_IDS.length}].id must be`) as string,
      }) as Error,
    );
  });

  it('is checked against its schema', () => {
    const misspelt = written(({ stimuli, channels }) => ({
      stimuli: stimuli!.map((each) => ({ ...(each as object), selectors: [{ type: 'LC4', clas: 'x' }] })),
      channels,
    }));
    refused(
      misspelt,
      'populations.json: stimuli[0].selectors[0] may have the members type, class, sub_class, super_class, side, except, ' +
        'root_ids, got "clas"; near: class.',
    );
    const onSide = written(({ stimuli, channels }) => ({
      stimuli: stimuli!.map((each) => ({ ...(each as object), selectors: [{ side: 'left' }] })),
      channels,
    }));
    refused(
      onSide,
      'populations.json: stimuli[0].selectors[0] must have one of the members type, class, sub_class, super_class.',
    );
  });

  it('is refused when it is no JSON or not there', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'populations-')), 'none.json');
    expect(() => readPopulations(path)).toThrow(/none\.json cannot be read: .*ENOENT/);
    writeFileSync(path, '{"stimuli": [}');
    expect(() => readPopulations(path)).toThrow(/none\.json is not JSON: /);
  });
});

describe('data/populations.json', () => {
  it('is as the schema and the contract want it', () => {
    const { stimuli, channels } = readPopulations();
    expect(stimuli.filter(({ nominalRateHz }) => nominalRateHz !== 150)).toMatchObject([
      { id: 'colour', nominalRateHz: 50 },
    ]);
    expect(channels).toHaveLength(CHANNEL_IDS.length);
  });
});
