import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describeWith } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

interface Row {
  stimulus: string;
  spikes: number;
  digest: string;
}

/** Benchmarks rot unless somebody runs them: here on a small brain, for their rows and digests, not their times. */
function bench<T extends Row>(name: string, args: string[]): T[] {
  const connectome = ['--connectome', smallConnectomeFile(), '--json'];
  const output = execFileSync(process.execPath, [resolve(`bench/${name}.mjs`), ...connectome, ...args]);
  return JSON.parse(output.toString()) as T[];
}

describe('bench:engine', () => {
  it('prints a row for each stimulus and duration, with a digest that both engines agree on', () => {
    const rows = bench<Row & { durationMs: number; events: number; kernelMs: number; agree: boolean }>(
      'engine',
      ['--rounds', '2', '--stimuli', 'sugar,loom', '--durations', '50,200'],
    );
    expect(rows.map(({ stimulus, durationMs }) => [stimulus, durationMs])).toEqual([
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
    expect(() => bench('engine', ['--stimuli', 'salt'])).toThrow('There is no stimulus "salt"');
    expect(() => bench('engine', ['--rounds', '0'])).toThrow('--rounds takes whole numbers from 1');
  });
});

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
