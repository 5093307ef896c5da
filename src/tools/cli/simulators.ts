import type { TableSignRule } from '../../engine/connectome/connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { CompiledRewiring } from '../../engine/simulation/rewiring/compiled-rewiring.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import {
  compileDrawingKernel,
  compileKernel,
  compileRewiringKernel,
} from '../../workers/pool/kernel-file.js';
import type { Brain } from '../compiler/brain.js';
import { buildConnectome } from '../compiler/build-connectome.js';
import { defaultPopulations } from '../compiler/populations.js';
import { type Simulators, Subject } from '../studies/subject.js';

/** Draws and simulates in this thread, with the compiled kernels. */
export function compiledSimulators(): Simulators {
  const kernel = compileKernel();
  return {
    draw: compiledDrawing(compileDrawingKernel()),
    engineOf: (wiring) => new KernelEngine(kernel, wiring),
    rewiringOf: (connectome) => {
      const rewiring = new CompiledRewiring(compileRewiringKernel(), connectome);
      // The next network may overwrite these two, and an engine may read its wiring again.
      return (wanted) => {
        const { targets, synapseCounts, ...others } = rewiring.rewire(wanted);
        return { ...others, targets: targets.slice(), synapseCounts: synapseCounts.slice() };
      };
    },
  };
}

/** A brain with its default populations, ready for studies. */
export function subjectOf(brain: Brain, signRule: TableSignRule, simulators: Simulators): Subject {
  const content = buildConnectome(brain, { signRule, populations: defaultPopulations(brain) });
  return new Subject(openConnectome(encodeConnectome(content).buffer), simulators);
}
