import type { Wiring } from '../../connectome/connectome.js';
import { instantiated, viewOf } from '../../instantiated.js';
import type { Rewiring } from '../../stimulus/protocol.js';
import { resampledCounts } from './resampled-counts.js';
import {
  type Deal,
  dealOf,
  inverseOf,
  jitterFactors,
  neuronsById,
  type Rewirable,
  sampledSigns,
  thresholded,
} from './rewired.js';

type Section =
  | 'order'
  | 'numbers'
  | 'rowStart'
  | 'targets'
  | 'synapseCounts'
  | 'ofSources'
  | 'ofTargets'
  | 'jitterFactors';

/** Exports of kernel/kernel.ts. A section is the address of its first byte. */
interface Kernel extends Readonly<Record<Section, WebAssembly.Global>> {
  readonly memory: WebAssembly.Memory;
  layOut(neurons: number, connections: number, decks: number): void;
  loadWiring(): void;
  begin(): void;
  shuffle(seed: number, number: number, decks: number, movesTargets: boolean, movesSynapses: boolean): void;
  jitter(seed: number): void;
  end(hasMovedTargets: boolean): void;
}

/** Rewires one network in WebAssembly, any number of times, with the same result as `rewired`. */
export class CompiledRewiring {
  readonly #kernel: Kernel;
  readonly #order: Uint32Array;
  /** The wiring in the kernel's memory, its minimum of synapses, and the deal in the kernel's memory. */
  #loaded: Wiring;
  #minimumSynapses: number | undefined;
  #deal: Deal | undefined;

  /** @param module the compiled dist/engine/simulation/rewiring/kernel/kernel.wasm; threads can share it */
  constructor(
    module: WebAssembly.Module,
    private readonly network: Rewirable,
  ) {
    this.#loaded = network;
    const kernel = instantiated<Kernel>(module, 'the rewiring');
    const { neuronCount, connectionCount } = network;
    const { deckCount } = dealOf(network, 'targets_within_super_class');
    kernel.layOut(neuronCount, connectionCount, deckCount);
    this.#kernel = kernel;
    this.#order = neuronsById(network);
    viewOf(kernel, Uint32Array, 'order', neuronCount).set(this.#order);
    viewOf(kernel, Uint32Array, 'numbers', neuronCount).set(inverseOf(this.#order));
  }

  /** @returns a wiring that the next call overwrites */
  rewire({ minimumSynapses = 1, shuffle, jitter = 0, counts, signs: asked, seed }: Rewiring): Wiring {
    const kernel = this.#kernel;
    const { neuronCount, connectionCount, rowStart, ...loaded } = this.#load(minimumSynapses);
    kernel.begin();
    const deal = shuffle && this.#dealFor(shuffle);
    if (deal !== undefined) {
      kernel.shuffle(seed, deal.number, deal.deckCount, deal.movesTargets, deal.movesSynapses);
    }
    if (jitter > 0) {
      const factors = jitterFactors(jitter);
      viewOf(kernel, Float64Array, 'jitterFactors', factors.length).set(factors);
      kernel.jitter(seed);
    }
    const movesTargets = deal?.movesTargets === true;
    kernel.end(movesTargets);
    const targets = movesTargets ? viewOf(kernel, Uint32Array, 'targets', connectionCount) : loaded.targets;
    const synapseCounts = viewOf(kernel, Uint16Array, 'synapseCounts', connectionCount);
    const signs = asked === undefined ? loaded.signs : sampledSigns(this.network, this.#order, seed);
    const wiring = { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs };
    if (counts === undefined) return wiring;
    const numbers = viewOf(kernel, Uint32Array, 'numbers', neuronCount);
    return { ...wiring, synapseCounts: resampledCounts(wiring, numbers, seed) };
  }

  /** Loads the network without weak connections into the kernel. @returns the loaded wiring */
  #load(minimumSynapses: number): Wiring {
    if (minimumSynapses !== this.#minimumSynapses) {
      const loaded = thresholded(this.network, minimumSynapses);
      const { neuronCount, connectionCount } = loaded;
      viewOf(this.#kernel, Uint32Array, 'rowStart', neuronCount + 1).set(loaded.rowStart);
      viewOf(this.#kernel, Uint32Array, 'targets', connectionCount).set(loaded.targets);
      viewOf(this.#kernel, Uint16Array, 'synapseCounts', connectionCount).set(loaded.synapseCounts);
      this.#kernel.loadWiring();
      this.#minimumSynapses = minimumSynapses;
      this.#loaded = loaded;
    }
    return this.#loaded;
  }

  #dealFor(shuffle: Deal['shuffle']): Deal {
    if (this.#deal?.shuffle !== shuffle) {
      this.#deal = dealOf(this.network, shuffle);
      const { ofSources, ofTargets } = this.#deal;
      const ofNumbers = (list: Uint32Array) => this.#order.map((neuron) => list[neuron]!);
      viewOf(this.#kernel, Uint32Array, 'ofSources', ofSources.length).set(ofNumbers(ofSources));
      viewOf(this.#kernel, Uint32Array, 'ofTargets', ofTargets.length).set(ofNumbers(ofTargets));
    }
    return this.#deal;
  }
}
