import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ENGINES } from '../support/engines.js';
import { eventsOf, spikesOf, wiringOf, type Connection, type Event } from '../support/small-network.js';

interface SmallGolden {
  origin: string;
  steps: number;
  signs: number[];
  connections: Connection[];
  stimulated: number[];
  silenced: number[];
  overrides?: { sources: number[]; targets: number[]; weight: number }[];
  events: Event[];
  spikes: Event[];
}

/** Made by validation/brian2_small_network.py; make them anew only with that script. */
function read(name: string): SmallGolden {
  return JSON.parse(readFileSync(resolve(`test/experiments/${name}.json`), 'utf8')) as SmallGolden;
}

const run = read('small-network');
const openRun = read('small-open-network');
const editedRun = read('small-edited-network');

describe.each([
  ['300 neurons, 100 ms', run],
  ['80 neurons, 5 s, as an open experiment', openRun],
  ['300 neurons, signs of 0 and overridden connections', editedRun],
])('a random network of %s, against Brian 2', (_, golden) => {
  const wiring = {
    ...wiringOf(golden.signs.length, golden.connections),
    signs: Int8Array.from(golden.signs),
  };

  it.each(ENGINES)('has the same spikes in $name', ({ build }) => {
    const raster = build(wiring).simulate(eventsOf(golden.stimulated, golden.events), {
      durationSteps: golden.steps,
      silenced: Uint32Array.from(golden.silenced),
      overrides: golden.overrides?.map(({ sources, targets, weight }) => ({
        sources: Uint32Array.from(sources),
        targets: Uint32Array.from(targets),
        weight,
      })),
    });
    expect(spikesOf(raster)).toEqual(golden.spikes);
  });
});

it('the short run is a test worth the name: far more spikes than input events, and inhibition', () => {
  expect(run.spikes.length).toBeGreaterThan(2 * run.events.length);
  expect(run.signs.filter((sign) => sign < 0).length).toBeGreaterThan(100);
});

it('the open run is one, too: inputs meet, silenced neurons are stimulated, neurons answer up to its end', () => {
  const { events, stimulated, silenced, spikes, steps } = openRun;
  expect(new Set(events.map(String)).size).toBeLessThan(events.length);
  expect(silenced.filter((i) => stimulated.includes(i))).not.toEqual([]);
  expect(stimulated.filter((i) => !events.some(([, neuron]) => neuron === i))).not.toEqual([]);
  const answers = spikes.filter(([, i]) => !stimulated.includes(i));
  expect(answers.length).toBeGreaterThan(200);
  expect(answers.at(-1)![0]).toBeGreaterThan(0.9 * steps);
});

it('the edited run is one, too: overrides begin with a neuron of sign 0, meet, and change neurons of their own', () => {
  const { signs, overrides, connections, spikes, events } = editedRun;
  expect(signs.filter((sign) => sign === 0).length).toBeGreaterThan(30);
  const overridden = connections.filter(([pre, post]) =>
    overrides!.some(({ sources, targets }) => sources.includes(pre) && targets.includes(post)),
  );
  expect(overridden.filter(([pre]) => signs[pre] === 0).length).toBeGreaterThan(200);
  expect(overridden.filter(([pre, post]) => pre === post && signs[pre] !== 0)).not.toEqual([]);
  expect(spikes.length).toBeGreaterThan(2 * events.length);
});
