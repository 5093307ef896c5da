import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';

/** Modules that the brain's page shares with others, or with what it loads later. */
const SHARED =
  /clients\/(typescript|pages\/([\w-]+\.ts|service\/client|brain\/|plots\/time-plot)|fly\/src\/(run-drives|drive-formulas|behaviour|choreography|motion|anatomy))|src\/(connectome\/|mean-sd|presets\/drives)|simulation\/network|preload-helper/;

/** Builds the pages into dist/pages, from where src/service/pages serves them. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  logLevel: 'warn',
  // clients/fly may have one of its own.
  resolve: { dedupe: ['three'], conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: fileURLToPath(new URL('../../dist/pages', import.meta.url)),
    emptyOutDir: true,
    // The content security policy allows no data: URLs but for images, and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      // A document each, so that the brain's page loads nothing of the others.
      input: ['index', 'laboratory', 'docs'].map((page) =>
        fileURLToPath(new URL(`${page}.html`, import.meta.url)),
      ),
      output: {
        codeSplitting: {
          // Many small files would cost a slow connection a round trip each.
          groups: [{ name: 'shared', test: SHARED, minShareCount: 2 }],
        },
      },
      checks: { pluginTimings: false },
    },
    // The licences of what is bundled travel with it.
    license: { fileName: 'licenses.md' },
  },
});
