/** Edits of the network in a plan: the protocols of conditions, their facts in the answer, and their cost. */
import fc from 'fast-check';
import { planOf, refusalOf } from '../../../test/support/open-experiments.js';
import { smallBrain } from '../../../test/support/small-brain.js';
import { populationsOf } from '../../../test/support/tables.js';
import { buildConnectome } from '../../tools/compiler/build-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { MAX_OVERRIDES } from '../../engine/simulation/connection-factors.js';
import type { Protocol } from '../../engine/stimulus/protocol.js';
import { EDIT_SCHEMAS } from '../kinds/edit-kinds.js';
import type { ExperimentPlan } from './plan.js';
import { priceMs } from './prices.js';
import { valueAt } from '../kinds/grid.js';

/** A excites B and C, B excites C and itself, C excites nobody; D, of which there are two, excites A. */
const brain = smallBrain(
  [
    { id: '1', type: 'A' },
    { id: '2', type: 'B', side: 'left' },
    { id: '3', type: 'C', side: 'right' },
    { id: '4', type: 'D', side: 'left' },
    { id: '5', type: 'D', side: 'right' },
  ],
  [
    ['1', '2', 7],
    ['1', '3', 11],
    ['2', '3', 13],
    ['2', '2', 17],
    ['4', '1', 19],
    ['5', '1', 23],
  ],
);
const populations = populationsOf({ type: 'A' }, { motor: [{ type: 'C' }] });
const connectome = openConnectome(
  encodeConnectome(buildConnectome(brain, { signRule: 'predicted', populations })).buffer as ArrayBuffer,
);
const [A, B, C, D] = [0, 1, 2, 3] as const;
const ALL = { source: '@all', target: '@all', weight: 0.5 };

const plan = (document: object, limits = {}) => planOf(connectome, { duration_ms: 500, ...document }, limits);

/** The edited part of the protocol of a condition, with arrays as lists. */
function editedIn(own: ExperimentPlan, index = 0): object {
  const places = own.grid.coordinatesOf(index);
  const values = own.grid.axes.map((axis, at) => valueAt(axis, places[at]!));
  const { constants, overrides, silenced, silencedWindows } = own.condition(index, values)
    .protocol as Protocol;
  const asLists = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (_, each: unknown) => (each instanceof Uint32Array ? [...each] : each)));
  const edited = {
    ...(constants && { constants }),
    ...(overrides && { overrides }),
    ...(silenced.length > 0 && { silenced }),
    ...(silencedWindows && { silencedWindows }),
  };
  return asLists(edited) as object;
}

const parametersOf = (own: ExperimentPlan) => own.dryRun().conditions.map(({ parameters }) => parameters);

describe('constants', () => {
  it('are in the protocol if they differ from those of the model, in its units', () => {
    const constants = {
      synapse_mv: 0.3,
      excitatory_scale: 1.5,
      inhibitory_scale: 0,
      threshold_mv: -44,
      refractory_ms: 0.1 * 3,
      delay_ms: 20,
      input_event_mv: 50,
    };
    expect(editedIn(plan({ constants }))).toEqual({
      constants: {
        synapseMv: 0.3,
        excitatoryScale: 1.5,
        inhibitoryScale: 0,
        thresholdMv: -44,
        refractorySteps: 3,
        delaySteps: 200,
        inputEventMv: 50,
      },
    });
    const usual = {
      synapse_mv: 0.275,
      threshold_mv: -45,
      refractory_ms: 2.2,
      delay_ms: 1.8,
      input_event_mv: 68.75,
    };
    expect(editedIn(plan({ constants: { ...usual, excitatory_scale: 1, inhibitory_scale: 1 } }))).toEqual({});
    expect(editedIn(plan({ constants: { ...usual, delay_ms: 1.7 } }))).toEqual({
      constants: { delaySteps: 17 },
    });
  });

  it('stand in the answer, all of them, if the experiment changes one', () => {
    const resolved = (document: object) => plan(document).head.resolved['constants'];
    const usual = {
      synapse_mv: 0.275,
      excitatory_scale: 1,
      inhibitory_scale: 1,
      threshold_mv: -45,
      refractory_ms: 2.2,
      delay_ms: 1.8,
      input_event_mv: 68.75,
    };
    expect(resolved({})).toBeUndefined();
    expect(resolved({ constants: {} })).toBeUndefined();
    expect(resolved({ constants: { delay_ms: 2 } })).toEqual({ ...usual, delay_ms: 2 });
    expect(resolved({ sweep: [{ set: 'constants.delay_ms', values: [1, 2] }] })).toEqual(usual);
  });

  it('are swept with or without the member', () => {
    const sweep = [{ set: 'constants.synapse_mv', from: 0.25, to: 0.3, step: 0.025 }];
    const swept = plan({ sweep });
    expect([0, 1, 2].map((index) => editedIn(swept, index))).toEqual([
      { constants: { synapseMv: 0.25 } },
      {},
      { constants: { synapseMv: 0.3 } },
    ]);
    const both = plan({ constants: { synapse_mv: 1, delay_ms: 1 }, sweep });
    expect(editedIn(both, 1)).toEqual({ constants: { delaySteps: 10 } });
    expect(parametersOf(swept)[2]).toEqual({ 'constants.synapse_mv': 0.3 });
  });

  it('decide how many rows of spikes there may be', () => {
    const rows = (constants: object) =>
      plan({
        constants,
        trials: 1,
        duration_ms: 22,
        reports: { all: { node_set: '@all', type: 'spikes' } },
      }).dryRun().cost.spike_rows_at_most;
    // 220 steps, five neurons.
    expect(rows({})).toBe(5 * 10);
    expect(rows({ refractory_ms: 4.4 })).toBe(5 * 5);
    expect(rows({ refractory_ms: 0 })).toBe(5 * 220);
  });
});

describe('overrides', () => {
  it('warn if all that they change has the sign 0', () => {
    const silent = openConnectome(
      encodeConnectome(
        buildConnectome(
          smallBrain(
            [
              { id: '1', type: 'A', predictedSign: 0 },
              { id: '2', type: 'B' },
            ],
            [
              ['1', '2', 7],
              ['2', '1', 9],
              ['2', '2', 9],
            ],
          ),
          { signRule: 'predicted', populations: populationsOf({ type: 'A' }, { motor: [{ type: 'B' }] }) },
        ),
      ).buffer as ArrayBuffer,
    );
    const warningsOf = (source: string, more = {}) =>
      planOf(silent, { connection_overrides: { o: { source, target: '@all', weight: 2 } }, ...more })
        .warnings.filter(({ code }) => code === 'NO_EFFECT')
        .map(({ message }) => message);
    expect(warningsOf('A')).toEqual([
      'The override o changes nothing: the sources of its one connection have the sign 0 in the model, so they deliver ' +
        'nothing with any weight.',
    ]);
    expect(warningsOf('@all')).toEqual([]);
    expect(warningsOf('B')).toEqual([]);
    expect(warningsOf('A', { wiring: { shuffle: 'targets' } })).toEqual([]);
  });

  it('are in the protocol by their sorted names, with ascending neurons in shared memory', () => {
    const own = plan({
      connection_overrides: {
        z: { source: ['B', 'A'], target: 'C', weight: -1 },
        10: { source: '@all', target: 'B', weight: 0 },
        Z: { source: 'D', target: 'A', weight: 2 },
        9: { source: 'A', target: ['C', 'B'], weight: 0.5 },
      },
    });
    expect(editedIn(own)).toEqual({
      overrides: [
        { sources: [A, B, C, D, D + 1], targets: [B], weight: 0 },
        { sources: [A], targets: [B, C], weight: 0.5 },
        { sources: [D, D + 1], targets: [A], weight: 2 },
        { sources: [A, B], targets: [C], weight: -1 },
      ],
    });
    const { overrides = [] } = own.condition(0, []).protocol;
    for (const { sources, targets } of overrides) {
      expect([sources.buffer, targets.buffer].every((buffer) => buffer instanceof SharedArrayBuffer)).toBe(
        true,
      );
    }
  });

  it('are as many at most as an engine takes', () => {
    expect(EDIT_SCHEMAS['connection_overrides?'].maxProperties).toBe(MAX_OVERRIDES);
  });

  it('have their connections counted', () => {
    const { resolved } = plan({
      connection_overrides: {
        all: ALL,
        some: { source: ['A', 'C'], target: ['C', 'D', 'B'], weight: 0 },
        self: { source: 'B', target: 'B', weight: 0 },
      },
    }).head;
    expect(resolved['connection_overrides']).toEqual({
      all: { pairs: 6, synapses: 90 },
      self: { pairs: 1, synapses: 17 },
      some: { pairs: 2, synapses: 18 },
    });
    expect(resolved['connection_overrides.some.source']).toMatchObject({ neurons: 2, types: { A: 1, C: 1 } });
    expect(resolved['connection_overrides.some.target']).toMatchObject({ neurons: 4 });
    expect(plan({}).head.resolved['connection_overrides']).toBeUndefined();
  });

  it('with a weight of 1 are none', () => {
    const sweep = [{ set: 'connection_overrides.all.weight', values: [-1, 0, 1] }];
    const own = plan({ connection_overrides: { all: ALL }, sweep });
    expect([0, 1, 2].map((index) => editedIn(own, index))).toMatchObject([
      { overrides: [{ weight: -1 }] },
      { overrides: [{ weight: 0 }] },
      {},
    ]);
    expect(editedIn(own, 2)).toEqual({});
  });

  it('take groups in turn at one end, after a condition without it; groups without a connection are not run', () => {
    const as = 'connection_overrides.o.source';
    const document = {
      connection_overrides: {
        o: { source: 'B', target: 'C', weight: 0 },
        p: { source: 'D', target: 'A', weight: 0 },
      },
      sweep: [{ each: '@all', group_by: ['type'], as }],
    };
    const own = plan(document);
    const of = (type: string | null) => ({ [as]: type === null ? null : { type } });
    const { conditions, unchanged, resolved, cost } = own.dryRun();
    expect(conditions).toEqual([
      { index: 0, parameters: of(null) },
      { index: 1, parameters: of('A') },
      { index: 2, parameters: of('B') },
    ]);
    expect(unchanged).toEqual([of('C'), of('D')]);
    expect(resolved['connection_overrides']).toEqual({
      o: { pairs: 2, synapses: 24 },
      p: { pairs: 2, synapses: 42 },
    });
    const p = { sources: [D, D + 1], targets: [A], weight: 0 };
    expect([0, 1, 2].map((index) => editedIn(own, index))).toEqual([
      { overrides: [p] },
      { overrides: [{ sources: [A], targets: [C], weight: 0 }, p] },
      { overrides: [{ sources: [B], targets: [C], weight: 0 }, p] },
    ]);
    // Three conditions of ten trials of half a second.
    expect(cost.brain_seconds).toBe(15);
    expect(own.cost.work()).toMatchObject({ trials: 30, editedConditions: 3, editedPairs: 2 + 3 + 3 });
    // Only the baseline of that axis has nothing to prepare.
    const { p: _, ...alone } = document.connection_overrides;
    expect(plan({ ...document, connection_overrides: alone }).cost.work()).toMatchObject({
      editedConditions: 2,
      editedPairs: 2,
    });
  });

  it('may name so many connections in a condition, those of each override', () => {
    const both = { connection_overrides: { all: ALL, self: { source: 'B', target: 'B', weight: 0 } } };
    expect(() => plan(both, { overriddenPairs: 7 })).not.toThrow();
    expect(refusalOf(() => plan(both, { overriddenPairs: 6 }))).toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/connection_overrides',
      message:
        'The overrides of condition 0 name 7 connections; at most 6 are allowed. With smaller sets of neurons they would ' +
        'fit; constants change the weights of all connections.',
    });
    // The types A, B and D have two connections each, and each condition those of one.
    const as = 'connection_overrides.all.source';
    const sweep = [{ each: '@all', group_by: ['type'], as }];
    expect(() => plan({ ...both, sweep }, { overriddenPairs: 3 })).not.toThrow();
    expect(refusalOf(() => plan({ ...both, sweep }, { overriddenPairs: 2 })).message).toMatch(
      /of condition 1 name 3/,
    );
  });

  it('take groups at both ends: pairs of groups without a connection are not run', () => {
    const end = (name: string) => ({
      each: '@all',
      group_by: ['type'],
      as: `connection_overrides.all.${name}`,
    });
    const own = plan({ connection_overrides: { all: ALL }, sweep: [end('target'), end('source')] });
    const types = parametersOf(own).map((parameters) =>
      ['source', 'target'].map((name) => {
        const group = parameters[`connection_overrides.all.${name}`] as { type: string } | null;
        return group?.type ?? 'none';
      }),
    );
    expect(types).toEqual([
      ['none', 'none'],
      ['D', 'A'],
      ['A', 'B'],
      ['B', 'B'],
      ['A', 'C'],
      ['B', 'C'],
    ]);
    expect(own.dryRun().unchanged).toHaveLength(5 * 5 - 6);
    expect(own.cost.work()).toMatchObject({ editedConditions: 5, editedPairs: 6 });
  });

  it('of responders are priced as the largest group that there can be', () => {
    const sweep = [
      {
        each: { responders_of: 'baseline', top: 3 },
        group_by: ['type'],
        as: 'connection_overrides.all.source',
      },
    ];
    const own = plan({ connection_overrides: { all: ALL }, sweep });
    // A, B and D have two connections each.
    expect(own.cost.work()).toMatchObject({ editedConditions: 3, editedPairs: 6 });
    expect(own.isIdleAt(1)).toBe(false);
    const group = (neuron: number) => [{ labels: {}, neurons: Uint32Array.of(neuron) }];
    expect([B, C].map((neuron) => own.isIdleAt(1, group(neuron)))).toEqual([false, true]);
  });

  it('have a price with matched controls by the connections that other neurons have to the other end', () => {
    const controls = { connection_overrides: 'matched', count: 1 };
    const worksOf = (of: 'source' | 'target', other: object) => {
      const override = { all: { ...ALL, ...other } };
      const sweep = [{ each: ['A', 'D'], group_by: ['type'], as: `connection_overrides.all.${of}` }];
      const own = plan({ connection_overrides: override, sweep, controls, reports: { c: 'C' } });
      return own.cost.work().editedPairs;
    };
    // No neuron has more than one connection to C. D has none, so neither it nor its control is run.
    expect(worksOf('source', { target: 'C' })).toBe(2);
    // Both neurons D reach A, and D reaches nobody else.
    expect(worksOf('target', { source: 'D' })).toBe(2 * 2);
  });

  it('cost 10 ms a condition and 1 us a connection, if that is more than the time that is simulated', () => {
    const values = Array.from({ length: 9 }, (_, at) => at / 10);
    const sweep = [{ set: 'connection_overrides.all.weight', values }];
    const own = plan({ trials: 1, duration_ms: 100, connection_overrides: { all: ALL }, sweep, reports: {} });
    // 0.5 brain seconds for 10 ms, 1 / 20,000 for each of 6 connections, 1 / 100 for a trial.
    expect(priceMs(own.cost.work())).toBe(Math.ceil(9 * (500 + 6 / 20 + 10)));
    expect(own.condition(0, [0]).preparation).toEqual({ editedConditions: 1, editedPairs: 6 });
    expect(plan({}).condition(0, []).preparation).toBeUndefined();
  });
});

describe('wiring', () => {
  it('has a seed that changes nothing unless something is drawn', () => {
    const seeds = { set: 'wiring.seed', values: [1, 2] };
    const codesOf = (document: object) => plan(document).warnings.map(({ code }) => code);
    expect(codesOf({ sweep: [seeds] })).toContain('NO_EFFECT');
    expect(codesOf({ sweep: [seeds], wiring: { shuffle: 'targets' } })).not.toContain('NO_EFFECT');
    const jitters = { set: 'wiring.jitter', values: [0, 0.5] };
    expect(codesOf({ sweep: [seeds, jitters] })).not.toContain('NO_EFFECT');
  });
});

describe('silence', () => {
  it('has windows beside neurons that are silenced throughout', () => {
    const silence = [
      { node_set: 'B', start_ms: 200, end_ms: 400 },
      'C',
      { node_set: ['A', 'B'], start_ms: 0.1 },
    ];
    const own = plan({ silence });
    expect(own.head.experiment.silence).toEqual([
      silence[0],
      'C',
      { node_set: ['A', 'B'], start_ms: 0.1, end_ms: 500 },
    ]);
    expect(editedIn(own)).toEqual({
      silenced: [C],
      silencedWindows: [
        { neurons: [B], startStep: 2000, endStep: 4000 },
        { neurons: [A, B], startStep: 1, endStep: 5000 },
      ],
    });
    expect(own.head.resolved).toMatchObject({
      silence: { types: { C: 1 } },
      'silence.0': { types: { B: 1 } },
      'silence.2': { neurons: 2 },
    });
  });

  it('ends a window with the trial if a sweep decides how long that is, and takes groups beside it', () => {
    const own = plan({
      silence: [{ node_set: 'B', start_ms: 50 }],
      sweep: [
        { set: 'duration_ms', values: [100, 200] },
        { each: 'C', group_by: ['type'], as: 'silence' },
      ],
    });
    expect(own.head.experiment.silence).toEqual([{ node_set: 'B', start_ms: 50, end_ms: null }]);
    const windows = (endStep: number) => [{ neurons: [B], startStep: 500, endStep }];
    expect([0, 1, 2, 3].map((index) => editedIn(own, index))).toEqual([
      { silencedWindows: windows(1000) },
      { silenced: [C], silencedWindows: windows(1000) },
      { silencedWindows: windows(2000) },
      { silenced: [C], silencedWindows: windows(2000) },
    ]);
  });
});

describe('any edits', () => {
  const types = fc.subarray(['A', 'B', 'C', 'D', '@all'], { minLength: 1 });
  const tenths = (max: number) => fc.integer({ min: 0, max }).map((tenth) => tenth / 10);
  const constants = fc.record(
    {
      synapse_mv: tenths(100),
      threshold_mv: tenths(519).map((mv) => -mv),
      delay_ms: tenths(199).map((ms) => ms + 0.1),
    },
    { requiredKeys: [] },
  );
  const weights = fc.integer({ min: -200, max: 200 }).map((tenth) => tenth / 10);
  const overrides = fc.dictionary(
    fc.stringMatching(/^[A-Za-z0-9_-]{1,4}$/),
    // Every one has a connection.
    fc
      .record({ source: types, target: types, weight: weights })
      .map((override) => ({ ...override, target: '@all' })),
    { maxKeys: 6, noNullPrototype: true },
  );
  const items = fc.uniqueArray(
    fc.oneof(
      types,
      fc.record({ node_set: types, start_ms: tenths(2000), end_ms: tenths(2000).map((ms) => ms + 250) }),
    ),
    { maxLength: 4, selector: (item) => JSON.stringify(item) },
  );
  const documents = fc.record(
    { constants, connection_overrides: overrides, silence: items },
    { requiredKeys: [] },
  );
  const sourceless = ({
    connection_overrides: own = {},
  }: {
    connection_overrides?: Record<string, { source: string[] }>;
  }) => Object.values(own).some(({ source }) => source.every((type) => type === 'C'));

  it('are the same protocol and the same experiment in whatever order their names stand', () => {
    fc.assert(
      fc.property(documents, fc.infiniteStream(fc.nat()), (document, draws) => {
        fc.pre(!sourceless(document));
        const shuffled = Object.fromEntries(
          Object.entries(document.connection_overrides ?? {})
            .map((entry) => [entry, draws.next().value as number] as const)
            .sort(([, a], [, b]) => a - b)
            .map(([entry]) => entry),
        );
        const [own, other] = [
          plan(document),
          plan({
            connection_overrides: shuffled,
            silence: [],
            ...Object.fromEntries(
              Object.entries(document)
                .filter(([name]) => name !== 'connection_overrides')
                .reverse(),
            ),
          }),
        ];
        expect(editedIn(other)).toEqual(editedIn(own));
        expect(other.head.id).toBe(own.head.id);
        // A complete document is complete.
        expect(plan(own.head.experiment).head.id).toBe(own.head.id);
      }),
      { numRuns: 100 },
    );
  });

  it('that are left out or empty are not in the complete document', () => {
    const members = (document: object) => Object.keys(plan(document).head.experiment);
    const none = ['node_sets', 'inputs', 'silence', 'duration_ms', 'trials', 'seed', 'reports', 'on_missing'];
    expect(members({})).toEqual(none);
    expect(members({ constants: {}, connection_overrides: {} })).toEqual(none);
    expect(members({ connection_overrides: { all: ALL }, constants: { delay_ms: 1 } })).toEqual([
      ...none.slice(0, 3),
      'constants',
      'connection_overrides',
      ...none.slice(3),
    ]);
  });
});
