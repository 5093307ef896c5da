import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { runBuilt, runCommand } from '../support/commands.js';
import { shiuTable, writeShiuFiles } from '../support/shiu-files.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { populationsOf, tableTexts, writeTables } from '../support/tables.js';

const dir = mkdtempSync(join(tmpdir(), 'model-commands-'));

const NEURONS = [
  { id: '11', type: 'A', transmitter: 'GLUT', superClass: 'sensory', positionNm: [1, 2, 3] as const },
  { id: '12', type: 'B', positionNm: [4, 5, 6] as const },
];
const tables = tableTexts(NEURONS, [['11', '12', 'GNG', 6]]);
/** Their ids are not those of FlyWire. */
const NAMED = ['--name', 'Two or three neurons'];
const populations = join(dir, 'populations.json');
writeFileSync(populations, JSON.stringify(populationsOf({ type: 'A' })));

describe('model:compile', () => {
  it('compiles tables, with the same bytes each time, and model:inspect describes them', async () => {
    const source = writeTables(tables);
    const files = [join(dir, 'new', 'one.connectome'), join(dir, 'two.connectome')];
    for (const out of files) {
      const { status, stdout, stderr } = await runCommand('model-compile', [
        ...['--tables', source, '--out', out, '--populations', populations, ...NAMED],
      ]);
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: expect.stringContaining('Reading connections.csv.gz\n'),
      });
      expect(stdout).toContain(`${out}: 2 neurons, 1 connections, 6 synapses, corrected signs\ndigest `);
      expect(stdout).toContain(
        'Signs of 2 neurons under the rule corrected, by the first step that applies: super_class sensory or ' +
          'sensory_ascending excite: 1; all others excite: 1 (1 by nt_type, 0 by the largest mean probability, 0 without either).\n',
      );
      expect(stdout).not.toMatch(/FlyWire|783/);
    }
    expect(readFileSync(files[0]!).equals(readFileSync(files[1]!))).toBe(true);

    const inspected = await runCommand('model-inspect', [files[0]!]);
    expect(inspected).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(inspected.stdout)).toMatchObject({
      name: 'Two or three neurons',
      wiring: 'custom',
      signRule: 'corrected',
      neuronCount: 2,
      connectionCount: 1,
      synapseCount: 6,
      typeCount: 2,
      transmitterCounts: { ACH: 1, GLUT: 1, GABA: 0 },
      neurons: { excitatory: 2, inhibitory: 0, untyped: 0, withoutConnection: 0, bySide: { left: 2 } },
      outDegree: { mean: 0.5, percentiles: { 0: 0, 50: 0, 90: 1, 100: 1 } },
      synapsesPerConnection: { mean: 6, percentiles: { 0: 6, 100: 6 } },
      stimuli: { sugar: 1 },
      memoryBytes: { total: readFileSync(files[0]!).length, connections: 4 * 3 + 4 + 2 },
    });
  });

  it('does not take a network of other neurons for FlyWire', async () => {
    const out = join(dir, 'unnamed.connectome');
    const args = ['--tables', writeTables(tables), '--out', out, '--populations', populations];
    const { status, stderr } = await runCommand('model-compile', args);
    expect({ status, wrote: existsSync(out) }).toEqual({ status: 1, wrote: false });
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'expected root ids of FlyWire, 18 digits from 720575940, found 11: name this network with --name NAME.',
    );
  });

  it('describes a named network as it was told', async () => {
    const out = join(dir, 'other.connectome');
    const { status } = await runCommand('model-compile', [
      ...['--tables', writeTables(tables), '--out', out, '--populations', populations, '--name', 'Två, 1st'],
      ...['--dataset', 'BANC (öppen)', '--release', '888', '--wiring', 'measured'],
    ]);
    expect(status).toBe(0);
    const { stdout } = await runCommand('model-inspect', [out]);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'Två, 1st',
      modelId: expect.stringMatching(/^banc-ppen-888-measured-corrected-[0-9a-f]{12}$/),
      ...{ dataset: 'BANC (öppen)', release: 888, wiring: 'measured' },
    });
  });

  it('keeps weaker pairs when asked, which makes another model', async () => {
    const compile = async (minimum: string) => {
      const out = join(dir, `minimum-${minimum}.connectome`);
      const args = ['--tables', writeTables(tables), '--out', out, '--populations', populations, ...NAMED];
      expect(await runCommand('model-compile', [...args, '--minimum-synapses', minimum])).toMatchObject({
        status: 0,
      });
      return openConnectome(Uint8Array.from(readFileSync(out)).buffer);
    };
    const [weak, strong] = [await compile('1'), await compile('6')];
    expect([weak.metadata.minimumSynapses, strong.metadata.minimumSynapses]).toEqual([1, 6]);
    expect(weak.connectionCount).toBeGreaterThanOrEqual(strong.connectionCount);
    expect(weak.digest).not.toBe(strong.digest);
  });

  it('applies the other sign rule when asked', async () => {
    const out = join(dir, 'predicted.connectome');
    const { status } = await runCommand('model-compile', [
      ...[
        '--tables',
        writeTables(tables),
        '--out',
        out,
        '--populations',
        populations,
        '--signs',
        'predicted',
      ],
      ...NAMED,
    ]);
    expect(status).toBe(0);
    const { signs, metadata } = openConnectome(Uint8Array.from(readFileSync(out)).buffer);
    expect({ signs: [...signs], rule: metadata.signRule }).toEqual({ signs: [-1, 1], rule: 'predicted' });
  });

  it('compiles the files of Shiu et al. with their signs, and without types no populations', async () => {
    const out = join(dir, 'shiu.connectome');
    const { connectivity, completeness } = writeShiuFiles(
      shiuTable(
        ['12', '11', '13'],
        [
          ['11', '12', 6, -1],
          ['12', '13', 4, 1],
        ],
      ),
    );
    const args = ['--connectivity', connectivity, '--completeness', completeness, '--out', out, ...NAMED];
    const { status, stdout } = await runCommand('model-compile', args);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining(
        `${out}: 3 neurons, 1 connections, 6 synapses, as given signs\ndigest `,
      ),
    });
    expect(stdout).toContain('\nIt has no stimuli and no channels.\n');
    const inspected = await runCommand('model-inspect', [out]);
    expect(JSON.parse(inspected.stdout)).toMatchObject({
      modelId: expect.stringMatching(/^two-or-three-neurons-custom-as-given-[0-9a-f]{12}$/),
      dataset: 'Two or three neurons',
      release: null,
      signRule: 'as given',
      minimumSynapses: 5,
      neurons: { excitatory: 2, inhibitory: 1, untyped: 3, bySide: { unknown: 3 } },
      stimuli: {},
      channels: {},
      sources: [{ file: 'neurons.csv' }, { file: 'pairs.parquet' }],
    });
    const weaker = await runCommand('model-compile', [...args, '--minimum-synapses', '4']);
    expect(weaker.stdout).toContain(': 3 neurons, 2 connections, 10 synapses, as given signs\n');
  });

  it('selects populations in those files by the types of tables', async () => {
    const out = join(dir, 'shiu-typed.connectome');
    const files = writeShiuFiles(shiuTable(['11', '12'], [['12', '11', 6, -1]]));
    const { status } = await runCommand('model-compile', [
      ...['--connectivity', files.connectivity, '--completeness', files.completeness, '--out', out, ...NAMED],
      ...['--tables', writeTables(tables), '--populations', populations],
    ]);
    const { signs, metadata } = openConnectome(Uint8Array.from(readFileSync(out)).buffer);
    expect({ status, signs: [...signs], types: metadata.types.map(({ name }) => name) }).toEqual({
      status: 0,
      signs: [1, -1],
      types: ['A', 'B'],
    });
    expect(metadata.stimuli[0]).toMatchObject({ id: 'sugar', neuronCount: 1 });
  });

  it('names the mistake in one line, with status 1, and leaves no file behind', async () => {
    const out = join(dir, 'never.connectome');
    const wrong = { ...tables, 'connections.csv.gz': tables['connections.csv.gz']!.replace(',6,', ',x,') };
    const result = await runCommand('model-compile', [
      ...['--tables', writeTables(wrong), '--out', out, '--populations', populations],
    ]);
    expect(result.status).toBe(1);
    expect(result.stderr.trimEnd().split('\n').at(-1)).toBe(
      'connections.csv.gz, line 2: expected syn_count to be a whole number from 1 to 999999999, found "x".',
    );
    expect(existsSync(out)).toBe(false);
  });

  it('says in one line, before it reads the tables, if the file cannot be written', async () => {
    const out = join(populations, 'below.connectome');
    const args = ['--tables', 'none', '--out', out, '--populations', populations, ...NAMED];
    const { status, stdout, stderr } = await runBuilt('model-compile', args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^.*below\.connectome cannot be written: [^\n]+\n$/);
  });

  it('names the selector of the service that tables said to be of FlyWire have no neuron for', async () => {
    const out = join(dir, 'never.connectome');
    const result = await runCommand('model-compile', [
      ...['--tables', writeTables(tables), '--out', out, '--name', 'Changed', '--dataset', 'FlyWire FAFB'],
    ]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(
      'The populations do not fit: stimulus sugar: The model lacks "gustatory", "sugar/water".',
    );
  });

  it('leaves out populations for which another network has no types, and says so', async () => {
    const out = join(dir, 'fitting.connectome');
    const args = ['--tables', writeTables(tables), '--out', out, ...NAMED];
    const { status, stdout } = await runCommand('model-compile', args);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /It has no stimuli and no channels\.\nVersion 1 of the API lacks sugar, loom, food, /,
    );
  });
});

describe('model:download', () => {
  it('shows the licence first, fetches the tables and writes a manifest that it takes back', async () => {
    const server = createServer((request, response) =>
      response.end(gzipSync(tables[request.url!.slice(1)] ?? '')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const out = join(dir, 'downloaded');
    try {
      const refused = await runCommand('model-download', ['--out', out, '--base-url', baseUrl]);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toMatch(
        /neurons\.csv\.gz has \d+ bytes, expected 1679884: it is another version .* --allow-changed takes it/,
      );
      const first = await runCommand('model-download', [
        '--out',
        out,
        '--base-url',
        baseUrl,
        '--allow-changed',
      ]);
      expect(first.status).toBe(0);
      expect(first.stderr).toContain('neurons.csv.gz is not the published file: its SHA-256 is ');
      expect(first.stdout).toMatch(/^The tables are data of the FlyWire Consortium.*CC BY-NC 4\.0\n/);
      expect(first.stderr).toContain('Downloading connections.csv.gz\n');
    } finally {
      server.close();
    }
    const manifest = join(out, 'manifest.json');
    const { files } = JSON.parse(readFileSync(manifest, 'utf8')) as { files: { file: string }[] };
    expect(files.map(({ file }) => file).sort()).toEqual(Object.keys(tables).sort());

    const again = await runCommand('model-download', [
      ...['--out', out, '--base-url', baseUrl, '--manifest', manifest],
    ]);
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('neurons.csv.gz (') });
  });
});

describe('model:inspect', () => {
  it('reports the file that the service would serve if none is named', async () => {
    const file = smallConnectomeFile();
    const named = await runCommand('model-inspect', [file]);
    const served = await runBuilt('model-inspect', [], { environment: { CONNECTOME_FILE: file } });
    expect(served).toEqual({ ...named, status: 0 });
    const several = await runCommand('model-inspect', [file, file]);
    expect(several).toMatchObject({ status: 2, stderr: expect.stringContaining('it takes at most 1 FILE') });
  });

  it('refuses a file that is missing, and one that was altered', async () => {
    const missing = await runCommand('model-inspect', [join(dir, 'none.connectome')]);
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^The connectome file .*none\.connectome cannot be read: ENOENT.*\n$/);

    const path = smallConnectomeFile();
    const bytes = readFileSync(path);
    bytes[5000]! ^= 1;
    writeFileSync(path, bytes);
    const altered = await runCommand('model-inspect', [path]);
    expect(altered).toMatchObject({ status: 1, stdout: '' });
    expect(altered.stderr).toMatch(/^This connectome file cannot be used: its header gives the digest /);
  });
});

describe('golden', () => {
  const goldenFile = join(dir, 'golden.csv');
  const compare = (file: string, run = runCommand) => run('golden', ['--connectome', file, goldenFile]);

  it('counts the spikes of a run that differ', async () => {
    // A kick of 68.75 mV makes a stimulated neuron spike one step later; the second spike is made up.
    const lines = ['event,step,root_id', 'stimulated,,N_0000', 'kick,0,N_0000', 'spike,1,N_0000'];
    writeFileSync(goldenFile, `${lines.join('\n')}\n`);
    const file = smallConnectomeFile();
    expect(await compare(file)).toEqual({
      status: 0,
      stdout: 'golden.csv spikes 1 missing 0 extra 0\n',
      stderr: '',
    });
    writeFileSync(goldenFile, [...lines, 'spike,1,N_0001'].join('\n'));
    expect(await compare(file, runBuilt)).toMatchObject({
      status: 1,
      stdout: 'golden.csv spikes 1 missing 1 extra 0\n',
    });
  });

  it('says in one line that the connectome is missing, or that there is nothing to compare with', async () => {
    writeFileSync(goldenFile, 'event,step,root_id\n');
    const missing = await compare(join(dir, 'none.connectome'));
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^The connectome file .*none\.connectome cannot be read: ENOENT.*\n$/);
    expect(await compare(smallConnectomeFile())).toEqual({
      status: 1,
      stdout: '',
      stderr: `${goldenFile}: expected spikes to compare with, found none\n`,
    });
    const traces = await runCommand('golden', ['--connectome', 'x', join(dir, 'golden.membrane.csv')]);
    expect(traces).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('at least one file of spikes'),
    });
  });
});

describe('openapi', () => {
  it('makes the folder it is told to write to', async () => {
    const out = join(dir, 'interface', 'openapi.json');
    expect(await runBuilt('openapi', ['--out', out])).toMatchObject({ status: 0, stdout: `${out}\n` });
    expect(readFileSync(out, 'utf8')).toBe(readFileSync('openapi.json', 'utf8'));
  });
});

describe('every command', () => {
  it.each<[string, string[], string]>([
    [
      'an unknown option',
      ['--tabels', 'x'],
      "model:compile: Unknown option '--tabels'; did you mean --tables?",
    ],
    [
      'a missing option',
      ['--out', 'x'],
      'model:compile: it takes one of --tables DIR, --edges FILE with --neurons FILE, --statistics DIR, and --connectivity FILE with --completeness FILE',
    ],
    [
      'a value that is not allowed',
      ['--tables', 'x', '--out', 'y', '--signs', 'mine'],
      'model:compile: --signs should be corrected or predicted or fast, found "mine"',
    ],
    [
      'a threshold that is no number of synapses',
      ['--tables', 'x', '--out', 'y', '--minimum-synapses', '0'],
      'model:compile: --minimum-synapses should be a whole number from 1 to 8191, found "0"',
    ],
    [
      'a threshold for statistics, which have theirs',
      ['--statistics', 'x', '--out', 'y', '--minimum-synapses', '3'],
      'model:compile: --minimum-synapses cannot be combined with --statistics, which hold pairs with 5 synapses or more',
    ],
    [
      'a connectivity file without its list of neurons',
      ['--connectivity', 'x', '--out', 'y'],
      'model:compile: --connectivity FILE and --completeness FILE must be given together, without --statistics',
    ],
    [
      'a rule of signs for a file that has its own',
      ['--connectivity', 'x', '--completeness', 'z', '--out', 'y', '--signs', 'predicted'],
      'model:compile: --signs cannot be combined with --connectivity: that file has its own signs',
    ],
    ...[
      [
        'a data set',
        ['--dataset', 'd'],
        '--dataset should be one of banc-888, flywire-783, hemibrain-1.2, malecns-1.0, manc-1.2.1, found "d"; another network needs --name NAME',
      ],
      [
        'a name of two lines',
        ['--name', 'a\nb'],
        '--name should be 1 to 100 characters in one line, not blank at either end, found "a\\nb"',
      ],
      ['an empty name', ['--name', ''], '--name should be 1 to 100 characters'],
      [
        'a release that is no number',
        ['--name', 'n', '--release', '0'],
        '--release should be a whole number from 1 to 999999999, found "0"',
      ],
      [
        'another wiring',
        ['--name', 'n', '--wiring', 'own'],
        '--wiring should be custom or measured, found "own"',
      ],
    ].map(([what, args, message]): [string, string[], string] => [
      `${what as string} that does not name a network`,
      ['--tables', 'x', '--out', 'y', ...(args as string[])],
      `model:compile: ${message as string}`,
    ]),
    [
      'an argument too many',
      ['--tables', 'x', '--out', 'y', 'z'],
      'model:compile: it takes no arguments, found z',
    ],
  ])('refuses %s with status 2', async (_, args, message) => {
    const { status, stdout, stderr } = await runCommand('model-compile', args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('See npm run model:compile -- --help.');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('explains itself', async () => {
    const { status, stdout } = await runCommand('model-compile', ['--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('usage: npm run model:compile -- [options]');
    expect(stdout).toMatch(/--signs corrected\|predicted\|fast +Sign rule, on FlyWire by default corrected/);
  });
});
