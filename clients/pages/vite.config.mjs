import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';
import { apiPage } from '../../scripts/api-page.mjs';

/** Modules that the brain's page shares with other pages, or with code that it loads later. */
const SHARED =
  /clients\/(typescript|pages\/([\w-]+\.ts|service\/(client|run-result)|brain\/)|fly\/src\/(run-drives|drive-formulas|behaviour|choreography|motion|anatomy))|src\/(engine\/(connectome\/|get-or-insert)|experiments\/(kinds\/mean-sd|presets\/drives))|simulation\/network|preload-helper/;

/** On a site without a service, pages are files. */
const asFiles = {
  name: 'site',
  transformIndexHtml(html) {
    return html
      .replace('<html ', '<html class="site" ')
      .replaceAll('href="laboratory"', 'href="laboratory.html"')
      .replaceAll('href="lesson"', 'href="lesson.html"')
      .replaceAll('href="docs"', 'href="docs.html"')
      .replaceAll('href="./"', 'href="index.html"');
  },
};

/** Builds the pages into dist/pages, from where src/service/pages serves them. */
export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative addresses, so that a proxy may serve the pages below any path.
  base: './',
  logLevel: 'warn',
  plugins: mode === 'site' ? [asFiles, apiPage({ isSite: true })] : [apiPage()],
  // clients/fly may have its own copy of three.
  resolve: { dedupe: ['three'], conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: fileURLToPath(new URL('../../dist/pages', import.meta.url)),
    emptyOutDir: true,
    // The content security policy allows data: URLs only for images, and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      // Separate documents, so that the brain's page loads no code of the others.
      input: ['index', 'laboratory', 'lesson', 'docs'].map((page) =>
        fileURLToPath(new URL(`${page}.html`, import.meta.url)),
      ),
      output: {
        codeSplitting: {
          // One group, because many small files would need many round trips on a slow connection.
          groups: [{ name: 'shared', test: SHARED, minShareCount: 2 }],
        },
      },
      checks: { pluginTimings: false },
    },
    // The build includes the licences of bundled packages.
    license: { fileName: 'licenses.md' },
  },
}));
