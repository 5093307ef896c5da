import { KernelEngine } from '../cpu/kernel-engine.js';
import type { InputEvents } from '../../stimulus/input-events.js';
import type { Rewiring } from '../../stimulus/protocol.js';
import type { SimulationEngine, SimulationOptions, Trial } from '../simulation.js';
import { CompiledRewiring } from './compiled-rewiring.js';
import type { Rewirable } from './rewired.js';

/** Room of the second engine: jitter makes a few more connections so strong that they take two words. */
const SHARE_OF_WORDS = 1.05;

/** Compiled kernels of the second engine. */
export interface RewiringModules {
  readonly simulation: WebAssembly.Module;
  readonly rewiring: WebAssembly.Module;
}

/**
 * Simulates a network as it is, and rewired. Rewired networks take the place of one another in a second engine, so that
 * memory is that of two networks, however many are asked for. It prepares a network when the first of its trials comes;
 * those that follow find it there.
 */
export class RewirableEngine implements SimulationEngine {
  #rewiring: CompiledRewiring | undefined;
  #second: KernelEngine | undefined;
  /** The wiring of the second engine, as text. */
  #prepared: string | undefined;

  /** @param load gives the kernels when the first rewired network comes */
  constructor(
    private readonly engine: KernelEngine,
    private readonly network: Rewirable,
    private readonly load: () => RewiringModules,
  ) {}

  simulate(events: InputEvents, options: SimulationOptions): Trial {
    return this.engineFor(options.wiring).simulate(events, options);
  }

  /** Tells whether a network is there, so that its engine need not prepare it. */
  has(wiring: Rewiring | undefined): boolean {
    return wiring === undefined || JSON.stringify(wiring) === this.#prepared;
  }

  /** @returns the engine of a network, which has it until another rewired one is asked for */
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
