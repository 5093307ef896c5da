/** The way of somebody with a network: from the tables on a server, whatever happens to the connection, to answers. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readDataset } from '../../src/tools/compiler/dataset.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { runCommand } from '../support/commands.js';
import { MALECNS_FILES, writeMaleCns } from '../support/other-flies.js';
import { tableTexts } from '../support/tables.js';

const dir = mkdtempSync(join(tmpdir(), 'every-fly-'));
const read = (path: string) => openConnectome(Uint8Array.from(readFileSync(path)).buffer);

/** A thousand neurons in a ring, of which every tenth is of the type that the giant fibre listens to. */
function ring(): string {
  const bodies = Array.from({ length: 1000 }, (_, i) => ({
    bodyId: 10_001 + i,
    superclass: i === 0 ? 'descending_neuron' : 'visual_projection',
    type: i === 0 ? 'DNp01' : i % 10 === 1 ? 'LC4' : `T${i}`,
    flywireType: i === 0 ? 'DNp01' : i % 10 === 1 ? 'LC4' : `T${i}`,
    somaSide: i % 2 === 0 ? 'L' : 'R',
    transmitter: i % 10 === 2 ? 'dopamine' : 'acetylcholine',
    somaLocation: [i, 2 * i, 3 * i],
  }));
  const weights = bodies.flatMap(({ bodyId }, i) => [
    [bodyId, 10_001 + ((i + 1) % 1000), 30] as const,
    [bodyId, 5_000_000 + i, 1] as const,
    ...(i % 10 === 1 ? [[bodyId, 10_001, 40] as const] : []),
  ]);
  return writeMaleCns(bodies, weights);
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves files like the public servers: after a redirect, with ranges; one connection of each breaks in its middle. */
async function serving(files: ReadonlyMap<string, Buffer>, breaks = true): Promise<string> {
  const begun = new Set<string>();
  server = createServer((request, response) => {
    const name = request.url!.split('/').at(-1)!;
    const content = files.get(name);
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (!request.url!.startsWith('/storage/')) {
      response.writeHead(307, { Location: `/storage/${name}` }).end();
      return;
    }
    const begin = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(begin > 0 ? 206 : 200, {
      'Content-Length': content.length - begin,
      ...(begin > 0 && { 'Content-Range': `bytes ${begin}-${content.length - 1}/${content.length}` }),
    });
    if (breaks && !begun.has(name)) {
      begun.add(name);
      response.write(content.subarray(0, content.length >> 1), () =>
        setTimeout(() => response.destroy(), 20),
      );
    } else response.end(content.subarray(begin));
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/flat-connectome`;
}

it('fetches a fly, compiles it, and says everywhere that it is this one', async () => {
  const tables = ring();
  const files = new Map(
    Object.values(MALECNS_FILES).map((file) => [file, readFileSync(join(tables, file))] as const),
  );
  const baseUrl = await serving(files);
  const out = join(dir, 'malecns');
  const download = (...args: string[]) =>
    runCommand('model-download', ['--dataset', 'malecns-1.0', '--out', out, '--base-url', baseUrl, ...args]);

  // The digests are pinned; this server has another version.
  const refused = await download();
  expect(refused.status).toBe(1);
  expect(refused.stdout).toMatch(
    /^The tables are MaleCNS 1\.0.*under CC BY 4\.0\n.*\n {2}Berg et al\. 2026/s,
  );
  expect(refused.stderr).toMatch(
    /has \d+ bytes, expected 14483314: it is another version .*--allow-changed takes it/,
  );

  const taken = await download('--allow-changed');
  expect(taken).toMatchObject({ status: 0 });
  expect(taken.stderr).toMatch(/the connection broke off after \d+ bytes.*; trying again\./);
  for (const [file, content] of files) expect(readFileSync(join(out, file)).equals(content)).toBe(true);
  const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as {
    dataset: string;
    files: { file: string; published?: string }[];
  };
  expect(manifest.dataset).toBe('malecns-1.0');
  expect(manifest.files.map(({ published }) => published)).toEqual(
    readDataset('malecns-1.0').files.map(({ sha256 }) => sha256),
  );

  const connectome = join(dir, 'malecns.connectome');
  const compiled = await runCommand('model-compile', [
    ...['--dataset', 'malecns-1.0', '--tables', out, '--out', connectome, '--synapse-mv', '0.19'],
  ]);
  expect(compiled).toMatchObject({ status: 0 });
  expect(compiled.stderr).toMatch(
    /Note: body-annotations.* is not the published file: its SHA-256 is [0-9a-f]{64}, expected 2177e2/,
  );
  expect(compiled.stderr).toContain('Note: The tables have 1000 neurons, expected 166700.\n');
  expect(compiled.stderr).not.toContain('--synapse-mv was not given');
  expect(compiled.stdout).toContain('all others have no fast effect: 100 (100 by consensus_nt, 0 without).');
  expect(compiled.stdout).not.toMatch(/783|Codex/);

  const { stdout } = await runCommand('model-inspect', [connectome]);
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'MaleCNS 1.0, measured wiring',
    modelId: expect.stringMatching(/^malecns-1\.0-measured-fast-0\.19mv-[0-9a-f]{12}$/),
    neurons: { excitatory: 900, inhibitory: 0, withoutFastEffect: 100 },
    synapseMv: 0.19,
    licence: { spdx: 'CC-BY-4.0' },
  });
  const { metadata } = read(connectome);
  expect(metadata).toMatchObject({
    release: '1.0',
    citations: [{ doi: '10.1016/j.cell.2026.08.015' }],
    signSource: expect.stringContaining('consensus_nt'),
    stimuli: [],
    channels: [{ id: 'escape' }, { id: 'descending' }],
  });

  const experiment = [
    '--connectome',
    connectome,
    '--stimulate',
    'LC4@150',
    '--report',
    'DNp01',
    '--trials',
    '2',
    '--json',
  ];
  const answer = JSON.parse((await runCommand('experiment', experiment)).stdout) as {
    licence: string;
    cite: string[];
    conditions: { reports: Record<string, { mean_hz?: number }[]> }[];
  };
  expect(answer.licence).toBe('CC-BY-4.0');
  expect(answer.cite[0]).toMatch(/^Berg et al\. 2026/);
  expect(JSON.stringify(answer)).not.toMatch(/FlyWire|Dorkenwald/);
});

it('recognises the other table of synapses of FlyWire by its digest or its pairs, whatever its name is', async () => {
  const neurons = ['720575940000000001', '720575940000000002'].map((id) => ({
    id,
    type: 'A',
    positionNm: [1, 2, 3] as const,
  }));
  const texts = tableTexts(neurons, [['720575940000000001', '720575940000000002', 'GNG', 9]]);
  const tables = mkdtempSync(join(tmpdir(), 'princeton-'));
  for (const [file, text] of Object.entries(texts)) {
    const name = file === 'connections.csv.gz' ? 'connections_princeton.csv.gz' : file;
    writeFileSync(join(tables, name), gzipSync(text));
  }
  const populations = join(dir, 'none.json');
  writeFileSync(populations, '{ "stimuli": [], "channels": [] }');
  const compile = (out: string, ...args: string[]) =>
    runCommand('model-compile', ['--tables', tables, '--out', out, '--populations', populations, ...args]);
  const out = join(dir, 'princeton.connectome');
  const { status, stdout, stderr } = await compile(out);
  expect(status).toBe(0);
  expect(stderr).toMatch(
    /Note: One synapse has 0\.275 mV, since --synapse-mv was not given\. It has 48 % more synapses/,
  );
  expect(stdout).toContain('Its connections are those of the synapses of Yu et al. 2025 (Princeton).\n');
  expect(read(out).metadata).toMatchObject({
    name: 'FlyWire FAFB 783, measured wiring, synapses of Yu et al. 2025 (Princeton)',
    synapses: { id: 'princeton' },
    citations: [{ doi: '10.1101/2025.07.11.664377' }],
  });
  const { stdout: inspected } = await runCommand('model-inspect', [out]);
  expect(JSON.parse(inspected)).toMatchObject({
    modelId: expect.stringMatching(/^fafb-783-princeton-measured-corrected-[0-9a-f]{12}$/),
    network: 'flywire-783-princeton',
  });
  const gained = await compile(out, '--synapse-mv', '0.124');
  expect(gained.stderr).not.toContain('--synapse-mv was not given');
  const other = await compile(join(dir, 'never.connectome'), '--synapses', 'mine');
  expect(other).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('has the synapses buhmann, princeton, not mine'),
  });
});

it.each<[string, string[], string]>([
  [
    'edges without neurons',
    ['--edges', 'e.csv'],
    'a network of your own needs --edges FILE, --neurons FILE and --name NAME',
  ],
  [
    'a column of no name',
    ['--edges', 'e.csv', '--neurons', 'n.csv', '--name', 'N', '--columns', 'from=a'],
    '--columns names from; there are pre, post, weight, sign, id, type, side,',
  ],
  [
    'a gain of nothing',
    ['--tables', 'x', '--synapse-mv', '0'],
    '--synapse-mv should be a number of mV above 0 and up to 10, found "0"',
  ],
  [
    'a data set without tables',
    ['--dataset', 'malecns-1.0'],
    '--dataset NAME needs --tables DIR, or --name NAME',
  ],
  [
    'two sources',
    ['--edges', 'e', '--neurons', 'n', '--name', 'N', '--tables', 't'],
    '--edges cannot be combined with --tables',
  ],
  ...['completeness', 'synapses'].map((option): [string, string[], string] => [
    `--${option} beside a network of your own`,
    ['--edges', 'e', '--neurons', 'n', '--name', 'N', `--${option}`, 'x'],
    `--edges cannot be combined with --${option}`,
  ]),
  [
    'a data set beside a connectivity file',
    ['--connectivity', 'c', '--completeness', 'n', '--dataset', 'malecns-1.0'],
    '--dataset NAME with --connectivity needs --name NAME',
  ],
  [
    'a table of synapses beside a connectivity file',
    ['--connectivity', 'c', '--completeness', 'n', '--tables', 't', '--synapses', 'princeton'],
    '--synapses cannot be combined with --connectivity',
  ],
  [
    'two columns for one',
    ['--edges', 'e', '--neurons', 'n', '--name', 'N', '--columns', 'pre=a,pre=b'],
    '--columns should be names as pre=body_pre,post=body_post, each once, found "pre=a,pre=b"',
  ],
  [
    'a sign rule that statistics lack',
    ['--statistics', 'data/cell-types', '--signs', 'fast'],
    '--signs fast cannot be used here: the statistics allow corrected, predicted',
  ],
])('refuses %s in one line', async (_, args, message) => {
  const { status, stderr } = await runCommand('model-compile', [...args, '--out', join(dir, 'x')]);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(existsSync(join(dir, 'x'))).toBe(false);
});

it('compiles a network of a laboratory, which v1 and v2 serve under its name', async () => {
  const [edges, neurons] = ['edges.csv', 'neurons.csv'].map((name) => join(dir, name)) as [string, string];
  writeFileSync(edges, 'from,to,n\n1,2,6\n2,3,9\n3,1,5\n1,9,5\n');
  writeFileSync(neurons, 'id,type,transmitter\n1,A,ACh\n2,B,GABA\n3,,\n');
  const out = join(dir, 'own.connectome');
  const { status, stdout } = await runCommand('model-compile', [
    ...['--edges', edges, '--neurons', neurons, '--name', 'Larva, our reconstruction', '--out', out],
    ...['--columns', 'pre=from,post=to,weight=n', '--minimum-synapses', '1'],
  ]);
  expect(status).toBe(0);
  expect(stdout).toContain(
    'edges.csv: 1 of 4 rows names a root id that neurons.csv lacks (first on line 5); it was left out.\n',
  );
  expect(stdout).toContain(': 3 neurons, 3 connections, 20 synapses, fast signs\n');
  const { metadata, signs } = read(out);
  expect([...signs]).toEqual([1, -1, 0]);
  expect(metadata).toMatchObject({ dataset: 'Larva, our reconstruction', release: null, wiring: 'custom' });
  expect(metadata).not.toHaveProperty('licence');
});

describe('the table of neurons of a network of one\u2019s own', () => {
  const compile = (content: string, out = join(dir, 'told.connectome')) => {
    const [edges, neurons] = ['pairs.csv', 'told.csv'].map((name) => join(dir, name)) as [string, string];
    writeFileSync(edges, 'pre,post,weight\n1,2,6\n2,1,6\n');
    writeFileSync(neurons, content);
    const files = ['--edges', edges, '--neurons', neurons];
    return runCommand('model-compile', [...files, '--name', 'Told', '--out', out]);
  };

  it('may have columns of other names, and it says that these were not read', async () => {
    const { status, stderr } = await compile('id,cell_type,side,nt\n1,A,left,ACh\n2,B,right,ACh\n');
    expect(status).toBe(0);
    expect(stderr).toContain(
      'told.csv: not read: cell_type, nt. --columns names columns that have other names here.\n',
    );
  });

  it('may leave most neurons without an effect, and the last line says so', async () => {
    const { status, stderr } = await compile('id,transmitter\n1,dopamine\n2,\n');
    expect({ status, last: stderr.split('\n').at(-2) }).toEqual({
      status: 0,
      last: 'WARNING: 2 of 2 neurons have the sign 0, so they have no effect on other neurons.',
    });
  });

  it('is not replaced by the output', async () => {
    const own = join(dir, 'told.csv');
    const content = 'id\n1\n2\n';
    const { status, stderr } = await compile(content, own);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/--out should be a new file or a connectome file, found .*told\.csv"/),
    });
    expect(readFileSync(own, 'utf8')).toBe(content);
  });
});

it('refuses more super-classes than a file may have, and names the column', async () => {
  const [edges, neurons] = ['few.csv', 'classed.csv'].map((name) => join(dir, name)) as [string, string];
  writeFileSync(edges, 'pre,post,weight\n1,2,6\n');
  const rows = Array.from({ length: 1001 }, (_, i) => `${i},class ${i}\n`);
  writeFileSync(neurons, `id,super_class\n${rows.join('')}`);
  const files = ['--edges', edges, '--neurons', neurons, '--out', join(dir, 'classed.connectome')];
  const { status, stderr } = await runCommand('model-compile', [...files, '--name', 'Classed']);
  expect(status).toBe(1);
  expect(stderr).toContain(
    'A connectome file has at most 1000 super-classes, found 1001: leave the column super_class empty, or group them.',
  );
});

it('gives last the reason for which a large part of the rows was left out, and fails if nothing is left', async () => {
  const [edges, neurons, out] = ['some.csv', 'two.csv', 'some.connectome'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(neurons, 'id\n1\n2\n');
  const compile = (pairs: string, ...args: string[]) => {
    writeFileSync(edges, `pre,post,weight\n${pairs}`);
    return runCommand('model-compile', [
      ...['--edges', edges, '--neurons', neurons, '--name', 'Two', '--out', out],
      ...args,
    ]);
  };
  const some = await compile('1,2,6\n2,1,4\n1,9,6\n');
  expect(some.status).toBe(0);
  expect(some.stderr.split('\n').slice(-2)).toEqual([
    'WARNING: 33.3 % of the rows of some.csv were left out, 1 of 3: they name root ids that two.csv lacks.',
    '',
  ]);
  expect(await compile('8,9,6\n')).toMatchObject({ status: 1, stdout: '' });

  // Every connection counts, unless a threshold is asked for.
  const weak = await compile('1,2,3\n2,1,1\n2,1,3\n');
  expect(weak.stdout).toContain(': 2 neurons, 2 connections, 7 synapses, as given signs\n');
  expect(weak.stdout).not.toMatch(/left out|asked for/);
  const strong = await compile('1,2,3\n2,1,1\n2,1,3\n', '--minimum-synapses', '4');
  expect(strong.stdout).toContain(
    'Pairs with fewer than 4 synapses were left out: 1 of 3 rows, with 3 of 7 synapses (42.8 %).\n',
  );
  expect(await compile('1,2,3\n2,1,4\n', '--minimum-synapses', '5')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('--minimum-synapses 4 keeps those'),
  });
});

it('compiles a network numbered from 0, whose first neuron an experiment selects and reports', async () => {
  const [edges, neurons] = ['from-0.csv', 'numbered.csv'].map((name) => join(dir, name)) as [string, string];
  writeFileSync(edges, 'pre,post,weight\n0,1,300\n1,2,300\n3,0,300\n');
  writeFileSync(neurons, 'id\n0\n1\n2\n3\n');
  const out = join(dir, 'from-0.connectome');
  expect(
    await runCommand('model-compile', [
      ...['--edges', edges, '--neurons', neurons, '--name', 'From 0', '--out', out],
    ]),
  ).toMatchObject({ status: 0 });
  const document = join(dir, 'from-0.json');
  writeFileSync(
    document,
    JSON.stringify({
      inputs: {
        drawn: { node_set: { root_id: '0' }, rate_hz: 100 },
        given: { module: 'spikes', node_set: { root_id: ['0'] }, times_ms: { 0: [10, 30] } },
      },
      silence: [{ root_id: ['1'] }],
      reports: { all: { node_set: '@all', group_by: ['neuron'] } },
      duration_ms: 200,
      trials: 2,
    }),
  );
  const { stdout, stderr } = await runCommand('experiment', [document, '--connectome', out, '--json']);
  expect(stderr).not.toContain('should be');
  const { conditions } = JSON.parse(stdout) as {
    conditions: { reports: { all: { root_id: string; responding_any: number }[] } }[];
  };
  const { all } = conditions[0]!.reports;
  expect(all.map(({ root_id: id }) => id).sort()).toEqual(['0', '1', '2', '3']);
  const responding = all.filter(({ responding_any: count }) => count > 0).map(({ root_id: id }) => id);
  expect(responding.sort()).toEqual(['0', '1']);
});
