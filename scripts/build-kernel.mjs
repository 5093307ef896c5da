/** Compiles the kernels below src to dist/.../kernel.wasm, after `nest build` has emptied dist. */
import asc from 'assemblyscript/asc';

for (const folder of ['simulation', 'simulation/rewiring', 'stimulus']) {
  const { error, stderr } = await asc.main([
    `src/engine/${folder}/kernel/kernel.ts`,
    '--outFile',
    `dist/engine/${folder}/kernel/kernel.wasm`,
    '--optimizeLevel',
    '3',
    // A kernel keeps its own bounds; a check on every access would cost more than the access.
    '--noAssert',
    // The kernel lays its memory out itself: no allocator, no garbage collector.
    '--enable',
    'simd',
    '--runtime',
    'stub',
  ]);
  if (error) {
    console.error(stderr.toString());
    process.exit(1);
  }
}
