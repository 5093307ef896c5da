/** What a brain answers to a stimulus, as means over seeds: for comparing brains with one another. */
import type { Connectome } from '../connectome/connectome.js';
import type { ChannelRates } from '../answers/v1/drives.js';
import { STEPS_PER_MS } from '../engine/network.js';
import { Readout } from '../answers/v1/readout.js';
import type { SimulationEngine } from '../engine/simulation.js';
import type { DrawInputEvents } from '../experiment/input-events.js';
import { v1Protocol } from '../experiment/protocol.js';
import { CHANNEL_IDS } from '../answers/v1/populations.js';
import { neuronsOfTypes } from '../connectome/selection.js';

const DURATION_MS = 100;
const INTENSITY = 1;

/** A population that is excited. */
export interface Stimulation {
  readonly name: string;
  readonly rateHz: number;
  /** Neurons of a connectome in ascending order of their ids. */
  readonly neuronsIn: (connectome: Connectome) => Uint32Array;
}

/** The stimuli of the service. */
export function servedStimulations({ metadata }: Connectome): Stimulation[] {
  return metadata.stimuli.map(({ id, nominalRateHz }) => ({
    name: id,
    rateHz: nominalRateHz,
    neuronsIn: (connectome) => connectome.stimulusNeurons(id),
  }));
}

/** All neurons of the given types; * matches any sequence of characters. */
export function stimulationOfTypes(name: string, types: readonly string[], rateHz: number): Stimulation {
  return {
    name,
    rateHz,
    neuronsIn: (connectome) => {
      const ids = new Map<number, string>();
      for (const i of neuronsOfTypes(connectome, types)) ids.set(i, connectome.neuronId(i));
      const inOrder = [...ids].sort(([, a], [, b]) => a.length - b.length || (a < b ? -1 : 1));
      return Uint32Array.from(inOrder, ([i]) => i);
    },
  };
}

export interface Response {
  readonly stimulation: string;
  /** Neurons with at least one spike in 100 ms at intensity 1. */
  readonly responding: number;
  readonly rates: ChannelRates;
}

/** @returns means over the seeds, one response for each stimulation */
export function meanResponses(
  connectome: Connectome,
  { draw, engine }: { readonly draw: DrawInputEvents; readonly engine: SimulationEngine },
  stimulations: readonly Stimulation[],
  seeds: readonly number[],
): Response[] {
  const readout = new Readout(connectome);
  return stimulations.map(({ name, rateHz, neuronsIn }) => {
    const neurons = neuronsIn(connectome);
    const readings = seeds.map((seed) => {
      const train = { nominalRateHz: rateHz, intensity: INTENSITY, seed };
      const protocol = v1Protocol(neurons, train, DURATION_MS * STEPS_PER_MS);
      const events = draw(protocol, (i) => connectome.neuronId(i));
      return readout.read(engine.simulate(events, protocol), DURATION_MS);
    });
    const mean = (of: (reading: (typeof readings)[number]) => number): number =>
      readings.reduce((sum, reading) => sum + of(reading), 0) / readings.length;
    return {
      stimulation: name,
      responding: mean(({ responding }) => responding),
      rates: Object.fromEntries(
        CHANNEL_IDS.map((id) => [id, mean(({ rates }) => rates[id]!)]),
      ) as unknown as ChannelRates,
    };
  });
}
