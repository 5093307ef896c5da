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
  kicks: Event[];
  spikes: Event[];
}

/** Made by validation/brian2_small_network.py; regenerate it only with that script. */
const golden = JSON.parse(readFileSync(resolve('test/golden/small-network.json'), 'utf8')) as SmallGolden;

describe('a random network of 300 neurons, against Brian 2', () => {
  const signed = golden.connections.map(([pre, post, count]): Connection => [
    pre,
    post,
    golden.signs[pre]! * count,
  ]);
  const wiring = wiringOf(golden.signs.length, signed);

  it('is a test worth the name: far more spikes than kicks, and inhibition', () => {
    expect(golden.spikes.length).toBeGreaterThan(2 * golden.kicks.length);
    expect(golden.signs.filter((sign) => sign < 0).length).toBeGreaterThan(100);
  });

  it.each(ENGINES)('has the same spikes in $name', ({ build }) => {
    const raster = build(wiring).simulate(eventsOf(golden.stimulated, golden.kicks), {
      durationSteps: golden.steps,
    });
    expect(spikesOf(raster)).toEqual(golden.spikes);
  });
});
