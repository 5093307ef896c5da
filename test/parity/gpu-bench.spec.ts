import { execFileSync } from 'node:child_process';
import { describeWith } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

describeWith(['gpu'], 'bench:gpu', () => {
  it('runs the same experiments on GPU, CPU worker and CPU pool, and finds no mismatch', () => {
    const options = '--widths 1,4 --seeds 3 --rounds 1 --stimuli food,loom --json'.split(' ');
    const args = ['bench/gpu.mjs', '--connectome', smallConnectomeFile(), ...options];
    const output = execFileSync(process.execPath, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { rows, checks, digest } = JSON.parse(output) as {
      rows: Record<string, number | string>[];
      checks: { runs: number; spikes: number; mismatches: number }[];
      digest: string;
    };
    expect(rows.map(({ stimulus, batch }) => `${stimulus} ${batch}`)).toEqual([
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
