/**
 * Writes a site that needs no service: the pages, the brain, and the answers that a page shows before the brain is there.
 * Any static host serves it, also below a path. Run `npm run build` first.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { openBrain } from '../dist/pages/tab/brain.js';
import { guide } from './site-guide.mjs';
import { offline, writeOffline } from './site-offline.mjs';

const DEFAULT_CONNECTOME = 'data/default.connectome';
const { values } = parseArgs({
  options: { out: { type: 'string' }, connectome: { type: 'string', default: DEFAULT_CONNECTOME } },
});
const { out, connectome } = values;
if (out === undefined) fail('Say where: npm run site -- --out DIR');
const others = existsSync(out) ? readdirSync(out).filter((name) => name !== '.git') : [];
if (others.length > 0 && !others.includes('brain.json')) {
  fail(`${out} has other files, which a site would replace. Name an empty folder, or one with a whole site.`);
}
if (!existsSync('dist/pages/tab/brain.js')) fail('npm run build comes first.');
if (!existsSync(connectome)) fail(`${connectome} is missing; npm run up compiles the default connectome.`);

const brain = await openBrain(connectome);
try {
  const model = await brain.model();
  await build({
    configFile: 'clients/pages/vite.config.mjs',
    mode: 'site',
    plugins: [guide(), offline()],
    build: { outDir: resolve(out), emptyOutDir: true },
  });
  cpSync('dist/pages/tab', out, { recursive: true });
  const file = `brain/${model.connectome_digest}.connectome.gz`;
  write(file, gzipSync(readFileSync(connectome), { level: 9 }));
  write('brain.json', JSON.stringify({ file }));
  const atlas = model.atlas_url.replace(/\.json$/, '');
  const runs = ['none', ...model.stimuli.map(({ id }) => id)].map(
    (id) => `/runs/${model.connectome_digest}/${id}`,
  );
  const files = ['.json', '.bin', '-start.bin', '-map.bin', '-ids.txt'].map((ending) => atlas + ending);
  const answers = ['/api/v1/model', ...files, ...runs];
  for (const path of answers) write(path, await brain.client.bytes(path));
  write('answers.json', JSON.stringify(answers));
  await writeOffline(resolve(out));
  console.log(`${out} holds the site of ${model.name}.`);
} finally {
  brain.close();
}

function write(path, bytes) {
  const whole = join(out, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, bytes);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
