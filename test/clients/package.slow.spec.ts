/** The npm package of the client, packed from the build, and used by a program of another folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runBuilt } from '../support/commands.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

const PACKAGE = resolve('clients/typescript');
const LOOM = { stimulus: 'loom', seed: 5 };

/** Uses both entries, as JavaScript and as TypeScript. */
const PROGRAM = `import { NeuralExperimentClient } from 'neural-experiment-client';
import { connect, openBrain } from 'neural-experiment-client/local';

// As in a test with jsdom; the brain still comes from a disk.
globalThis.document = {};
const brain = await openBrain(${JSON.stringify(smallConnectomeFile())}, { workers: 2 });
const text = JSON.stringify(await brain.run(${JSON.stringify(LOOM)}));
const post = { method: 'POST', body: new TextEncoder().encode(${JSON.stringify(JSON.stringify(LOOM))}) };
const fetched = [];
for (const asked of [['/api/v1/run', post], [new Request('http://here/api/v1/run', post)]])
  fetched.push((await (await brain.fetch(...asked)).text()) === text);
const refusal = await brain.experiment({ trials: 0 }).catch((error) => error.code);
const missing = await openBrain('missing.connectome').catch((error) => error.code);
const noSite = await openBrain().catch((error) => error.code);
const aborted = await openBrain('missing.connectome', { signal: AbortSignal.abort('gone') }).catch((error) => error);
brain.close();
console.log(JSON.stringify({ text, fetched, refusal, missing, noSite, aborted, ways: [typeof connect, typeof NeuralExperimentClient] }));
`;
const TYPES = `import { openBrain, type BrainOptions } from 'neural-experiment-client/local';
const options: BrainOptions = { onProgress: ({ loadedBytes, totalBytes }) => console.log(loadedBytes, totalBytes) };
const brain = await openBrain(new URL('file:///brain.connectome'), options);
export const escape: number | undefined = (await brain.run({ stimulus: 'loom' }, { view: 'drive' })).drive['escape'];
export const frames = (await brain.run()).frames;
// @ts-expect-error A brain has no such option.
void openBrain({ threads: 2 });
`;

describe('the npm package of the client', () => {
  let folder: string;
  let packed: { readonly filename: string; readonly files: readonly { readonly path: string }[] };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'package-'));
    const npm = (args: string[]) =>
      JSON.parse(execFileSync('npm', [...args, '--json'], { cwd: PACKAGE, encoding: 'utf8' })) as [
        typeof packed,
      ];
    [packed] = npm(['pack', '--pack-destination', folder]);
    const installed = join(folder, 'node_modules/neural-experiment-client');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', installed, '--strip-components', '1']);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'program.js'), PROGRAM);
    writeFileSync(join(folder, 'types.ts'), TYPES);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('holds both entries, their types, the kernels and the licences, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'package.json',
        'dist/client.js',
        'dist/client.d.ts',
        ...['brain.js', 'brain.d.ts', 'brain.worker.js', 'licenses.md'].map((name) => `dist/local/${name}`),
        ...['simulation', 'rewiring', 'drawing'].map((name) => `dist/local/${name}.wasm`),
      ]),
    );
    expect(
      paths.filter((path) => !/^(dist\/(local\/)?[\w.-]+|LICENSE|README\.md|package\.json)$/.test(path)),
    ).toEqual([]);
    // Each build names the chunks anew, and no old one is left.
    const text = ['brain.js', 'brain.worker.js'].map((name) =>
      readFileSync(join(PACKAGE, 'dist/local', name), 'utf8'),
    );
    const chunks = paths
      .filter((path) => /\/brain-[\w-]+\.js$/.test(path))
      .map((path) => path.split('/').at(-1)!);
    const all = [
      ...text,
      ...chunks.map((name) => readFileSync(join(PACKAGE, 'dist/local', name), 'utf8')),
    ].join('');
    expect(chunks.filter((name) => !all.includes(name))).toEqual([]);
  });

  it('names its purpose, its users and its licence', () => {
    const { description, keywords, license, engines, version, ...members } = JSON.parse(
      readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
    ) as Record<string, unknown>;
    const service = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
    expect({ license, version }).toEqual({ license: service['license'], version: service['version'] });
    expect(engines).toEqual({ node: expect.stringMatching(/^>=20/) });
    expect(description).toMatch(/fruit fly brain/);
    expect((keywords as unknown[]).length).toBeGreaterThan(5);
    expect(members).not.toHaveProperty('dependencies');
    expect(readFileSync(join(PACKAGE, 'LICENSE'), 'utf8')).toBe(readFileSync('LICENSE', 'utf8'));
  });

  it('computes in a program of another folder as the service does', async () => {
    const output = execFileSync(process.execPath, ['program.js'], { cwd: folder, encoding: 'utf8' });
    const args = ['loom', '--seed', '5', '--json', '--connectome', smallConnectomeFile()];
    const text = (await runBuilt('preset', args)).stdout.trim();
    expect(JSON.parse(output)).toEqual({
      text,
      fetched: [true, true],
      refusal: 'INVALID_PARAMETER',
      missing: 'CONNECTOME_MISSING',
      noSite: 'CONNECTOME_MISSING',
      aborted: 'gone',
      ways: ['function', 'function'],
    });
  });

  it.each(['bundler', 'nodenext'])('has types under moduleResolution %s', (resolution) => {
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext';
    const kind = ['--module', module, '--moduleResolution', resolution, '--target', 'es2022'];
    const options = ['--ignoreConfig', '--strict', '--noEmit', '--lib', 'es2022,dom,dom.iterable'];
    const compiler = resolve('node_modules/typescript-7/bin/tsc');
    execFileSync(process.execPath, [compiler, ...options, ...kind, 'types.ts'], {
      cwd: folder,
      stdio: 'pipe',
    });
  });
});
