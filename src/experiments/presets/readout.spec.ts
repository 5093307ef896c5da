import { smallConnectome, SMALL_CHANNELS } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { CHANNEL_IDS } from './populations.js';
import type { Experiment } from './experiment.js';
import { rasterDigest, Readout } from './readout.js';
import { ReferenceEngine } from '../../engine/simulation/reference-engine.js';
import { ExperimentRunner } from './run-body.js';
import type { SpikeRaster } from '../../engine/simulation/simulation.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const escape = [...connectome.channelNeurons('escape')];
const stop = [...connectome.channelNeurons('stop')];
const interneuron = connectome.neuronCount - 1;

function raster(spikes: [step: number, neuron: number][]): SpikeRaster {
  return { steps: Uint16Array.from(spikes, ([s]) => s), neurons: Uint32Array.from(spikes, ([, i]) => i) };
}

/** Steps 49 and 50 lie on either side of a frame's end; neurons of two channels and one of none. */
const spikes = raster([
  [0, escape[0]!],
  [49, escape[0]!],
  [49, escape[1]!],
  [50, escape[0]!],
  [50, interneuron],
  [499, stop[3]!],
]);

describe('Readout, worked out by hand', () => {
  const readout = new Readout(connectome);
  const reading = readout.readInDetail(spikes, 50, Uint32Array.of(escape[0]!, escape[1]!));

  it('counts the run', () => {
    // Six spikes of four neurons within 50 ms.
    expect(reading).toMatchObject({ total: 6, responding: 4, meanRateHz: 30 });
  });

  it('has channel rates in spikes a neuron and second', () => {
    // escape: four spikes of four neurons in 0.05 s; stop: one.
    expect(reading.rates.escape).toBe(20);
    expect(reading.rates.stop).toBe(5);
    expect(reading.rates.walk).toBe(0);
    expect(Object.keys(reading.rates)).toEqual([...SMALL_CHANNELS]);
  });

  it('reads every channel, however many there are', () => {
    // A channel is a bit of a word of 32.
    expect(CHANNEL_IDS.length).toBeLessThanOrEqual(32);
    for (const id of SMALL_CHANNELS) {
      const [neuron] = connectome.channelNeurons(id);
      const { rates } = readout.read(raster([[3, neuron!]]), 50);
      expect(Object.entries(rates).filter(([, rate]) => rate !== 0)).toEqual([[id, 5]]);
    }
  });

  it('cuts the run into frames of 5 ms that begin with their first step', () => {
    expect(reading.frames.map(({ tMs, from, to }) => [tMs, from, to])).toEqual([
      [0, 0, 3],
      [5, 3, 5],
      ...[10, 15, 20, 25, 30, 35, 40].map((tMs) => [tMs, 5, 5]),
      [45, 5, 6],
    ]);
    // Three spikes of four neurons in 0.005 s.
    expect(reading.frames[0]!.rates.escape).toBe(150);
    expect(reading.frames[9]!.rates.stop).toBe(50);
  });

  it('ranks cell types by spikes, then by name', () => {
    expect(reading.topTypes).toEqual([
      {
        type: 'C_escape',
        super_class: 'descending',
        neurons: 4,
        responding: 2,
        spikes: 4,
        rate_hz: 20,
        stimulated: 2,
      },
      {
        type: 'C_stop',
        super_class: 'descending',
        neurons: 4,
        responding: 1,
        spikes: 1,
        rate_hz: 5,
        stimulated: 0,
      },
      {
        type: 'untyped central',
        super_class: 'central',
        neurons: 100,
        responding: 1,
        spikes: 1,
        rate_hz: 0.2,
        stimulated: 0,
      },
    ]);
  });

  it('reads the same without details, and again after another reading', () => {
    const { total, responding, meanRateHz, rates } = reading;
    expect(readout.read(spikes, 50)).toEqual({ total, responding, meanRateHz, rates });
    expect(readout.readInDetail(spikes, 50, Uint32Array.of(escape[0]!, escape[1]!))).toEqual(reading);
  });

  it('reads silence as zeros', () => {
    expect(readout.read(raster([]), 50)).toMatchObject({ total: 0, responding: 0, meanRateHz: 0 });
    expect(readout.readInDetail(raster([]), 200, new Uint32Array(0)).frames).toHaveLength(40);
  });

  it('digests steps and neurons as little-endian pairs', () => {
    // printf '\1\0\0\0\2\0\0\0' | sha256sum
    expect(rasterDigest(raster([[1, 2]]))).toBe(
      '34fb5c825de7ca4aea6e712f19d439c1da0c92c37b423936c5f618545ca4fa1f',
    );
  });
});

describe('ExperimentRunner', () => {
  const runner = new ExperimentRunner(connectome, new ReferenceEngine(connectome));
  const experiment: Experiment = { stimulus: 'loom', duration_ms: 150, intensity: 1.5, seed: 7 };

  function bodyOf(view: 'full' | 'drive'): string {
    return Buffer.from(runner.body(experiment, view, runner.simulate(experiment)).bytes).toString();
  }

  it('writes view=full as view=drive with two more members at its end', () => {
    const full = bodyOf('full');
    const drive = bodyOf('drive');
    expect(full.startsWith(drive.slice(0, -1))).toBe(true);
    const { headBytes } = runner.body(experiment, 'full', runner.simulate(experiment));
    expect(headBytes).toBe(Buffer.byteLength(drive) - 1);
    const { frames, top_types, ...head } = JSON.parse(full) as Record<string, unknown>;
    expect(head).toEqual(JSON.parse(drive));
    expect([frames, top_types]).toEqual([expect.any(Array), expect.any(Array)]);
  });

  it('writes the same text as JSON.stringify', () => {
    expect(bodyOf('full')).toBe(JSON.stringify(JSON.parse(bodyOf('full'))));
  });
});
