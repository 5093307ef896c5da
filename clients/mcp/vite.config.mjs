import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultServerConditions, defineConfig } from 'vite';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

const { dependencies } = JSON.parse(readFileSync(pathOf('../../package.json'), 'utf8'));
const installed = Object.keys(dependencies);

/** Builds dist/mcp/mcp.js. Dependencies of the service stay outside; the SDK of the protocol comes into the bundle. */
export default defineConfig({
  root: pathOf('.'),
  logLevel: 'warn',
  resolve: { conditions: ['source', ...defaultServerConditions] },
  ssr: { noExternal: true },
  build: {
    ssr: pathOf('command.ts'),
    outDir: pathOf('../../dist/mcp'),
    emptyOutDir: true,
    target: 'node20',
    rollupOptions: {
      external: (name) => installed.some((each) => name === each || name.startsWith(`${each}/`)),
      output: { entryFileNames: 'mcp.js', chunkFileNames: 'mcp-[hash].js' },
      checks: { pluginTimings: false },
    },
    license: { fileName: 'licenses.md' },
  },
});
