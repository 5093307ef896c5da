import { spawnSync } from 'node:child_process';
import { describeWith } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

function bench(...options: string[]): { status: number | null; stdout: string; stderr: string } {
  const args = ['bench/gpu.mjs', '--connectome', smallConnectomeFile(), ...options];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

describe('bench:gpu', () => {
  it.each(['3', '32,1', '8,8', '1,2,x', '256'])(
    'refuses the widths %s, before it asks for a GPU',
    (widths) => {
      const { status, stdout, stderr } = bench('--widths', widths);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^--widths takes [^\n]+\n$/);
    },
  );
});

describeWith(['gpu'], 'bench:gpu', () => {
  it('runs the same experiments on GPU, CPU worker and CPU pool, and finds no mismatch', () => {
    const { stdout } = bench(...'--widths 1,4 --seeds 3 --rounds 1 --stimuli food,loom --json'.split(' '));
    const { rows, checks, digest } = JSON.parse(stdout) as {
      rows: Record<string, number | string>[];
      checks: { runs: number; spikes: number; mismatches: number }[];
      digest: string;
    };
    expect(rows.map((row) => `${row['case']} ${row['batch']}`)).toEqual([
      'food 1',
      'food 4',
      'loom 1',
      'loom 4',
    ]);
    for (const check of checks) {
      expect(check).toMatchObject({ runs: 3, mismatches: 0 });
      expect(check.spikes).toBeGreaterThan(100);
    }
    expect(digest).toMatch(/^[0-9a-f]{16}$/);
  });
});
