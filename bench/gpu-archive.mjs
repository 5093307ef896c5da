/**
 * `npm run bench:gpu:archive -- --connectome FILE [--golden FILE] --out gpu-bench.tar.gz`
 *
 * Packs everything for bench:gpu into one archive below 60 MiB, for a machine with a GPU but without Node, compiler
 * and network: a stripped node, the built engine, its packages, one connectome. On that machine:
 *   tar -xf gpu-bench.tar.gz && gpu-bench/run.sh [options of bench:gpu]
 * The Vulkan driver is the machine's own; the archive has the loader (libvulkan.so.1) if this machine has one.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { runCommand } from '../dist/tools/cli/command.js';

const MAX_BYTES = 60 * 2 ** 20;
const PACKAGES = ['ajv', 'gpu.js', 'webgpu', 'piscina'];

const repository = resolve(import.meta.dirname, '..');
/** The folder that becomes the archive. */
let root;

await runCommand({
  name: 'bench:gpu:archive',
  summary:
    'Puts all that bench:gpu needs into one archive, for a machine without Node, compiler and network.',
  options: {
    connectome: { value: 'FILE', required: true, help: 'The connectome to simulate there.' },
    golden: { value: 'FILE', help: 'A golden run that is compared and measured as well.' },
    out: { value: 'FILE', required: true, help: 'The archive, such as gpu-bench.tar.gz.' },
    vulkan: {
      value: 'FILE',
      default: '/usr/lib/x86_64-linux-gnu/libvulkan.so.1',
      help: 'The Vulkan loader that goes along if there is one.',
    },
  },
  run: writeArchive,
});

async function writeArchive(options) {
  const work = mkdtempSync(join(tmpdir(), 'gpu-bench-'));
  root = join(work, 'gpu-bench');
  ['gpu', 'measure'].forEach((each) => copy(`bench/${each}.mjs`));
  ['command', 'progress', 'text'].forEach((each) => copy(`dist/tools/cli/${each}.js`));
  ['engine', 'experiments/presets', 'tools/golden', 'workers/gpu', 'workers/pool'].forEach((each) =>
    copy(`dist/${each}`),
  );
  packagesBelow(PACKAGES).forEach(copy);
  const { type, imports } = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type, imports }));
  cpSync(options.connectome, join(root, basename(options.connectome)));
  if (options.golden !== undefined) cpSync(options.golden, join(root, basename(options.golden)));

  const golden = options.golden === undefined ? '' : `--golden ${basename(options.golden)}`;
  mkdirSync(join(root, 'bin'));
  cpSync(process.execPath, join(root, 'bin/node'), { dereference: true });
  execFileSync('strip', [join(root, 'bin/node')]);
  // The loader is a link, and Node 24 copies no file through one.
  if (existsSync(options.vulkan)) cpSync(realpathSync(options.vulkan), join(root, 'lib/libvulkan.so.1'));
  writeFileSync(
    join(root, 'run.sh'),
    `#!/bin/sh
cd "$(dirname "$0")" || exit 1
# The machine's own loader comes first; the one here is for machines that have a driver and no loader.
ldconfig -p 2>/dev/null | grep -q libvulkan.so.1 || export LD_LIBRARY_PATH="$PWD/lib:$LD_LIBRARY_PATH"
exec bin/node bench/gpu.mjs --connectome ${basename(options.connectome)} ${golden} "$@"
`,
    { mode: 0o755 },
  );

  execFileSync('tar', [
    '-C',
    work,
    '-cf',
    resolve(options.out),
    '--use-compress-program',
    'gzip -9',
    'gpu-bench',
  ]);
  rmSync(work, { recursive: true });
  const { size } = statSync(options.out);
  console.log(`${options.out}: ${(size / 2 ** 20).toFixed(1)} MiB`);
  if (size > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes, found ${size}`);
}

function copy(path) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  cpSync(join(repository, path), join(root, path), { recursive: true, filter: isNeeded });
}

/** No sources of sources, no types, no browser builds, no bindings of other platforms. */
function isNeeded(path) {
  if (/\.(map|d\.ts|md)$/.test(path) || /gpu\.js\/dist$/.test(path)) return false;
  const platform = /webgpu\/dist\/([^/]+)/.exec(path)?.[1];
  return platform === undefined || platform === `${process.platform}-${process.arch}`;
}

/** Paths of packages and of everything they depend on, as npm has put them. */
function packagesBelow(names, from = repository, found = new Set()) {
  for (const name of names) {
    let at = from;
    while (!existsSync(join(at, 'node_modules', name)) && at !== repository) at = dirname(at);
    const dir = join(at, 'node_modules', name);
    if (!existsSync(dir) || found.has(dir)) continue;
    found.add(dir);
    const { dependencies = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    packagesBelow(Object.keys(dependencies), dir, found);
  }
  return [...found].map((dir) => dir.slice(repository.length + 1));
}
