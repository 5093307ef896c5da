/** Experiments that edit the network, through to their answers: laws that hold whatever the wiring is. */
import fc from 'fast-check';
import {
  answerOf,
  localTrials,
  planOf,
  rowsOf,
  tableIn,
  type Answer,
} from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const runTrial = localTrials(connectome);
const INTERNEURONS = { super_class: 'central', sub_class: 'inter' };
const BASE = {
  inputs: { s: { node_set: ['S_sugar', 'S_loom'], rate_hz: 200 } },
  duration_ms: 120,
  trials: 2,
  reports: { all: { node_set: '@all', type: 'spikes' } },
};

const run = (document: object): Promise<Answer> =>
  answerOf(planOf(connectome, { ...BASE, ...document }), runTrial);

/** All that is known of each condition: spikes of all neurons, and events that were delivered. */
async function found(document: object) {
  const { conditions } = await run(document);
  return conditions.map((condition) => ({
    spikes: rowsOf(tableIn(condition, 'all')),
    events: condition.synaptic_events,
  }));
}

const cut = (source: unknown, target: unknown = '@all') => ({ source, target, weight: 0 });

describe('an edited network', () => {
  it('in which all outputs of a set are cut is one in which the set is silenced', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(
          ['S_sugar', 'S_loom', 'C_walk', 'C_motor', INTERNEURONS, { ...INTERNEURONS, side: 'left' }],
          {
            minLength: 1,
          },
        ),
        fc.integer({ min: 0, max: 1000 }),
        async (set, seed) => {
          const [silenced] = await found({ seed, silence: set });
          const [overridden] = await found({ seed, connection_overrides: { o: cut(set) } });
          const [throughout] = await found({ seed, silence: [{ node_set: set }] });
          expect(overridden).toEqual(silenced);
          expect(throughout).toEqual(silenced);
          expect(silenced!.spikes.length).toBeGreaterThan(20);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('with s times the synapse is one with the threshold s times as near and an s-th of the input event', async () => {
    const spikes = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        // Powers of two change no digit of a double.
        fc.constantFrom(0.25, 0.5, 2, 4),
        fc.integer({ min: 0, max: 1000 }),
        async (s, seed) => {
          const [stronger] = await found({ seed, constants: { synapse_mv: 0.275 * s } });
          const constants = { threshold_mv: -52 + 7 / s, input_event_mv: 68.75 / s };
          expect((await found({ seed, constants }))[0]).toEqual(stronger);
          const scales = { excitatory_scale: s, inhibitory_scale: s };
          expect((await found({ seed, constants: scales }))[0]).toEqual(stronger);
          spikes.add(stronger!.spikes.length);
        },
      ),
      { numRuns: 8 },
    );
    expect(spikes.size).toBeGreaterThan(2);
  });

  it('is the measured one with weights of 1 and constants of the model', async () => {
    const [plain] = await found({});
    const constants = { synapse_mv: 0.275, excitatory_scale: 1, threshold_mv: -45, delay_ms: 1.8 };
    const connection_overrides = { o: { source: '@all', target: '@all', weight: 1 } };
    expect((await found({ constants, connection_overrides }))[0]).toEqual(plain);
    // Two overrides of all connections, whose product is 1.
    const [doubled] = await found({
      connection_overrides: {
        a: { ...connection_overrides.o, weight: 2 },
        b: { ...cut('@all'), weight: 0.5 },
      },
    });
    expect(doubled).toEqual(plain);
  });

  it('with half the weight of every connection is one with half the synapse', async () => {
    const [halved] = await found({ constants: { synapse_mv: 0.1375 } });
    const [overridden] = await found({ connection_overrides: { o: { ...cut('@all'), weight: 0.5 } } });
    expect(overridden!.events).toBe(halved!.events);
    expect(overridden!.spikes).toEqual(halved!.spikes);
  });

  it('has a condition in a sweep as in an experiment of its own', async () => {
    const o = cut('S_sugar', INTERNEURONS);
    const sweep = [
      { set: 'constants.synapse_mv', values: [0.2, 0.3] },
      { set: 'connection_overrides.o.weight', values: [0, 1, -2] },
    ];
    const swept = await found({ connection_overrides: { o }, sweep });
    const alone = [0.2, 0.3].flatMap((synapse_mv) =>
      [0, 1, -2].map((weight) => ({
        constants: { synapse_mv },
        connection_overrides: { o: { ...o, weight } },
      })),
    );
    for (const [index, document] of alone.entries()) expect((await found(document))[0]).toEqual(swept[index]);
    expect(new Set(swept.map(({ events }) => events)).size).toBe(6);
  });

  it('has the groups of an end as single overrides, and none in the baseline', async () => {
    const overridden = (end: 'source' | 'target', each: unknown, o: object) => ({
      connection_overrides: { o },
      sweep: [{ each, group_by: ['type'], as: `connection_overrides.o.${end}` }],
    });
    // Interneurons, which have no type, are all that reaches C_motor, and all that S_sugar reaches.
    const sources = overridden('source', ['S_sugar', INTERNEURONS], cut('S_heat', 'C_motor'));
    const targets = overridden('target', ['C_walk', INTERNEURONS], {
      ...cut('S_sugar', 'C_motor'),
      weight: -2,
    });
    const plain = (await found({}))[0];
    for (const [document, unchanged, o] of [
      [sources, 'S_sugar', cut(INTERNEURONS, 'C_motor')],
      [targets, 'C_walk', { ...cut('S_sugar', INTERNEURONS), weight: -2 }],
    ] as const) {
      const { as } = document.sweep[0]!;
      const { conditions, totals } = await run(document);
      expect(conditions.map(({ parameters }) => parameters[as])).toEqual([null, { type: '' }]);
      expect(totals.unchanged).toEqual([{ [as]: { type: unchanged } }]);
      expect(totals.cost.brain_seconds).toBe(2 * 2 * 0.12);
      const [without, of] = await found(document);
      expect(without).toEqual(plain);
      expect(of).toEqual((await found({ connection_overrides: { o } }))[0]);
      expect(of).not.toEqual(plain);
    }
  });

  it('has groups of responders at an end, those without a connection unchanged', async () => {
    const as = 'connection_overrides.o.source';
    const { conditions, totals } = await run({
      connection_overrides: { o: cut('S_heat', 'C_motor') },
      sweep: [{ each: { responders_of: 'baseline', top: 500 }, group_by: ['type'], as }],
    });
    expect(conditions.map(({ parameters }) => parameters[as])).toEqual([null, { type: '' }]);
    expect(totals.unchanged).toContainEqual({ [as]: { type: 'S_sugar' } });
    expect(totals.unchanged.length).toBeGreaterThan(5);
  });
});

describe('unchanged lesions of an edited network', () => {
  const as = 'silence';
  const edits = {
    'overridden connections': { connection_overrides: { o: { ...cut('S_sugar', INTERNEURONS), weight: 3 } } },
    'other constants': { constants: { synapse_mv: 0.4, delay_ms: 5, refractory_ms: 0.5 } },
    'windows of silence': {
      silence: [
        { node_set: 'S_sugar', start_ms: 20, end_ms: 60 },
        { node_set: { ...INTERNEURONS, side: 'left' }, start_ms: 0.1, end_ms: 100 },
      ],
    },
  };

  it.each(Object.entries(edits))('are those that a run finds: %s', async (_, edit) => {
    const sweep = [{ each: ['S_*', 'C_*', INTERNEURONS], group_by: ['type'], as }];
    const { conditions, totals } = await run({ ...edit, sweep, trials: 1 });
    const baseline = {
      spikes: rowsOf(tableIn(conditions[0]!, 'all')),
      events: conditions[0]!.synaptic_events,
    };
    expect(totals.unchanged.length).toBeGreaterThanOrEqual(8);
    const silence = 'silence' in edit ? edit.silence : [];
    for (const parameters of totals.unchanged) {
      const { type } = parameters[as] as { type: string };
      expect((await found({ ...edit, silence: [...silence, type], trials: 1 }))[0]).toEqual(baseline);
    }
  });
});
