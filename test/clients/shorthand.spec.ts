import {
  filesOfRates,
  type Shorthand,
  ShorthandError,
  withShorthand,
} from '../../clients/typescript/src/client.js';
import { GROUP_LABELS } from '../../src/experiments/document/document.js';

const documentFrom = (options: Shorthand) => withShorthand({}, options);

describe('the options of an open experiment', () => {
  it('stand for a document', () => {
    const document = documentFrom({
      stimulate: ['LC4:left,LPLC2:left@100'],
      window: ['200+300'],
      silence: ['PVLP122b'],
      report: ['DNp01/side'],
      duration: '1000',
      trials: '20',
      sweep: ['rate=10:200:10'],
      seed: '7',
      name: 'Looming',
    });
    expect(document).toEqual({
      name: 'Looming',
      inputs: {
        stimulus: { node_set: ['LC4:left', 'LPLC2:left'], rate_hz: 100, delay_ms: 200, duration_ms: 300 },
      },
      silence: ['PVLP122b'],
      duration_ms: 1000,
      trials: 20,
      seed: 7,
      reports: { DNp01: { node_set: 'DNp01', group_by: ['side'] } },
      sweep: [{ set: 'inputs.stimulus.rate_hz', from: 10, to: 200, step: 10 }],
    });
  });

  it.each([
    ['@sugar', { node_set: '@sugar' }],
    ['@sugar@100', { node_set: '@sugar', rate_hz: 100 }],
    ['@shiu2024/sugar:left@12.5', { node_set: '@shiu2024/sugar:left', rate_hz: 12.5 }],
    ['VP5+_l2PN', { node_set: 'VP5+_l2PN' }],
    ['{"type":"LC4","side":"left"}@50', { node_set: { type: 'LC4', side: 'left' }, rate_hz: 50 }],
    ['["AVLP346,AVLP348a"]', { node_set: ['AVLP346,AVLP348a'] }],
  ])('--stimulate %s', (text, input) => {
    expect(documentFrom({ stimulate: [text] })).toEqual({ inputs: { stimulus: input } });
  });

  it.each([
    ['DNp01', 'DNp01', { node_set: 'DNp01' }],
    ['mn9=@MN9/side,type', 'mn9', { node_set: '@MN9', group_by: ['side', 'type'] }],
    ['@channel/escape', 'channel_escape', { node_set: '@channel/escape' }],
    ['@channel/escape/neuron', 'channel_escape', { node_set: '@channel/escape', group_by: ['neuron'] }],
    ['LC4:left,LC*', 'LC4_left_LC', { node_set: ['LC4:left', 'LC*'] }],
    ['*', 'report', { node_set: '*' }],
    ['DNp01@200+300', 'DNp01', { node_set: 'DNp01', start_ms: 200, end_ms: 500 }],
    ['@MN9/side@0.1+0.2', 'MN9', { node_set: '@MN9', group_by: ['side'], start_ms: 0.1, end_ms: 0.3 }],
    // No window: the document is refused for its name.
    ['DNp01@200', 'DNp01_200', { node_set: 'DNp01@200' }],
  ])('--report %s is called %s', (text, name, report) => {
    expect(documentFrom({ report: [text] })).toEqual({ reports: { [name]: report } });
  });

  it.each([
    ['DNp01', 'membrane_DNp01', { node_set: 'DNp01', type: 'membrane' }],
    ['v=DNp01:left,@MN9@0.1', 'v', { node_set: ['DNp01:left', '@MN9'], type: 'membrane', dt_ms: 0.1 }],
    ['{"type":"LC4"}@5', 'membrane_type_LC4', { node_set: { type: 'LC4' }, type: 'membrane', dt_ms: 5 }],
  ])('--membrane %s is called %s', (text, name, report) => {
    expect(documentFrom({ membrane: [text] })).toEqual({ reports: { [name]: report } });
  });

  it('read rates and membranes of the same neurons, each by its name', () => {
    const reports = {
      DNp01: { node_set: 'DNp01' },
      membrane_DNp01: { node_set: 'DNp01', type: 'membrane' },
      membrane_DNp012: { node_set: 'DNp01', type: 'membrane', dt_ms: 2 },
    };
    expect(documentFrom({ report: ['DNp01'], membrane: ['DNp01', 'DNp01@2'] })).toEqual({ reports });
    expect(() => documentFrom({ report: ['v=DNp01'], membrane: ['v=LC4'] })).toThrow(
      '--membrane should have each name once, found "v" twice',
    );
  });

  it('rates are rows of tables, beside other inputs', () => {
    const rows = [{ node_set: 'ORN_DM1', rate_hz: 41 }];
    const tables = new Map([
      ['a.csv', rows],
      ['b=c.csv', []],
    ]);
    const options = { stimulate: ['LC4'], rates: ['odour=a.csv', 'x=b=c.csv', 'a.csv'], window: ['1+2'] };
    expect(filesOfRates(options)).toEqual(['a.csv', 'b=c.csv', 'a.csv']);
    expect(withShorthand({}, options, tables)).toEqual({
      inputs: {
        stimulus: { node_set: 'LC4', delay_ms: 1, duration_ms: 2 },
        odour: { rates: rows },
        x: { rates: [] },
        stimulus2: { rates: rows },
      },
    });
    expect(() => withShorthand({}, { stimulate: ['a=LC4'], rates: ['a=a.csv'] }, tables)).toThrow(
      '--rates should have each name once, found "a" twice',
    );
    expect(documentFrom({ stimulate: ['LC4'], sweep: ['scale=0:2:0.5'] })).toMatchObject({
      sweep: [{ set: 'inputs.stimulus.scale', from: 0, to: 2, step: 0.5 }],
    });
  });

  it.each(GROUP_LABELS)('group by %s', (label) => {
    expect(documentFrom({ report: [`a=LC4/${label}`] })).toEqual({
      reports: { a: { node_set: 'LC4', group_by: [label] } },
    });
  });

  it.each([
    ['rate=10,20', { set: 'inputs.a.rate_hz', values: [10, 20] }],
    ['a.delay=0:10:5', { set: 'inputs.a.delay_ms', from: 0, to: 10, step: 5 }],
    ['window=5', { set: 'inputs.a.duration_ms', values: [5] }],
    ['duration=100,200', { set: 'duration_ms', values: [100, 200] }],
    ['seed=1,2', { set: 'seed', values: [1, 2] }],
    ['inputs.a.rate_hz=1,2', { set: 'inputs.a.rate_hz', values: [1, 2] }],
    ['silence=LC*/type', { each: 'LC*', group_by: ['type'], as: 'silence' }],
    ['constants.delay_ms=1,2', { set: 'constants.delay_ms', values: [1, 2] }],
    [
      'connection_overrides.a-b.target=LC*/type',
      { each: 'LC*', group_by: ['type'], as: 'connection_overrides.a-b.target' },
    ],
    ['silence=LC4', { each: 'LC4', as: 'silence' }],
    ['silence=responders', { each: { responders_of: 'baseline' }, as: 'silence' }],
    [
      'silence=responders:50/type',
      { each: { responders_of: 'baseline', top: 50 }, group_by: ['type'], as: 'silence' },
    ],
    ['stimulate=LC*/type', { each: 'LC*', group_by: ['type'], as: 'inputs.a' }],
  ])('--sweep %s', (text, axis) => {
    expect(documentFrom({ stimulate: ['a=LC4'], sweep: [text] })).toMatchObject({ sweep: [axis] });
  });

  it.each([
    ['matched:1000', 'silence=LC4/type', { silence: 'matched', count: 1000 }],
    ['matched', 'inputs.a=LC4/type', { inputs: 'matched' }],
    ['matched', 'connection_overrides.o.source=LC4/type', { connection_overrides: 'matched' }],
    ['weights:20', 'seed=1,2', { shuffle: 'weights', count: 20 }],
    ['signs:100', 'seed=1,2', { signs: 'sampled', count: 100 }],
    ['counts:100', 'seed=1,2', { counts: 'resampled', count: 100 }],
  ])('compare with the controls %s', (controls, sweep, expected) => {
    const options = { stimulate: ['a=LC4'], sweep: [sweep.replace('inputs.a', 'a.stimulate')], controls };
    expect(documentFrom(options)).toMatchObject({ controls: expected });
    expect(() => documentFrom({ ...options, controls: `${controls}:1:2` })).toThrow('KIND:COUNT');
    expect(() => documentFrom({ ...options, controls: 'matched:many' })).toThrow(ShorthandError);
  });

  it('edit the network', () => {
    const options = {
      constant: ['synapse_mv=0.3', 'threshold_mv=-44'],
      override: ['LC4,LPLC2>DNp01:left*0.5', 'cut=@sugar>@all*0', 'LC4>LC6*-1'],
      wiring: 'targets:7',
    };
    expect(withShorthand({ constants: { delay_ms: 2, synapse_mv: 1 } }, options)).toMatchObject({
      constants: { delay_ms: 2, synapse_mv: 0.3, threshold_mv: -44 },
      connection_overrides: {
        override: { source: ['LC4', 'LPLC2'], target: 'DNp01:left', weight: 0.5 },
        cut: { source: '@sugar', target: '@all', weight: 0 },
        override2: { source: 'LC4', target: 'LC6', weight: -1 },
      },
      wiring: { shuffle: 'targets', seed: 7 },
    });
    expect(documentFrom({ wiring: 'signs' })).toMatchObject({ wiring: { signs: 'sampled' } });
    expect(documentFrom({})).not.toHaveProperty('wiring');
  });

  it('number inputs and reports that have no name', () => {
    expect(
      documentFrom({ stimulate: ['LC4', 'LC6'], window: ['0+5', '5+5'], report: ['LC4:left', 'LC4_left'] }),
    ).toEqual({
      inputs: {
        stimulus: { node_set: 'LC4', delay_ms: 0, duration_ms: 5 },
        stimulus2: { node_set: 'LC6', delay_ms: 5, duration_ms: 5 },
      },
      reports: { LC4_left: { node_set: 'LC4:left' }, LC4_left2: { node_set: 'LC4_left' } },
    });
  });

  it('ask for spikes if a file of them is to be written', () => {
    const spikes = { node_set: '@all', type: 'spikes' };
    expect(documentFrom({ spikes: 'a.csv' })).toEqual({ reports: { spikes } });
    const own = { reports: { mine: { node_set: 'LC4', type: 'spikes' } } };
    expect(withShorthand(own, { spikes: 'a.csv' })).toEqual(own);
  });

  it('change a document and add to it', () => {
    const document = {
      name: 'a',
      inputs: { a: { node_set: 'LC4' } },
      silence: ['LC6'],
      trials: 30,
      sweep: [
        { set: 'inputs.a.rate_hz', values: [1] },
        { set: 'seed', values: [1, 2] },
      ],
      on_missing: 'skip',
    };
    expect(
      withShorthand(document, { silence: ['LC9,LC10'], trials: '3', sweep: ['rate=5'], report: ['DNp01'] }),
    ).toEqual({
      ...document,
      silence: ['LC6', 'LC9', 'LC10'],
      trials: 3,
      sweep: [
        { set: 'seed', values: [1, 2] },
        { set: 'inputs.a.rate_hz', values: [5] },
      ],
      reports: { DNp01: { node_set: 'DNp01' } },
    });
  });

  it('leave values that are no document, or no list, for the check of documents', () => {
    for (const document of [null, 7, [], 'x'])
      expect(withShorthand(document, { trials: '3' })).toBe(document);
    const wrong = { inputs: 1, silence: 'LC4', reports: null, sweep: {} };
    const options = { stimulate: ['LC4'], silence: ['LC4'], report: ['LC4'], sweep: ['seed=1'] };
    expect(withShorthand(wrong, options)).toEqual(wrong);
  });

  it('name an input __proto__ without losing it', () => {
    const { inputs } = documentFrom({ stimulate: ['__proto__=LC4'] }) as { inputs: object };
    expect(Object.keys(inputs)).toEqual(['__proto__']);
  });

  it.each<[Shorthand, RegExp]>([
    [{ window: ['1+2'] }, /--window is the window of --stimulate, which is missing/],
    [{ stimulate: ['a'], window: ['1+2', '3+4'] }, /once for each --stimulate, found 2 for 1/],
    [{ stimulate: ['a'], window: ['200'] }, /--window should be START\+LENGTH in ms .* found "200"/],
    [{ stimulate: ['a'], window: ['x+1'] }, /--window should have a number, found "x"/],
    [{ stimulate: ['a=LC4', 'a=LC6'] }, /--stimulate should have each name once, found "a" twice/],
    [{ stimulate: ['LC4', 'stimulus=LC6'] }, /--stimulate should have each name once/],
    [{ report: ['a=LC4', 'LC6', 'a=LC9'] }, /--report should have each name once, found "a" twice/],
    [{ stimulate: ['LC4'], spikes: 's.csv', csv: 'r.csv' }, /--csv writes rates.*add --report/],
    [{ trials: 'many' }, /--trials should have a number, found "many"/],
    [{ seed: '' }, /--seed should have a number, found ""/],
    [{ sweep: ['rate'] }, /--sweep should be WHAT=VALUES .* found "rate"/],
    [{ sweep: ['rate=1'] }, /--sweep rate=1 needs an input/],
    [
      { stimulate: ['a=x', 'b=y'], sweep: ['rate=1'] },
      /should name one of the inputs a, b, such as a.rate=1/,
    ],
    [{ stimulate: ['a'], sweep: ['rate=1:2'] }, /--sweep should have a number, found "1:2"/],
    [{ stimulate: ['@sugar@100Hz'] }, /"@sugar@100Hz" must end .*: write 100, not 100Hz/],
    [{ constant: ['0.3'] }, /--constant should be NAME=VALUE .* found "0.3"/],
    [{ constant: ['synapse_mv=x'] }, /--constant should have a number, found "x"/],
    [{ override: ['LC4>DNp01'] }, /--override should be WHO>WHO\*WEIGHT .* found "LC4>DNp01"/],
    [{ wiring: 'targets:1:2' }, /--wiring should be KIND or KIND:SEED .* found "targets:1:2"/],
    [{ silence: ['{"type"'] }, /"\{\\"type\\"" is no selector/],
  ])('%j is refused', (options, message) => {
    expect(() => documentFrom(options)).toThrow(message);
    expect(() => documentFrom(options)).toThrow(ShorthandError);
  });
});
