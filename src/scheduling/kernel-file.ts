import { readFileSync } from 'node:fs';
import { builtFile } from './worker-file.js';

/** Compiles the CPU engine's kernel. The module can be handed to any number of threads. */
export function compileKernel(): WebAssembly.Module {
  return compile('../simulation/kernel/kernel.wasm');
}

/** Compiles the kernel that draws input events. */
export function compileDrawingKernel(): WebAssembly.Module {
  return compile('../stimulus/kernel/kernel.wasm');
}

/** Compiles the kernel that rewires networks. */
export function compileRewiringKernel(): WebAssembly.Module {
  return compile('../simulation/rewiring/kernel/kernel.wasm');
}

function compile(path: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(builtFile(path, import.meta.url)));
}
