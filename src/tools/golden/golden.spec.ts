import { eventsOf, wiringOf } from '../../../test/support/small-network.js';
import { compareMembranes, compareSpikes, goldenReader } from './golden.js';
import { ReferenceEngine } from '../../engine/simulation/reference-engine.js';

const ids = ['720575940596125868', '720575940597856265'];
const wiring = wiringOf(2, [[0, 1, 500]]);
const read = goldenReader({ ...wiring, neuronId: (i) => ids[i]! });
const lines = [
  'event,step,root_id',
  'stimulated,,720575940596125868',
  'kick,0,720575940596125868',
  'spike,1,720575940596125868',
  'spike,31,720575940597856265',
];

describe('goldenReader', () => {
  it('reads stimulated neurons, input events and spikes', () => {
    const golden = read(lines.join('\r\n'), 'x');
    expect(golden.events).toEqual(eventsOf([0], [[0, 0]]));
    expect([...golden.spikes.steps, ...golden.spikes.neurons]).toEqual([1, 31, 0, 1]);
    expect(golden.durationSteps).toBe(32);
  });

  it.each([
    ['step,event', 0, /line 1: expected the columns event,step,root_id, found "step,event"/],
    ['stimulated,,5', 1, /line 2: neuron "5" is not in this connectome/],
    ['kick,50000,720575940596125868', 2, /line 3: expected a step from 0 to 49999, found "50000"/],
    ['kick,,720575940596125868', 2, /line 3: expected a step from 0 to 49999, found ""/],
    ['jump,1,720575940596125868', 3, /line 4: expected stimulated, silenced, kick, spike, .* found "jump"/],
    [
      'kick,0,720575940597856265',
      2,
      /line 3: expected a kick of a neuron that a line "stimulated" names, found one of another/,
    ],
  ])('refuses %p with the line', (line, at, message) => {
    expect(() => read(lines.with(at, line).join('\n'), 'x')).toThrow(message);
  });

  it('reads constants, weights, windows and traces', () => {
    const golden = read(
      [
        ...lines,
        'constant,2.5,delay_ms',
        'constant,0.1925,synapse_mv',
        'weight,-0.5,720575940596125868>720575940597856265',
        'silence_from,3,720575940597856265',
        'silence_to,9,720575940597856265',
      ].join('\n'),
      'x',
      'step,root_id,v_mv\n20,720575940597856265,-52\n40,720575940597856265,-51.5\n',
    );
    expect(golden.constants).toEqual({ delaySteps: 25, synapseMv: 0.1925 });
    expect(golden.connectionFactors).toEqual({
      connections: Uint32Array.of(0),
      factors: Float64Array.of(-0.5),
    });
    expect(golden.silencedWindows).toEqual([{ neurons: Uint32Array.of(1), startStep: 3, endStep: 9 }]);
    expect(golden.recordings).toEqual([
      { neurons: Uint32Array.of(1), everySteps: 20, startStep: 0, endStep: 41 },
    ]);
    expect(golden.durationSteps).toBe(41);
    expect(compareMembranes(golden.membranes, [Float64Array.of(-52, -51)])).toBe(0.5);
    expect(compareMembranes(golden.membranes, [Float64Array.of(-52)])).toBe(Infinity);
  });

  it.each([
    ['constant,1,tau_ms', /line 6: expected synapse_mv, excitatory_scale, .*, found "tau_ms"/],
    ['weight,x,720575940596125868>720575940597856265', /line 6: expected a number, found "x"/],
    ['weight,1,720575940597856265>720575940596125868', /line 6: .* is no connection of this connectome/],
    ['silence_from,3,720575940597856265', /expected a line silence_to for each silence_from/],
  ])('refuses %p', (line, message) => {
    expect(() => read([...lines, line].join('\n'), 'x')).toThrow(message);
  });

  it('refuses traces with gaps', () => {
    const traces = 'step,root_id,v_mv\n20,720575940597856265,-52\n50,720575940597856265,-51\n';
    expect(() => read(lines.join('\n'), 'x', traces)).toThrow(/line 3: expected step 40, found "50"/);
  });

  it.each([1, 3])('refuses a file cut short after %i lines: without spikes no check could fail', (count) => {
    expect(() => read(lines.slice(0, count).join('\n'), 'x')).toThrow(
      'x: expected spikes to compare with, found none',
    );
  });
});

describe('compareSpikes', () => {
  it('counts missing and extra spikes', () => {
    const golden = read([...lines, 'spike,5,720575940597856265'].join('\n'), 'x');
    const shifted = new ReferenceEngine(wiringOf(2, [[0, 1, 400]])).simulate(golden.events, {
      durationSteps: 100,
    });
    expect(compareSpikes(golden.spikes, golden.spikes)).toEqual({ spikes: 3, missing: 0, extra: 0 });
    expect(compareSpikes(golden.spikes, shifted)).toEqual({ spikes: 2, missing: 2, extra: 1 });
  });
});
