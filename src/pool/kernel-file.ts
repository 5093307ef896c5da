import { readFileSync } from 'node:fs';

/** The kernel as it is built; tests run the sources, and from there the way leads to what was built from them. */
const KERNEL_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/engine/kernel/kernel.wasm' : '../engine/kernel/kernel.wasm',
  import.meta.url,
);

/** Compiles the CPU engine's kernel. The module can be handed to any number of threads. */
export function compileKernel(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(KERNEL_FILE));
}
