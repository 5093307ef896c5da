import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../../workers/pool/kernel-file.js';
import type { Simulators } from '../studies/subject.js';

/** Draws and simulates in this thread, with the compiled kernels. */
export function compiledSimulators(): Simulators {
  const kernel = compileKernel();
  return {
    draw: compiledDrawing(compileDrawingKernel()),
    engineOf: (wiring) => new KernelEngine(kernel, wiring),
  };
}
