/** Compiles src/engine/kernel to dist/engine/kernel/kernel.wasm, after `nest build` has emptied dist. */
import asc from 'assemblyscript/asc';

const { error, stderr } = await asc.main([
  'src/engine/kernel/kernel.ts',
  '--outFile',
  'dist/engine/kernel/kernel.wasm',
  '--optimizeLevel',
  '3',
  // The kernel keeps its own bounds; a check on every access would cost more than the access.
  '--noAssert',
  // It lays its memory out itself: no allocator, no garbage collector.
  '--enable',
  'simd',
  '--runtime',
  'stub',
]);
if (error) {
  console.error(stderr.toString());
  process.exit(1);
}
