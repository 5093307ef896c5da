import { cpSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

const kernels = { simulation: 'simulation', rewiring: 'simulation/rewiring', drawing: 'stimulus' };

const besideIt = {
  name: 'kernels',
  generateBundle() {
    for (const [name, folder] of Object.entries(kernels)) {
      const source = readFileSync(pathOf(`../../dist/engine/${folder}/kernel/kernel.wasm`));
      this.emitFile({ type: 'asset', fileName: `${name}.wasm`, source });
    }
  },
};

/** The npm package of the client has the same files. */
const inThePackage = {
  name: 'package',
  closeBundle() {
    const local = pathOf('../typescript/dist/local');
    rmSync(local, { recursive: true, force: true });
    cpSync(pathOf('../../dist/pages/tab'), local, { recursive: true });
    cpSync(pathOf('brain.d.ts'), `${local}/brain.d.ts`);
  },
};

/** Builds brain.js, its worker and the kernels into dist/pages/tab. `nest build` and the kernels come before it. */
export default defineConfig({
  root: pathOf('.'),
  logLevel: 'warn',
  plugins: [besideIt, inThePackage],
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: pathOf('../../dist/pages/tab'),
    emptyOutDir: true,
    target: 'es2022',
    // A worker has no document in which a chunk could be loaded before it is imported.
    modulePreload: false,
    rollupOptions: {
      input: { brain: pathOf('open-brain.ts'), 'brain.worker': pathOf('brain.worker.ts') },
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: '[name].js', chunkFileNames: 'brain-[hash].js' },
      checks: { pluginTimings: false },
    },
    license: { fileName: 'licenses.md' },
  },
});
