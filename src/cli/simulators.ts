import { KernelEngine } from '../simulation/cpu/kernel-engine.js';
import { compiledDrawing } from '../stimulus/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../scheduling/kernel-file.js';
import type { Simulators } from '../validation/subject.js';

/** The compiled kernels, which draw and simulate in this thread. */
export function compiledSimulators(): Simulators {
  const kernel = compileKernel();
  return {
    draw: compiledDrawing(compileDrawingKernel()),
    engineOf: (wiring) => new KernelEngine(kernel, wiring),
  };
}
