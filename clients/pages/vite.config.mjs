import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Builds the two pages into dist/dashboard/page, from where src/dashboard serves it. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  logLevel: 'warn',
  // clients/fly may have one of its own.
  resolve: { dedupe: ['three'] },
  build: {
    outDir: fileURLToPath(new URL('../../../dist/dashboard/page', import.meta.url)),
    emptyOutDir: true,
    // The content security policy allows no data: URLs but for images, and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      // Two documents, so that the brain's page loads nothing of the laboratory.
      input: ['index', 'laboratory'].map((page) => fileURLToPath(new URL(`${page}.html`, import.meta.url))),
      checks: { pluginTimings: false },
    },
    // The licences of what is bundled travel with it.
    license: { fileName: 'licenses.md' },
  },
});
