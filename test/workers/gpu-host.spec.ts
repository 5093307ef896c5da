import { spawnSync } from 'node:child_process';

const PROGRAM = `
  import { openSync } from 'node:fs';
  import { GpuHost } from './dist/workers/gpu/gpu-host.js';
  try {
    for (;;) openSync('/dev/null');
  } catch {
    const refused = await GpuHost.adapter(true).catch((error) => error);
    process.stdout.write(refused.code + ' ' + refused.message);
  }
`;

it('is refused, and ends nothing, if the service has no file descriptor left', () => {
  const command = 'ulimit -n 64 && exec "$0" --input-type=module --eval "$1"';
  const { stdout, stderr, status } = spawnSync('sh', ['-c', command, process.execPath, PROGRAM]);
  expect([String(stderr), status]).toEqual(['', 0]);
  expect(String(stdout)).toBe('GPU_FAILED The GPU process failed (EMFILE).');
});
