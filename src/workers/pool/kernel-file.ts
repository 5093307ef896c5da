import { readFileSync } from 'node:fs';
import { builtFile } from './worker-file.js';

/** Compiles the kernel of the CPU engine. Any number of threads can share the module. */
export function compileKernel(): WebAssembly.Module {
  return compile('../../engine/simulation/kernel/kernel.wasm');
}

/** Compiles the kernel that draws input events. */
export function compileDrawingKernel(): WebAssembly.Module {
  return compile('../../engine/stimulus/kernel/kernel.wasm');
}

/** Compiles the kernel that rewires networks. */
export function compileRewiringKernel(): WebAssembly.Module {
  return compile('../../engine/simulation/rewiring/kernel/kernel.wasm');
}

function compile(path: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(builtFile(path, import.meta.url)));
}
