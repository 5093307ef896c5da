import {
  answerOf,
  groupsIn,
  localTrials,
  planOf,
  rowsOf,
  tableIn,
} from '../../../test/support/open-experiments.js';
import { smallBrain } from '../../../test/support/small-brain.js';
import { populationsOf } from '../../../test/support/tables.js';
import { buildConnectome } from '../../tools/compiler/build-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { answerOfRun } from '../formats/answer.js';
import { answerJson } from '../formats/answer-json.js';
import { Page } from './pages.js';
import { inOneGo } from './turn.js';
import type { RunOptions } from './condition-run.js';
import { type AnswerExtent, runExperiment } from './run-experiment.js';

/**
 * A chain A -> B -> C of 500 synapses each, and D, which nobody excites. An event of an input makes A spike one step
 * later; 30 steps after a spike the next neuron of the chain spikes (test/engine/hand-worked.spec.ts says why).
 */
const brain = smallBrain(
  [
    { id: '1', type: 'A', superClass: 'sensory' },
    { id: '2', type: 'B', side: 'left', class: 'k', subClass: 'y' },
    { id: '3', type: 'C', side: 'right', class: 'k', subClass: 'x' },
    { id: '4', type: 'D', side: 'right' },
  ],
  [
    ['1', '2', 500],
    ['2', '3', 500],
    ['4', '3', 500],
  ],
);
const populations = populationsOf({ type: 'A' }, { motor: [{ type: 'C' }] });
const connectome = openConnectome(
  encodeConnectome(buildConnectome(brain, { signRule: 'predicted', populations })).buffer as ArrayBuffer,
);
const runTrial = localTrials(connectome);
const [A, B, C] = [0, 1, 2] as const;

/** Events at 0 and 50 ms. */
const KICKS = { kick: { node_set: 'A', module: 'spikes', times_ms: [0, 50] } };
const CHAIN = { inputs: KICKS, duration_ms: 100, trials: 2 };

const run = (request: object, limits = {}, options: Partial<RunOptions & AnswerExtent> = {}) =>
  answerOf(planOf(connectome, request, limits), runTrial, options);

describe('an open experiment, worked out by hand', () => {
  it('counts spikes, responding neurons and delivered events of every trial', async () => {
    const { conditions, totals } = await run(CHAIN);
    // A, B and C spike twice; A and B have one connection each.
    expect(conditions).toMatchObject([
      {
        index: 0,
        parameters: {},
        complete: true,
        spikes: { mean: 6, sd: 0 },
        responding_neurons: { mean: 3, sd: 0 },
        responding_any: 3,
        synaptic_events: 8,
      },
    ]);
    expect(totals.cost).toEqual({ brain_seconds: 0.2, input_events: 4, synaptic_events: 8 });
    expect(totals.unchanged).toEqual([]);
  });

  it('reads rates of groups: spikes of a group, per neuron and second of the window', async () => {
    const { conditions } = await run({
      ...CHAIN,
      reports: {
        all: { node_set: ['B', 'C', 'D'] },
        sides: { node_set: ['B', 'C', 'D'], group_by: ['side'] },
        early: { node_set: 'C', start_ms: 6.1, end_ms: 56.1 },
        late: { node_set: 'C', start_ms: 6.2, group_by: ['neuron', 'type'] },
      },
    });
    const exact = (rate: number) => ({ mean: rate, sd: 0, trials: [rate, rate] });
    expect(groupsIn(conditions[0]!, 'all')).toEqual([
      // Four spikes of three neurons in 0.1 s.
      { neurons: 3, responding: { mean: 2, sd: 0 }, responding_any: 2, rate_hz: exact(13.3333333) },
    ]);
    expect(groupsIn(conditions[0]!, 'sides')).toEqual([
      { side: 'left', neurons: 1, responding: { mean: 1, sd: 0 }, responding_any: 1, rate_hz: exact(20) },
      { side: 'right', neurons: 2, responding: { mean: 1, sd: 0 }, responding_any: 1, rate_hz: exact(10) },
    ]);
    // C spikes in the steps 61 and 561: the first is in the window, the step of its end is not.
    expect(groupsIn(conditions[0]!, 'early')[0]!.rate_hz).toEqual(exact(20));
    expect(groupsIn(conditions[0]!, 'late')).toMatchObject([
      { root_id: '3', type: 'C', neurons: 1, rate_hz: exact(10.6609808) },
    ]);
  });

  it('reads histograms, the last bin of which may be short', async () => {
    const { conditions } = await run({
      ...CHAIN,
      reports: { c: { node_set: ['C', 'D'], type: 'histogram', bin_ms: 40, group_by: ['type'] } },
    });
    // 6.1 and 56.1 ms, in the bins from 0 and from 40 ms; the third has 20 ms.
    expect(groupsIn(conditions[0]!, 'c')).toMatchObject([
      { type: 'C', bins_hz: [25, 25, 0] },
      { type: 'D', bins_hz: [0, 0, 0] },
    ]);
  });

  it('lists spikes and input events, of all trials up to the number of rows', async () => {
    const reports = {
      bc: { node_set: ['B', 'C'], type: 'spikes' },
      kicks: { node_set: 'A', type: 'inputs', start_ms: 10 },
    };
    const both = { ...CHAIN, inputs: { ...KICKS, more: { ...KICKS.kick, times_ms: [50] } }, reports };
    const { conditions } = await run(both);
    const spikes = [
      [31, B],
      [61, C],
      [531, B],
      [561, C],
    ];
    expect(rowsOf(tableIn(conditions[0]!, 'bc'))).toEqual(
      [0, 1].flatMap((t) => spikes.map((row) => [t, ...row])),
    );
    expect(rowsOf(tableIn(conditions[0]!, 'kicks'))).toEqual([
      [0, 500, A, 0],
      [0, 500, A, 1],
      [1, 500, A, 0],
      [1, 500, A, 1],
    ]);
    // Two tables of one condition share ten rows.
    const { conditions: cut } = await run(both, { tableRows: 10 }, { cutsTables: true });
    expect(rowsOf(tableIn(cut[0]!, 'bc')).at(-1)).toEqual([1, 31, B]);
    expect(tableIn(cut[0]!, 'bc')).toMatchObject({ truncated: true });
    expect(tableIn(cut[0]!, 'kicks')).toMatchObject({ truncated: false });
    // A trial has four spikes and two events: of two trials, the second is on another page.
    const page = new Page({ condition: 0, trial: 0 }, { rows: 11, formats: 'a test' }, false);
    const { conditions: paged, totals } = await run(both, {}, { page });
    expect(paged).toHaveLength(1);
    expect(['bc', 'kicks'].map((report) => [...tableIn(paged[0]!, report).trials])).toEqual([
      [0, 0, 0, 0],
      [0, 0],
    ]);
    expect(tableIn(paged[0]!, 'bc')).toMatchObject({ truncated: false });
    expect(totals).toMatchObject({ next_page: '0.1', cost: { brain_seconds: 0.2 } });
  });

  it('groups by class and sub-class, those without one last, in reports, sweeps and tables', async () => {
    const group_by = ['class', 'sub_class'];
    const plan = planOf(connectome, {
      ...CHAIN,
      reports: {
        r: { node_set: ['B', 'C', 'D'], group_by },
        k: { node_set: ['B', 'C', 'D'], group_by: ['class'] },
      },
      sweep: [{ each: ['B', 'C', 'D'], group_by, as: 'silence' }],
    });
    const { conditions, totals } = await answerOf(plan, runTrial);
    expect(groupsIn(conditions[0]!, 'r')).toMatchObject([
      { class: 'k', sub_class: 'x', neurons: 1, rate_hz: { mean: 20 } },
      { class: 'k', sub_class: 'y', neurons: 1, rate_hz: { mean: 20 } },
      { class: '', sub_class: '', neurons: 1, rate_hz: { mean: 0 } },
    ]);
    expect(groupsIn(conditions[0]!, 'k')).toMatchObject([
      { class: 'k', neurons: 2 },
      { class: '', neurons: 1 },
    ]);
    // Without C the same spikes; without B none of C.
    expect(conditions.map(({ parameters, spikes }) => [parameters['silence'], spikes!.mean])).toEqual([
      [null, 6],
      [{ class: 'k', sub_class: 'x' }, 6],
      [{ class: 'k', sub_class: 'y' }, 4],
    ]);
    expect(totals.unchanged).toEqual([{ silence: { class: '', sub_class: '' } }]);
    const csv = await answerOfRun(
      plan,
      runTrial,
      { format: 'csv', from: 0, truncate: false },
      { inFlight: 1 },
      { turn: inOneGo, pieceBytes: 1 },
    );
    let text = '';
    for await (const { bytes } of csv.pieces) text += Buffer.from(bytes).toString();
    const [header, first] = text.split('\r\n');
    expect(header).toBe(
      'condition,silence.class,silence.sub_class,report,class,sub_class,neurons,responding,rate_hz_mean,rate_hz_sd,trials',
    );
    expect(first).toBe('0,none,none,r,k,x,1,1,20,0,2');
  });

  it('silences a neuron in a window: spikes from its start up to its end are not delivered', async () => {
    const reports = { bc: { node_set: ['B', 'C'], type: 'spikes' } };
    const spikesOf = async (...windows: [startMs: number, endMs: number][]) => {
      const silence = windows.map(([start_ms, end_ms]) => ({ node_set: 'A', start_ms, end_ms }));
      const { conditions } = await run({ ...CHAIN, trials: 1, reports, silence });
      return [conditions[0]!.synaptic_events, rowsOf(tableIn(conditions[0]!, 'bc')).map(([, step]) => step)];
    };
    // A fires in the steps 1 and 501.
    const both = [4, [31, 61, 531, 561]];
    expect(await spikesOf([0, 0.1], [0.2, 50.1], [50.2, 100])).toEqual(both);
    expect(await spikesOf([0.1, 0.2])).toEqual([2, [531, 561]]);
    expect(await spikesOf([50.1, 50.2])).toEqual([2, [31, 61]]);
    expect(await spikesOf([0, 30], [10, 60])).toEqual([0, []]);
  });

  it('cuts and turns connections', async () => {
    const spikesWith = async (weight: number) => {
      const connection_overrides = { o: { source: ['A', 'D'], target: ['B', 'C'], weight } };
      const { head, conditions } = await run({ ...CHAIN, trials: 1, connection_overrides });
      expect(head.resolved['connection_overrides']).toEqual({ o: { pairs: 2, synapses: 1000 } });
      return [conditions[0]!.spikes!.mean, conditions[0]!.synaptic_events];
    };
    expect(await spikesWith(1)).toEqual([6, 4]);
    expect(await spikesWith(0)).toEqual([2, 0]);
    // The events of A are delivered, but inhibit B.
    expect(await spikesWith(-1)).toEqual([2, 2]);
  });

  it('silences one group after the other, but those that never spike', async () => {
    const { conditions, totals } = await run({
      ...CHAIN,
      reports: { c: { node_set: 'C' } },
      sweep: [{ each: ['B', 'C', 'D'], group_by: ['type'], as: 'silence' }],
    });
    expect(
      conditions.map((condition) => [
        condition.index,
        condition.parameters['silence'],
        condition.spikes!.mean,
        condition.synaptic_events,
        groupsIn(condition, 'c')[0]!.rate_hz!.mean,
      ]),
    ).toEqual([
      [0, null, 6, 8, 20],
      // B spikes and reaches no neuron.
      [1, { type: 'B' }, 4, 4, 0],
      [2, { type: 'C' }, 6, 8, 20],
    ]);
    expect(totals.unchanged).toEqual([{ silence: { type: 'D' } }]);
    expect(totals.cost.brain_seconds).toBe(0.6);
  });

  it('sweeps the groups that responded, the most active first, with numbers that the document decides', async () => {
    // With its own input B spikes twice more, and so does C; from 90 ms on that input has no events.
    const inputs = { ...KICKS, b: { node_set: 'B', module: 'spikes', times_ms: [80, 85] } };
    const request = {
      ...CHAIN,
      inputs,
      sweep: [
        { set: 'inputs.b.delay_ms', values: [0, 90] },
        { each: { responders_of: 'baseline', top: 2 }, group_by: ['type'], as: 'silence' },
      ],
      reports: { b: { node_set: 'B' } },
    };
    const { conditions } = await run(request);
    expect(conditions.map(({ index, parameters }) => [index, parameters['silence']])).toEqual([
      [0, null],
      [1, { type: 'B' }],
      [2, { type: 'C' }],
      [3, null],
      // Every group spikes twice, so names decide the order.
      [4, { type: 'A' }],
      [5, { type: 'B' }],
    ]);
  });

  it('stimulates one group after the other, after a condition without any', async () => {
    const { conditions } = await run({
      ...CHAIN,
      sweep: [{ each: ['A', 'B', 'D'], group_by: ['neuron'], as: 'inputs.kick' }],
    });
    expect(conditions.map(({ parameters, spikes }) => [parameters['inputs.kick'], spikes!.mean])).toEqual([
      [null, 0],
      [{ root_id: '1' }, 6],
      [{ root_id: '2' }, 4],
      [{ root_id: '4' }, 4],
    ]);
  });

  it('decides on each lesion by the baseline of the same values on the other axes', async () => {
    const plan = planOf(connectome, {
      ...CHAIN,
      sweep: [
        { each: ['B', 'C', 'D'], group_by: ['type'], as: 'silence' },
        { each: ['A', 'D'], group_by: ['type'], as: 'inputs.kick' },
      ],
    });
    const { conditions, totals } = await answerOf(plan, runTrial);
    const of = (silenced: string | null, kicked: string | null) => ({
      silence: silenced === null ? null : { type: silenced },
      'inputs.kick': kicked === null ? null : { type: kicked },
    });
    // Kicking A makes A, B and C spike, kicking D makes D and C spike; without a kick no neuron spikes.
    expect(conditions.map(({ index, parameters }) => [index, parameters])).toEqual([
      [0, of(null, null)],
      [1, of(null, 'A')],
      [2, of(null, 'D')],
      [4, of('B', 'A')],
      [7, of('C', 'A')],
      [8, of('C', 'D')],
      [11, of('D', 'D')],
    ]);
    expect(totals.unchanged).toEqual([
      of('B', null),
      of('B', 'D'),
      of('C', null),
      of('D', null),
      of('D', 'A'),
    ]);
    for (const from of [4, 5, 9, 11]) {
      const { conditions: rest } = await answerOf(plan, runTrial, { from });
      expect(rest).toEqual(conditions.filter(({ index }) => index >= from));
    }
  });

  it('ends a trial that exceeds its budget of events, and says when', async () => {
    const { conditions } = await run(
      { ...CHAIN, reports: { b: { node_set: 'B' }, table: { node_set: 'B', type: 'spikes' } } },
      { synapticEventsPerTrial: 2 },
    );
    // Deliveries in the steps 19 (A to B), 49 (B to C), 519: the third is one too many.
    expect(conditions[0]).toMatchObject({
      complete: false,
      stopped_at_ms: 52,
      reason: 'EVENT_BUDGET',
      spikes: null,
      responding_neurons: null,
      synaptic_events: 6,
      reports: { b: [{ neurons: 1, responding: null, responding_any: null, rate_hz: null }] },
    });
    expect(rowsOf(tableIn(conditions[0]!, 'table'))).toEqual([
      [0, 31, B],
      [1, 31, B],
    ]);
  });

  it('is one JSON document, with tables as columns', async () => {
    const plan = planOf(connectome, {
      ...CHAIN,
      trials: 1,
      reports: {
        bc: { node_set: ['B', 'C'], type: 'spikes' },
        kicks: { node_set: 'A', type: 'inputs' },
        b: { node_set: 'B' },
      },
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answerJson(runExperiment(plan, runTrial, { inFlight: 1 }), connectome))
      pieces.push(piece);
    const answer = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>;
    expect(Object.keys(answer)).toEqual([
      'id',
      'model',
      'wiring',
      'side_convention',
      'experiment',
      'resolved',
      'conditions',
      'unchanged',
      'cost',
      'warnings',
      'cite',
    ]);
    expect(answer['resolved']).toMatchObject({
      'inputs.kick': { neurons: 1, sides: { left: 1 }, types: { A: 1 }, missing: [] },
      'reports.bc': { neurons: 2, sides: { left: 1, right: 1 }, types: { B: 1, C: 1 }, missing: [] },
    });
    expect((answer['conditions'] as { reports: object }[])[0]!.reports).toEqual({
      bc: { trial: [0, 0, 0, 0], t_ms: [3.1, 6.1, 53.1, 56.1], root_id: ['2', '3', '2', '3'] },
      kicks: { trial: [0, 0], t_ms: [0, 50], root_id: ['1', '1'], input: ['kick', 'kick'] },
      b: [
        {
          neurons: 1,
          responding: { mean: 1, sd: 0 },
          responding_any: 1,
          rate_hz: { mean: 20, sd: 0, trials: [20] },
        },
      ],
    });
  });
});
