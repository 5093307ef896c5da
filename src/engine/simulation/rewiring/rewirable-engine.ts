import { KernelEngine } from '../cpu/kernel-engine.js';
import type { InputEvents } from '../../stimulus/input-events.js';
import type { Rewiring } from '../../stimulus/protocol.js';
import type { SimulationEngine, SimulationOptions, Trial } from '../simulation.js';
import { CompiledRewiring } from './compiled-rewiring.js';
import type { Rewirable } from './rewired.js';

/** The room of the second engine, in words of its first wiring. Jitter gives a few more connections a second word. */
const SHARE_OF_WORDS = 1.05;

/** The compiled kernels of the second engine. */
export interface RewiringModules {
  readonly simulation: WebAssembly.Module;
  readonly rewiring: WebAssembly.Module;
}

/**
 * Simulates a network unchanged and rewired. A second engine holds one rewired network at a time, so the memory is
 * that of two networks. The network is prepared for its first trial and stays until a trial needs another one.
 */
export class RewirableEngine implements SimulationEngine {
  #rewiring: CompiledRewiring | undefined;
  #second: KernelEngine | undefined;
  /** The wiring of the second engine, as text. */
  #prepared: string | undefined;

  /** @param load called once, for the first rewired network */
  constructor(
    private readonly engine: KernelEngine,
    private readonly network: Rewirable,
    private readonly load: () => RewiringModules,
  ) {}

  simulate(events: InputEvents, options: SimulationOptions): Trial {
    return this.engineFor(options.wiring).simulate(events, options);
  }

  /** Tells whether a network is prepared. */
  has(wiring: Rewiring | undefined): boolean {
    return wiring === undefined || JSON.stringify(wiring) === this.#prepared;
  }

  /** @returns an engine with this network, until the next call with another rewired network */
  engineFor(wiring: Rewiring | undefined): KernelEngine {
    if (wiring === undefined) return this.engine;
    const text = JSON.stringify(wiring);
    if (this.#second !== undefined && text === this.#prepared) return this.#second;
    this.#prepared = undefined;
    if (this.#rewiring === undefined || this.#second === undefined) {
      const { simulation, rewiring } = this.load();
      this.#rewiring = new CompiledRewiring(rewiring, this.network);
      this.#second = new KernelEngine(simulation, this.#rewiring.rewire(wiring), SHARE_OF_WORDS);
    } else {
      this.#second.rewire(this.#rewiring.rewire(wiring));
    }
    this.#prepared = text;
    return this.#second;
  }
}
