/** Documents that are refused for an edit of the network, each beside a neighbour that is taken. */
import { planOf } from '../../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../../connectome/format.js';
import { CodedError } from '../../../errors.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const plan = (document: object) => planOf(connectome, document, { conditions: 100 });

function refusal(document: object): CodedError {
  try {
    plan(document);
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(document)}`);
}

const constants = (members: object) => ({ constants: members });
const set = (parameter: string, ...values: unknown[]) => ({ sweep: [{ set: parameter, values }] });
const OVERRIDE = { source: 'S_sugar', target: '@all', weight: 0.5 };
const override = (members: object, name = 'direct') => ({
  connection_overrides: { [name]: { ...OVERRIDE, ...members } },
});
const overrides = (count: number) => ({
  connection_overrides: Object.fromEntries(Array.from({ length: count }, (_, at) => [`o${at}`, OVERRIDE])),
});
const sweptEnd = (as: string, group_by = ['type'], each: unknown = 'S_*') => ({ each, group_by, as });
const ends = (...sweep: object[]) => ({ ...override({}), sweep });
const SOURCE = 'connection_overrides.direct.source';
const TARGET = 'connection_overrides.direct.target';
const RESPONDERS = { responders_of: 'baseline', top: 2 };
const silence = (...items: unknown[]) => ({ duration_ms: 500, silence: items });
const timed = (members: object) => silence({ node_set: 'S_sugar', start_ms: 100, end_ms: 200, ...members });
const durations = (...values: number[]) => set('duration_ms', ...values);

const wiring = (members: object) => ({ wiring: members });
const controls = (members: object) => ({ controls: { shuffle: 'weights', ...members } });

type Code = CodedError['code'];
const INVALID: Code = 'INVALID_PARAMETER';

it.each<[what: string, taken: object, refused: object, code: Code, path: string, message: RegExp]>([
  // Bounds, on either side.
  [
    'synapse above',
    constants({ synapse_mv: 10 }),
    constants({ synapse_mv: 10.1 }),
    INVALID,
    '/constants/synapse_mv',
    /from 0 to 10, got 10\.1/,
  ],
  [
    'synapse below',
    constants({ synapse_mv: 0 }),
    constants({ synapse_mv: -0.1 }),
    INVALID,
    '/constants/synapse_mv',
    /got -0\.1/,
  ],
  [
    'synapse as text',
    constants({ synapse_mv: 0.3 }),
    constants({ synapse_mv: '0.3' }),
    INVALID,
    '/constants/synapse_mv',
    /a number .*got "0\.3"/,
  ],
  [
    'synapse as null',
    constants({}),
    constants({ synapse_mv: null }),
    INVALID,
    '/constants/synapse_mv',
    /got null/,
  ],
  [
    'excitatory scale',
    constants({ excitatory_scale: 10 }),
    constants({ excitatory_scale: 11 }),
    INVALID,
    '/constants/excitatory_scale',
    /got 11/,
  ],
  [
    'inhibitory scale',
    constants({ inhibitory_scale: 0 }),
    constants({ inhibitory_scale: -1 }),
    INVALID,
    '/constants/inhibitory_scale',
    /got -1/,
  ],
  [
    'threshold at rest',
    constants({ threshold_mv: -51.9 }),
    constants({ threshold_mv: -52 }),
    INVALID,
    '/constants/threshold_mv',
    /from -51\.9 to 0/,
  ],
  [
    'threshold above',
    constants({ threshold_mv: 0 }),
    constants({ threshold_mv: 0.1 }),
    INVALID,
    '/constants/threshold_mv',
    /got 0\.1/,
  ],
  [
    'refractory period above',
    constants({ refractory_ms: 50 }),
    constants({ refractory_ms: 50.1 }),
    INVALID,
    '/constants/refractory_ms',
    /multiple of 0\.1 from 0 to 50/,
  ],
  [
    'refractory period between steps',
    constants({ refractory_ms: 0.3 }),
    constants({ refractory_ms: 0.25 }),
    INVALID,
    '/constants/refractory_ms',
    /got 0\.25/,
  ],
  [
    'no delay',
    constants({ delay_ms: 0.1 }),
    constants({ delay_ms: 0 }),
    INVALID,
    '/constants/delay_ms',
    /from 0\.1 to 20, got 0/,
  ],
  [
    'delay above',
    constants({ delay_ms: 20 }),
    constants({ delay_ms: 20.1 }),
    INVALID,
    '/constants/delay_ms',
    /got 20\.1/,
  ],
  [
    'input event above',
    constants({ input_event_mv: 1000 }),
    constants({ input_event_mv: 1001 }),
    INVALID,
    '/constants/input_event_mv',
    /got 1001/,
  ],
  ['constants as a list', constants({}), { constants: [] }, INVALID, '/constants', /a JSON object, got \[\]/],
  [
    'an unknown constant',
    constants({ synapse_mv: 0.3 }),
    constants({ synapsemv: 0.3 }),
    INVALID,
    '/constants/synapsemv',
    /near: synapse_mv/,
  ],
  [
    'a time constant of the membrane',
    constants({ delay_ms: 1 }),
    constants({ tau_membrane_ms: 10 }),
    INVALID,
    '/constants/tau_membrane_ms',
    /^constants\.tau_membrane_ms cannot be set: the time constants are fixed, because .* ratio\.$/,
  ],
  [
    'a time constant of the synapse',
    constants({ delay_ms: 1 }),
    constants({ delay_ms: 1, tau_synapse_ms: 5 }),
    INVALID,
    '/constants/tau_synapse_ms',
    /cannot be set/,
  ],
  [
    'a set with the name of the facts',
    { node_sets: { constants: 'S_sugar' } },
    { node_sets: { constants: 'S_sugar' }, ...constants({ delay_ms: 1 }) },
    INVALID,
    '/node_sets/constants',
    /must not have the name constants/,
  ],
  // Sweeps of constants.
  [
    'a swept time constant',
    set('constants.delay_ms', 1),
    set('constants.tau_synapse_ms', 5),
    INVALID,
    '/sweep/0/set',
    /cannot be constants\.tau_synapse_ms: the time constants are fixed/,
  ],
  [
    'a swept unknown constant',
    set('constants.delay_ms', 1),
    set('constants.delay', 1),
    INVALID,
    '/sweep/0/set',
    /near: constants\.delay_ms/,
  ],
  [
    'a swept constant out of bounds',
    set('constants.excitatory_scale', 1, 10),
    set('constants.excitatory_scale', 1, 10.5),
    INVALID,
    '/sweep/0/values/1',
    /got 10\.5/,
  ],
  [
    'a swept delay between steps',
    set('constants.delay_ms', 1.8),
    set('constants.delay_ms', 1.85),
    INVALID,
    '/sweep/0/values/0',
    /got 1\.85/,
  ],
  [
    'a set with the name of swept facts',
    { node_sets: { constants: 'S_sugar' }, ...set('seed', 1) },
    { node_sets: { constants: 'S_sugar' }, ...set('constants.delay_ms', 1) },
    INVALID,
    '/node_sets/constants',
    /must not have the name/,
  ],
  // Overrides.
  [
    'a weight above',
    override({ weight: 20 }),
    override({ weight: 20.5 }),
    INVALID,
    '/connection_overrides/direct/weight',
    /from -20 to 20, got 20\.5/,
  ],
  [
    'a weight below',
    override({ weight: -20 }),
    override({ weight: -21 }),
    INVALID,
    '/connection_overrides/direct/weight',
    /got -21/,
  ],
  [
    'no weight',
    override({}),
    { connection_overrides: { direct: { source: 'S_sugar', target: '@all' } } },
    INVALID,
    '/connection_overrides/direct/weight',
    /must have the member weight/,
  ],
  [
    'no source',
    override({}),
    { connection_overrides: { direct: { target: '@all', weight: 1 } } },
    INVALID,
    '/connection_overrides/direct/source',
    /must have the member source/,
  ],
  [
    'an unknown member',
    override({}),
    override({ sources: 'S_sugar' }),
    INVALID,
    '/connection_overrides/direct/sources',
    /near: source/,
  ],
  [
    'a name with a dot',
    override({}, 'a-b'),
    override({}, 'a.b'),
    INVALID,
    '/connection_overrides',
    /got "a\.b"/,
  ],
  ['too many', overrides(32), overrides(33), INVALID, '/connection_overrides', /at most 32 members, got 33/],
  [
    'a list of them',
    { connection_overrides: {} },
    { connection_overrides: [OVERRIDE] },
    INVALID,
    '/connection_overrides',
    /a JSON object/,
  ],
  [
    'an unknown source',
    override({}),
    override({ source: 'S_suger' }),
    'UNKNOWN_NEURONS',
    '/connection_overrides/direct/source',
    /near: S_sugar/,
  ],
  [
    'a target that is a number',
    override({}),
    override({ target: 5 }),
    INVALID,
    '/connection_overrides/direct/target',
    /got 5/,
  ],
  [
    'a target without neurons',
    override({}),
    override({ target: { type: 'S_sugar', except: 'S_*' } }),
    'EMPTY_NODE_SET',
    '/connection_overrides/direct/target',
    /at least one neuron/,
  ],
  [
    'no connection',
    override({}),
    override({ target: 'C_walk' }),
    'NO_CONNECTION',
    '/connection_overrides/direct',
    /^connection_overrides\.direct must have a connection from one of its 12 source neurons to one of its 4 target neurons, found none\.$/,
  ],
  [
    'no connection the other way',
    override({}),
    override({ source: 'C_*', target: 'S_*' }),
    'NO_CONNECTION',
    '/connection_overrides/direct',
    /84 source neurons .* 120 target neurons/,
  ],
  [
    'a set with the name of an end',
    { node_sets: { [SOURCE]: 'S_sugar' } },
    { node_sets: { [SOURCE]: 'S_sugar' }, ...override({}) },
    INVALID,
    `/node_sets/${SOURCE}`,
    /must not have the name/,
  ],
  // Sweeps of overrides.
  [
    'a swept weight out of bounds',
    { ...override({}), ...set('connection_overrides.direct.weight', 0, 1) },
    { ...override({}), ...set('connection_overrides.direct.weight', 0, 30) },
    INVALID,
    '/sweep/0/values/1',
    /got 30/,
  ],
  [
    'a swept weight of another',
    { ...override({}), ...set('connection_overrides.direct.weight', 0) },
    { ...override({}), ...set('connection_overrides.other.weight', 0) },
    INVALID,
    '/sweep/0/set',
    /near: connection_overrides\.direct\.weight|one of/,
  ],
  [
    'a swept end that is a number',
    ends(sweptEnd(SOURCE)),
    { ...override({}), ...set(SOURCE, 0) },
    INVALID,
    '/sweep/0/set',
    /connection_overrides\.NAME\.weight/,
  ],
  [
    'groups as a weight',
    ends(sweptEnd(SOURCE)),
    ends(sweptEnd('connection_overrides.direct.weight')),
    INVALID,
    '/sweep/0/as',
    /connection_overrides\.NAME\.source/,
  ],
  [
    'groups of an unknown override',
    ends(sweptEnd(TARGET)),
    { sweep: [sweptEnd(TARGET)] },
    INVALID,
    '/sweep/0/as',
    /got "connection_overrides\.direct\.target"/,
  ],
  [
    'an end twice',
    ends(sweptEnd(SOURCE), sweptEnd(TARGET, ['side'])),
    ends(sweptEnd(SOURCE), sweptEnd(SOURCE, ['side'])),
    INVALID,
    '/sweep/1/as',
    /item 0 is the same/,
  ],
  [
    'responders at both ends',
    ends(sweptEnd(SOURCE, ['side'], RESPONDERS)),
    ends(sweptEnd(TARGET, ['side']), sweptEnd(SOURCE, ['side'], RESPONDERS)),
    INVALID,
    '/sweep/1/as',
    /responders/,
  ],
  [
    'too many groups',
    ends(sweptEnd(SOURCE)),
    ends(sweptEnd(SOURCE, ['neuron'])),
    INVALID,
    '/sweep',
    /at most 100 conditions/,
  ],
  // Windows of silence.
  [
    'a window from the end on',
    timed({ start_ms: 499.9, end_ms: 500 }),
    timed({ start_ms: 500, end_ms: 500 }),
    INVALID,
    '/silence/0/start_ms',
    /less than the trial, 500 ms/,
  ],
  [
    'a window beyond the trial',
    timed({ end_ms: 500 }),
    timed({ end_ms: 500.1 }),
    INVALID,
    '/silence/0/end_ms',
    /at most the trial, 500 ms, got 500\.1/,
  ],
  [
    'an empty window',
    timed({ start_ms: 199.9 }),
    timed({ start_ms: 200 }),
    INVALID,
    '/silence/0/end_ms',
    /more than start_ms, 200/,
  ],
  [
    'a window between steps',
    timed({ end_ms: 200.1 }),
    timed({ end_ms: 200.05 }),
    INVALID,
    '/silence/0/end_ms',
    /multiple of 0\.1/,
  ],
  [
    'a window before the trial',
    timed({ start_ms: 0 }),
    timed({ start_ms: -1 }),
    INVALID,
    '/silence/0/start_ms',
    /got -1/,
  ],
  [
    'a window without neurons',
    timed({}),
    silence({ start_ms: 100, end_ms: 200 }),
    INVALID,
    '/silence/0/node_set',
    /must have the member node_set/,
  ],
  [
    'a misspelt window',
    timed({}),
    timed({ stop_ms: 300 }),
    INVALID,
    '/silence/0/stop_ms',
    /node_set, start_ms, end_ms/,
  ],
  [
    'a label in a window',
    silence({ type: 'S_sugar' }),
    silence({ type: 'S_sugar', end_ms: 300 }),
    INVALID,
    '/silence/0/type',
    /node_set, start_ms, end_ms/,
  ],
  [
    'a misspelt label',
    silence({ type: 'S_sugar' }),
    silence({ typ: 'S_sugar' }),
    INVALID,
    '/silence/0/typ',
    /near: type/,
  ],
  [
    'a number in a window',
    timed({}),
    timed({ node_set: ['S_sugar', 5] }),
    INVALID,
    '/silence/0/node_set/1',
    /got 5/,
  ],
  [
    'unknown neurons of a window',
    timed({}),
    timed({ node_set: 'S_suger' }),
    'UNKNOWN_NEURONS',
    '/silence/0/node_set',
    /S_sugar/,
  ],
  [
    'no neurons in a window',
    timed({}),
    timed({ node_set: { type: 'S_sugar', except: 'S_*' } }),
    'EMPTY_NODE_SET',
    '/silence/0/node_set',
    /at least one neuron/,
  ],
  [
    'a window twice',
    silence('S_sugar', { node_set: 'S_sugar', end_ms: 9 }),
    silence({ node_set: 'S_sugar', end_ms: 9 }, { end_ms: 9, start_ms: 0, node_set: 'S_sugar' }),
    INVALID,
    '/silence/1',
    /item 0 is the same/,
  ],
  [
    'a window beyond the shortest trial',
    { ...timed({}), ...durations(200, 500) },
    { ...timed({}), ...durations(199, 500) },
    INVALID,
    '/silence/0/end_ms',
    /the shortest trial, 199 ms/,
  ],
  // Wiring and controls.
  [
    'a threshold below that of the model',
    wiring({ minimum_synapses: 5 }),
    wiring({ minimum_synapses: 4 }),
    INVALID,
    '/wiring/minimum_synapses',
    /at least 5: the model lacks connections of fewer synapses, got 4/,
  ],
  [
    'a swept threshold below that of the model',
    set('wiring.minimum_synapses', 5, 10),
    set('wiring.minimum_synapses', 10, 4),
    INVALID,
    '/sweep/0/values/1',
    /at least 5/,
  ],
  [
    'a threshold above all counts',
    wiring({ minimum_synapses: 8191 }),
    wiring({ minimum_synapses: 8192 }),
    INVALID,
    '/wiring/minimum_synapses',
    /got 8192/,
  ],
  [
    'half a synapse',
    wiring({ minimum_synapses: 10 }),
    wiring({ minimum_synapses: 10.5 }),
    INVALID,
    '/wiring/minimum_synapses',
    /a whole number|an integer/,
  ],
  [
    'an unknown shuffle',
    wiring({ shuffle: 'targets_within_super_class' }),
    wiring({ shuffle: 'target' }),
    INVALID,
    '/wiring/shuffle',
    /weights, targets, targets_within_super_class, got "target"/,
  ],
  [
    'a shuffle of validation alone',
    wiring({ shuffle: 'targets' }),
    wiring({ shuffle: 'targets_and_weights' }),
    INVALID,
    '/wiring/shuffle',
    /got "targets_and_weights"/,
  ],
  ['jitter below', wiring({ jitter: 0 }), wiring({ jitter: -0.1 }), INVALID, '/wiring/jitter', /from 0 to 2/],
  ['jitter above', wiring({ jitter: 2 }), wiring({ jitter: 2.1 }), INVALID, '/wiring/jitter', /got 2\.1/],
  ['a seed above', wiring({ seed: 2 ** 32 - 1 }), wiring({ seed: 2 ** 32 }), INVALID, '/wiring/seed', /got 4294967296/],
  ['an unknown member', wiring({}), wiring({ seeds: 1 }), INVALID, '/wiring/seeds', /near: seed/],
  ['wiring as a word', wiring({ shuffle: 'weights' }), { wiring: 'weights' }, INVALID, '/wiring', /a JSON object/],
  [
    'a swept jitter out of bounds',
    set('wiring.jitter', 0, 2),
    set('wiring.jitter', 0, 3),
    INVALID,
    '/sweep/0/values/1',
    /got 3/,
  ],
  [
    'a swept shuffle, which is no number',
    set('wiring.seed', 1, 2),
    set('wiring.shuffle', 1, 2),
    INVALID,
    '/sweep/0/set',
    /wiring\.seed/,
  ],
  ['no control', controls({ count: 1 }), controls({ count: 0 }), INVALID, '/controls/count', /from 1 to 1000/],
  ['half a control', controls({ count: 20 }), controls({ count: 1.5 }), INVALID, '/controls/count', /got 1\.5/],
  [
    'controls without a shuffle',
    controls({}),
    { controls: { count: 2 } },
    INVALID,
    '/controls/shuffle',
    /must have the member shuffle/,
  ],
  [
    'more controls than conditions',
    controls({ count: 99 }),
    controls({ count: 100 }),
    INVALID,
    '/controls',
    /at most 100 conditions, got 101: 100 controls \+ 1/,
  ],
  [
    'controls of a sweep that are too many',
    { ...controls({ count: 49 }), ...set('seed', 1, 2) },
    { ...controls({ count: 50 }), ...set('seed', 1, 2) },
    INVALID,
    '/sweep',
    /got 102: 2 values x \(50 controls \+ 1\)/,
  ],
  [
    'controls of a control',
    { ...controls({}), ...wiring({ jitter: 0.1 }) },
    { ...controls({}), ...wiring({ shuffle: 'targets' }) },
    INVALID,
    '/wiring/shuffle',
    /left out where there are controls/,
  ],
  [
    'controls of nothing',
    { ...controls({}), reports: { a: { node_set: 'C_walk' } } },
    { ...controls({}), reports: { a: { node_set: 'C_walk', type: 'spikes' } } },
    INVALID,
    '/controls',
    /a report of type rate/,
  ],
])('%s', (_, taken, refused, code, path, message) => {
  expect(() => plan(taken)).not.toThrow();
  const error = refusal(refused);
  expect([error.code, error.path]).toEqual([code, path]);
  expect(error.message).toMatch(message);
  expect(error.message.length).toBeLessThan(600);
});
