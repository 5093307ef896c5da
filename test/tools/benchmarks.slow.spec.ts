import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { runBuilt } from '../support/commands.js';
import { describeWith } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

interface Row {
  stimulus: string;
  spikes: number;
  digest: string;
}

/** Benchmarks rot unless somebody runs them: here on a small brain, for their rows and digests, not their times. */
function bench<T extends Row>(name: string, args: string[]): T[] {
  return report(name, args) as T[];
}

function report(name: string, args: string[]): unknown {
  const connectome = ['--connectome', smallConnectomeFile(), '--json'];
  const output = execFileSync(process.execPath, [resolve(`bench/${name}.mjs`), ...connectome, ...args]);
  return JSON.parse(output.toString());
}

describe('bench:engine', () => {
  it('prints a row for each stimulus and duration, with a digest that both engines agree on', () => {
    const rows = bench<
      Row & { trial: string; durationMs: number; events: number; kernelMs: number; agree: boolean }
    >('engine', ['--rounds', '2', '--stimuli', 'sugar,loom', '--durations', '50,200']);
    expect(rows.map(({ trial, durationMs }) => [trial, durationMs])).toEqual([
      ['sugar', 50],
      ['loom', 50],
      ['sugar', 200],
      ['loom', 200],
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({ agree: true, digest: expect.stringMatching(/^[0-9a-f]{16}$/) as string });
      expect(row.spikes).toBeGreaterThan(0);
      expect(row.events).toBeGreaterThan(row.spikes);
      expect(row.kernelMs).toBeGreaterThan(0);
    }
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(4);
  });

  it('refuses a stimulus and a number that it does not know', () => {
    expect(() => bench('engine', ['--stimuli', 'salt'])).toThrow('stimulus must be one of');
    expect(() => bench('engine', ['--rounds', '0'])).toThrow('--rounds takes whole numbers from 1');
  });
});

it('bench:floor times the kernel beside the sum of its synaptic events', () => {
  const rows = report('floor', ['--rounds', '2', '--stimuli', 'loom']) as Record<string, number>[];
  expect(rows).toHaveLength(1);
  for (const name of ['events', 'kernelMs', 'floorMs', 'timesFloor']) {
    expect(rows[0]![name]).toBeGreaterThan(0);
  }
});

it('bench:memory computes the same row of bodies with any number of workers', () => {
  const one = report('memory', ['--runs', '60', '--workers', '1']) as MemoryReport;
  const two = report('memory', ['--runs', '60', '--workers', '2']) as MemoryReport;
  expect(two.digest).toBe(one.digest);
  expect(one).toMatchObject({ failed: 0, workers: [{ workers: 1 }] });
  expect(one.samples.map(({ runs }) => runs)).toEqual(Array.from({ length: 20 }, (_, i) => 3 * (i + 1)));
}, 60_000);

it('bench:http measures the stimulus that it was asked for', async () => {
  const rows = bench<Row & { view: string; failed: number; runsPerSecond: number }>(
    'http',
    '--requests 32 --stimulus loom'.split(' '),
  );
  expect(rows).toHaveLength(16);
  for (const view of ['drive', 'full']) {
    const args = ['loom', '--json', '--view', view, '--connectome', smallConnectomeFile()];
    const digest = createHash('sha256')
      .update((await runBuilt('preset', args)).stdout)
      .digest('hex');
    const own = rows.filter((row) => row.view === view);
    expect(new Set(own.map((row) => row.digest))).toEqual(new Set([digest.slice(0, 16)]));
  }
  for (const row of rows) {
    expect(row.failed).toBe(0);
    expect(row.runsPerSecond).toBeGreaterThan(0);
  }
}, 120_000);

it('bench:http --brief takes medians of three cases in turn', () => {
  const rows = bench<Row & { cached: boolean; connections: number; failed: number }>(
    'http',
    '--brief --rounds 2 --requests 32'.split(' '),
  );
  expect(rows.map(({ cached, connections, failed }) => [cached, connections, failed])).toEqual([
    [false, 16, 0],
    [false, 1, 0],
    [true, 16, 0],
  ]);
}, 60_000);

it('bench:http --beside compares runs by themselves with runs beside open experiments', () => {
  const rows = report('http', '--beside --rounds 1 --requests 32'.split(' ')) as Record<string, number>[];
  expect(rows.map(({ connections, failed }) => [connections, failed])).toEqual([
    [1, 0],
    [16, 0],
  ]);
  for (const { aloneP50Ms, besideP50Ms, ratio } of rows) {
    expect(Math.min(aloneP50Ms!, besideP50Ms!, ratio!)).toBeGreaterThan(0);
  }
}, 60_000);

it('bench:attacks compares runs by themselves with runs beside each attack', () => {
  const args = '--attacks searches,cards --seconds 1'.split(' ');
  const rows = report('attacks', args) as Record<string, number>[];
  expect(rows.map(({ attack, failed }) => [attack, failed])).toEqual([
    ['searches', 0],
    ['cards', 0],
  ]);
  for (const { aloneP99Ms, besideP99Ms, ratio, livezMs } of rows) {
    expect(Math.min(aloneP99Ms!, besideP99Ms!, ratio!, livezMs!)).toBeGreaterThan(0);
  }
  expect(() => report('attacks', ['--attacks', 'nothing'])).toThrow('--attacks takes names of unread, jobs');
});

interface MemoryReport {
  readonly digest: string;
  readonly samples: readonly { readonly runs: number; readonly rssMb: number }[];
}

describeWith(['brian'], 'bench:brian', () => {
  it('finds the same spikes in Brian 2', () => {
    const rows = bench<
      Row & { brianMs: number; engineMs: number; ratio: number; missing: number; extra: number }
    >('brian', ['--rounds', '1', '--stimuli', 'sugar,loom', '--duration', '50']);
    expect(rows.map(({ stimulus }) => stimulus)).toEqual(['sugar', 'loom']);
    for (const row of rows) {
      expect(row).toMatchObject({ missing: 0, extra: 0 });
      expect(row.spikes).toBeGreaterThan(0);
      expect(row.brianMs).toBeGreaterThan(row.engineMs);
    }
  }, 180_000);
});
