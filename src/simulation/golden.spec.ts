import { eventsOf, wiringOf } from '../../test/support/small-network.js';
import { compareSpikes, parseGolden } from './golden.js';
import { ReferenceEngine } from './reference-engine.js';

const ids = new Map([
  ['720575940596125868', 0],
  ['720575940597856265', 1],
]);
const lines = [
  'event,step,root_id',
  'stimulated,,720575940596125868',
  'kick,0,720575940596125868',
  'spike,1,720575940596125868',
  'spike,31,720575940597856265',
];

describe('parseGolden', () => {
  it('reads stimulated neurons, input events and spikes', () => {
    const golden = parseGolden(lines.join('\r\n'), 'x', ids);
    expect(golden.events).toEqual(eventsOf([0], [[0, 0]]));
    expect([...golden.spikes.steps, ...golden.spikes.neurons]).toEqual([1, 31, 0, 1]);
    expect(golden.durationSteps).toBe(32);
  });

  it.each([
    ['step,event', 0, /line 1: expected the columns event,step,root_id, found "step,event"/],
    ['stimulated,,5', 1, /line 2: neuron "5" is not in this connectome/],
    ['kick,50000,720575940596125868', 2, /line 3: expected a step from 0 to 49999, found "50000"/],
    ['kick,,720575940596125868', 2, /line 3: expected a step from 0 to 49999, found ""/],
    ['jump,1,720575940596125868', 3, /line 4: expected stimulated, silenced, kick or spike, found "jump"/],
    [
      'kick,0,720575940597856265',
      2,
      /line 3: expected a kick of a neuron that a line "stimulated" names, found one of another/,
    ],
  ])('refuses %p with the line', (line, at, message) => {
    expect(() => parseGolden(lines.with(at, line).join('\n'), 'x', ids)).toThrow(message);
  });

  it.each([1, 3])('refuses a file cut short behind %i lines: without spikes no check could fail', (count) => {
    expect(() => parseGolden(lines.slice(0, count).join('\n'), 'x', ids)).toThrow(
      'x: expected spikes to compare with, found none',
    );
  });
});

describe('compareSpikes', () => {
  it('counts what is missing and what is extra', () => {
    const golden = parseGolden([...lines, 'spike,5,720575940597856265'].join('\n'), 'x', ids);
    const shifted = new ReferenceEngine(wiringOf(2, [[0, 1, 400]])).simulate(golden.events, {
      durationSteps: 100,
    });
    expect(compareSpikes(golden.spikes, golden.spikes)).toEqual({ spikes: 3, missing: 0, extra: 0 });
    expect(compareSpikes(golden.spikes, shifted)).toEqual({ spikes: 2, missing: 2, extra: 1 });
  });
});
