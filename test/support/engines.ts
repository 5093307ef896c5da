import type { Wiring } from '../../src/engine/connectome/connectome.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import type { SimulationEngine } from '../../src/engine/simulation/simulation.js';
import { compileKernel } from '../../src/workers/pool/kernel-file.js';

const kernel = compileKernel();

/** Every engine that computes exact spikes: one test body, run by each. */
export const ENGINES: readonly { name: string; build: (wiring: Wiring) => SimulationEngine }[] = [
  { name: 'ReferenceEngine', build: (wiring) => new ReferenceEngine(wiring) },
  { name: 'KernelEngine', build: (wiring) => new KernelEngine(kernel, wiring) },
];
