import { readFileSync } from 'node:fs';
import { builtFile } from './worker-file.js';

/** Compiles the kernel of the CPU engine. Any number of threads can share the module. */
export const compileKernel = compiling('simulation/kernel');

/** Compiles the kernel that draws input events. */
export const compileDrawingKernel = compiling('stimulus/kernel');

/** Compiles the kernel that rewires networks. */
export const compileRewiringKernel = compiling('simulation/rewiring/kernel');

function compiling(folder: string): () => WebAssembly.Module {
  const file = builtFile(`../../engine/${folder}/kernel.wasm`, import.meta.url);
  return () => new WebAssembly.Module(readFileSync(file));
}
