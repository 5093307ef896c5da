/** Adds a service worker to the site: clients/pages/offline.ts with the names of the site's files. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const SCRIPT = 'offline.js';
/** The brain is stored by brain.js, when it is first opened. No page shows the others. */
const LEFT_OUT = /^brain\/|^assets\/preview-|\.md$/;
const NAMED_BY_CONTENT = /^(assets|atlas)\/|^brain-[\w-]{8}\.js$/;
/** Fonts and code of files to save, the atlas as JSON, and the ids of all neurons, which name the rows of tables. */
const FOR_FEW = /\.(ttf|icc)$|\/(arrow|figure-pdf)-[\w-]+\.js$|^atlas\/.*(\.json|-ids\.txt)$/;

/** The element that registers the worker. @param folder path of the site from the page */
export function offlineScript(folder) {
  return `<script src="${folder}${SCRIPT}" async></script>`;
}

/** Plugin of Vite that adds this element to the pages. */
export function offline() {
  return {
    name: 'offline',
    transformIndexHtml: (html) => html.replace('</head>', `  ${offlineScript('./')}\n  </head>`),
  };
}

/** Writes the worker of a folder that has all other files. */
export async function writeOffline(out) {
  const paths = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(out, '/').length))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !LEFT_OUT.test(path))
    .sort();
  const digest = createHash('sha256');
  for (const path of paths) digest.update(`${path}\n`).update(readFileSync(join(out, path)));
  const named = paths.filter((path) => NAMED_BY_CONTENT.test(path));
  const files = {
    fresh: [...paths.filter((path) => !named.includes(path)), SCRIPT],
    lasting: named.filter((path) => !FOR_FEW.test(path)),
    onUse: named.filter((path) => FOR_FEW.test(path)),
  };
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    define: { FILES: JSON.stringify(files), BUILD: JSON.stringify(digest.digest('hex').slice(0, 16)) },
    build: {
      outDir: out,
      emptyOutDir: false,
      target: 'es2022',
      lib: {
        entry: fileURLToPath(new URL('../clients/pages/offline.ts', import.meta.url)),
        formats: ['iife'],
        name: 'offline',
        fileName: () => SCRIPT,
      },
    },
  });
}
