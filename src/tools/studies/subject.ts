import type { Connectome, TableSignRule, Wiring } from '../../engine/connectome/connectome.js';
import { neuronsOfTypes } from '../../engine/connectome/node-set-resolver.js';
import type { ChannelRates } from '../../experiments/presets/drives.js';
import type { StimulusId } from '../../experiments/presets/populations.js';
import { Readout } from '../../experiments/presets/readout.js';
import { STEPS_PER_MS } from '../../engine/simulation/network.js';
import type { SimulationEngine, SpikeRaster } from '../../engine/simulation/simulation.js';
import type { DrawInputEvents } from '../../engine/stimulus/input-events.js';
import { type Protocol, type Rewiring, v1Protocol } from '../../engine/stimulus/protocol.js';

const DURATION_MS = 100;
/** The sign rules that the studies on FlyWire compare. */
export type ComparedRule = Exclude<TableSignRule, 'fast'>;
/** Rate of the input events of most stimuli at intensity 1. */
export const NOMINAL_RATE_HZ = 150;

/** Draws and simulates the trials of a study. Studies shuffle the wiring, and each wiring needs its own engine. */
export interface Simulators {
  readonly draw: DrawInputEvents;
  readonly engineOf: (wiring: Wiring) => SimulationEngine;
  /** Rewires a connectome any number of times. */
  readonly rewiringOf: (connectome: Connectome) => (rewiring: Rewiring) => Wiring;
}

export interface Run {
  readonly responding: number;
  readonly rates: ChannelRates;
  /** Neurons with at least one spike, ascending. */
  readonly neurons: Uint32Array;
}

/** A connectome with one wiring, ready for stimulation. */
export class Subject {
  readonly #engine: SimulationEngine;
  readonly #readout: Readout;

  constructor(
    readonly connectome: Connectome,
    private readonly simulators: Simulators,
    wiring: Wiring = connectome,
  ) {
    this.#engine = simulators.engineOf(wiring);
    this.#readout = new Readout(connectome);
  }

  /** @param silenced neurons whose outputs are cut */
  excite(
    neurons: Uint32Array,
    nominalRateHz: number,
    intensity: number,
    seed: number,
    silenced?: Uint32Array,
  ): Run {
    const protocol = {
      ...v1Protocol(neurons, { nominalRateHz, intensity, seed }, DURATION_MS * STEPS_PER_MS),
      ...(silenced && { silenced }),
    };
    const raster = this.simulate(protocol);
    const { responding, rates } = this.#readout.read(raster, DURATION_MS);
    return { responding, rates, neurons: Uint32Array.from(new Set(raster.neurons)).sort() };
  }

  simulate(protocol: Protocol): SpikeRaster {
    const events = this.simulators.draw(protocol, (i) => this.connectome.neuronId(i));
    return this.#engine.simulate(events, protocol);
  }

  stimulate(
    id: StimulusId,
    seed: number,
    { intensity = 1, silenced }: { intensity?: number; silenced?: Uint32Array } = {},
  ): Run {
    const { nominalRateHz } = this.connectome.metadata.stimuli.find((each) => each.id === id)!;
    return this.excite(this.connectome.stimulusNeurons(id), nominalRateHz, intensity, seed, silenced);
  }
}

/** All neurons of some types, ascending by id; `*` in a type matches any sequence of characters. */
export function neuronsByIdOf(connectome: Connectome, types: readonly string[]): Uint32Array {
  const found = Array.from(neuronsOfTypes(connectome, types), (i) => [i, connectome.neuronId(i)] as const);
  found.sort(([, a], [, b]) => a.length - b.length || (a < b ? -1 : 1));
  return Uint32Array.from(found, ([i]) => i);
}
