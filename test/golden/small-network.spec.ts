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
  events: Event[];
  spikes: Event[];
}

/** Made by validation/brian2_small_network.py; make them anew only with that script. */
function read(name: string): SmallGolden {
  return JSON.parse(readFileSync(resolve(`test/golden/${name}.json`), 'utf8')) as SmallGolden;
}

const run = read('small-network');
const openRun = read('small-open-network');

describe.each([
  ['300 neurons, 100 ms', run],
  ['80 neurons, 5 s, as an open experiment', openRun],
])('a random network of %s, against Brian 2', (_, golden) => {
  const signed = golden.connections.map(([pre, post, count]): Connection => [
    pre,
    post,
    golden.signs[pre]! * count,
  ]);
  const wiring = wiringOf(golden.signs.length, signed);

  it.each(ENGINES)('has the same spikes in $name', ({ build }) => {
    const raster = build(wiring).simulate(eventsOf(golden.stimulated, golden.events), {
      durationSteps: golden.steps,
      silenced: Uint32Array.from(golden.silenced),
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
