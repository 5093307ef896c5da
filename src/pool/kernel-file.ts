import { readFileSync } from 'node:fs';

/** A kernel as it is built; tests run the sources, and from there the way leads to what was built from them. */
function compile(folder: 'engine' | 'experiment'): WebAssembly.Module {
  const built = import.meta.url.endsWith('.ts') ? '../../dist' : '..';
  return new WebAssembly.Module(
    readFileSync(new URL(`${built}/${folder}/kernel/kernel.wasm`, import.meta.url)),
  );
}

/** Compiles the CPU engine's kernel. The module can be handed to any number of threads. */
export function compileKernel(): WebAssembly.Module {
  return compile('engine');
}

/** Compiles the kernel that draws input events. */
export function compileDrawingKernel(): WebAssembly.Module {
  return compile('experiment');
}
