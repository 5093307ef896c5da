import fc from 'fast-check';
import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { encodeConnectome } from '../../src/engine/connectome/format.js';
import { connectomeFile } from '../support/connectomes.js';
import { runCommand } from '../support/commands.js';
import { describeWith, pythonWithBrian, TABLES_DIR } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';
import { type Parts, variedDocuments } from '../support/varied-documents.js';
import { smallConnectome, smallConnectomeFile } from '../support/small-connectome.js';

/** Without the results that are stored in RECORDED, Brian 2 computes them itself: about six minutes. */
jest.setTimeout(900_000);

const RECORDED = resolve('test/experiments/brian2-recorded.npz');

const DOCUMENT = {
  inputs: {
    sugar: { node_set: 'S_sugar', rate_hz: 100 },
    both: { node_set: ['S_sugar', 'S_loom'], rate_hz: 30, delay_ms: 10, duration_ms: 50.5 },
    replay: { node_set: 'C_escape:left', module: 'spikes', times_ms: [5, 20.1, 20.2] },
    quiet: { node_set: 'C_walk', rate_hz: 0 },
  },
  silence: ['C_groom'],
  duration_ms: 80,
  trials: 2,
  sweep: [
    { set: 'inputs.sugar.rate_hz', values: [50, 150] },
    { each: ['S_sugar', 'S_heat', 'C_proboscis'], group_by: ['type'], as: 'silence' },
  ],
};

/** Files of random documents. */
function variedFiles(dir: string, parts: Parts, count: number): string[] {
  return fc.sample(variedDocuments(parts), { seed: 783, numRuns: count }).map((document, at) => {
    const file = join(dir, `varied-${at}.json`);
    writeFileSync(file, JSON.stringify(document));
    return file;
  });
}

function expectEqual({ status, stdout, stderr }: Comparison, documents: number, fewestSpikes: number): void {
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n');
  expect(lines.filter((line) => / spikes, \d+ differ\.$/.test(line))).toHaveLength(documents);
  expect(lines.filter((line) => / [1-9]\d* (missing|extra|differ)/.test(line))).toEqual([]);
  const spikes = lines.map((line) => Number(/: (\d+) spikes, 0 differ/.exec(line)?.[1] ?? 0));
  expect(spikes.reduce((a, b) => a + b)).toBeGreaterThan(fewestSpikes);
  expect(status).toBe(0);
}

interface Comparison {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the script on documents. */
function compareWithBrian(
  url: string,
  source: string | readonly string[],
  documents: readonly string[],
): Promise<Comparison> {
  return new Promise((done) => {
    const script = 'validation/brian2_open_experiment.py';
    const from = typeof source === 'string' ? ['--connectome', source] : source;
    const args = [script, ...from, '--url', url, '--recorded', RECORDED, ...documents];
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    execFile(
      pythonWithBrian(),
      args,
      { cwd: resolve('.'), env },
      (error: ExecFileException | null, stdout, stderr) =>
        done({ status: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

describeWith(['brian', 'tables'], 'Brian 2 beside random documents on the whole brain', () => {
  it('finds no difference', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'brian2-whole-'));
    const connectome = await connectomeFile('measured-predicted');
    // Overrides from all central neurons to all others have more connections than a service takes by default.
    const limits = { overriddenPairs: 3_000_000 };
    const variables = { CONNECTOME_FILE: connectome, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' };
    const service = await startReadyService(variables, { limits });
    const parts = {
      stimulated: ['LC4', 'LB3', 'ORN_DM1:left'],
      read: ['DN*', 'DNp01'],
      many: [{ super_class: 'central' }, { super_class: ['central', 'descending', 'visual_projection'] }],
      backgroundRateHz: 0.5,
      durationMs: 60,
    };
    const documents = variedFiles(dir, parts, 4);
    try {
      expectEqual(await compareWithBrian(service.url, connectome, documents), documents.length, 5000);
    } finally {
      await service.stop();
      rmSync(dir, { recursive: true });
    }
  });
});

describeWith(['brian', 'tables'], 'Brian 2 on wiring that it reads from the tables itself', () => {
  it('finds no difference', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'brian2-tables-'));
    const service = await startReadyService({ CONNECTOME_FILE: await connectomeFile('measured-predicted') });
    const document = join(dir, 'document.json');
    const inputs = { sugar: { node_set: '@sugar', rate_hz: 100 }, loom: { node_set: 'LC4', rate_hz: 60 } };
    writeFileSync(document, JSON.stringify({ inputs, duration_ms: 100, trials: 2, silence: ['CB0701'] }));
    try {
      const source = ['--tables', TABLES_DIR, '--signs', 'predicted'];
      expectEqual(await compareWithBrian(service.url, source, [document]), 1, 500);
    } finally {
      await service.stop();
      rmSync(dir, { recursive: true });
    }
  });
});

describeWith(['brian'], 'Brian 2 on the tables of a laboratory, with neurons without fast effect', () => {
  it('finds no difference', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'brian2-own-'));
    const [edges, neurons, out] = ['edges.csv', 'neurons.csv', 'own.connectome'].map((name) =>
      join(dir, name),
    ) as [string, string, string];
    // A generator of Park and Miller: 200 neurons with 12 random partners each, a fifth of them without fast effect.
    let state = 783;
    const below = (limit: number) => (state = (state * 48_271) % 0x7fffffff) % limit;
    const ids = Array.from({ length: 200 }, (_, i) => 1000 + 7 * i);
    const transmitters = ['ACh', 'ACh', 'GABA', 'dopamine', 'Glu'];
    writeFileSync(
      neurons,
      `id,type,transmitter\n${ids.map((id, i) => `${id},T${i % 20},${transmitters[i % 5]}\n`).join('')}`,
    );
    const rows = ids.flatMap((id) =>
      Array.from({ length: 12 }, () => `${id},${ids[below(200)]},${5 + below(60)}\n`),
    );
    writeFileSync(edges, `pre,post,weight\n${rows.join('')}`);
    const args = ['--edges', edges, '--neurons', neurons, '--name', 'Own', '--out', out];
    expect(await runCommand('model-compile', args)).toMatchObject({ status: 0 });
    const service = await startReadyService({ CONNECTOME_FILE: out });
    const document = join(dir, 'document.json');
    const inputs = { drive: { node_set: ['T0', 'T3', 'T5'], rate_hz: 150 } };
    writeFileSync(document, JSON.stringify({ inputs, duration_ms: 200, trials: 3 }));
    try {
      const source = ['--edges', edges, '--neurons', neurons];
      expectEqual(await compareWithBrian(service.url, source, [document]), 1, 500);
    } finally {
      await service.stop();
      rmSync(dir, { recursive: true });
    }
  });
});

describeWith(['brian'], 'validation/brian2_open_experiment.py', () => {
  let dir: string;
  let connectome: string;
  let service: Service;
  let document: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'brian2-open-'));
    document = join(dir, 'document.json');
    writeFileSync(document, JSON.stringify(DOCUMENT));
    connectome = smallConnectomeFile();
    service = await startReadyService({ CONNECTOME_FILE: connectome });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(dir, { recursive: true });
  });

  const compare = (url: string, file = connectome, documents = [document]) =>
    compareWithBrian(url, file, documents);

  it('finds no difference, in lesions that the service does not run too', async () => {
    const { status, stdout } = await compare(service.url);
    const lines = stdout.trim().split('\n');
    expect(lines.pop()).toMatch(/: \d{4,} spikes, 0 differ\.$/);
    // S_heat is not stimulated, so its lesion changes nothing.
    const conditions = lines.map((line) =>
      /^condition \d( with an unchanged lesion)? .*type": "S_heat/.test(line),
    );
    expect(conditions.filter(Boolean).length).toBe(2);
    expect(lines.length).toBe(8);
    for (const line of lines)
      expect(line).toMatch(/ 2 trials, [1-9]\d* input events, [1-9]\d* spikes of .*, 0 missing, 0 extra$/);
    expect(status).toBe(0);
  });

  it('finds no difference in random documents that change the model', async () => {
    const parts = {
      stimulated: ['S_sugar', 'S_loom', 'S_heat:left'],
      read: ['C_*', 'C_escape'],
      many: [{ super_class: 'central' }, '@all'],
      backgroundRateHz: 40,
      durationMs: 60,
    };
    const documents = variedFiles(dir, parts, 12);
    expectEqual(await compare(service.url, connectome, documents), documents.length, 20_000);
  });

  it('counts a spike that the answer has at another time', async () => {
    const forging = createServer((request, response) => {
      void (async () => {
        const body = Buffer.concat(await request.toArray());
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(service.url + request.url!, { method: 'POST', headers, body });
        const lines = (await answer.text())
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        lines.findLast(({ index }) => index !== undefined).reports.raster.t_ms[0] = 0;
        response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      })();
    });
    await new Promise<void>((ready) => forging.listen(0, '127.0.0.1', ready));
    const { status, stdout } = await compare(`http://127.0.0.1:${(forging.address() as AddressInfo).port}`);
    forging.close();
    const differing = stdout.split('\n').filter((line) => / [1-9]\d* (missing|extra)/.test(line));
    expect(differing).toEqual([expect.stringMatching(/^condition 7 .*S_sugar.*, 1 missing, 1 extra$/)]);
    expect(stdout).toMatch(/spikes, 2 differ\.\n$/);
    expect(status).toBe(1);
  });

  it('refuses an answer of another brain', async () => {
    const small = smallConnectome();
    const another = join(dir, 'another.connectome');
    writeFileSync(another, encodeConnectome({ ...small, metadata: { ...small.metadata, name: 'Another' } }));
    const { status, stderr } = await compare(service.url, another);
    expect(stderr).toMatch(/^The service must serve .*; got fafb-783-synthetic-/);
    expect(status).toBe(1);
  });
});
