import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ExperimentPool } from './experiment-pool.js';
import type { V1RunTask } from './task.js';

const PROBE_MS = 200;

/** Workers that do not start, or do not answer, while a file exists. */
const folder = mkdtempSync(join(tmpdir(), 'pool-'));
const [slowStart, silent, file] = ['slow-start', 'silent', 'worker.mjs'].map((name) =>
  join(folder, name),
) as [string, string, string];
writeFileSync(
  file,
  `import { existsSync } from 'node:fs';
   const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
   while (existsSync(${JSON.stringify(slowStart)})) pause();
   export default () => {
     while (existsSync(${JSON.stringify(silent)})) pause();
     return { ok: true };
   };`,
);

let pool: ExperimentPool;
beforeEach(async () => {
  pool = await ExperimentPool.start({
    workers: 2,
    workerData: { connectome: new SharedArrayBuffer(1) },
    workerFile: pathToFileURL(file),
    onStrayError: () => undefined,
    onChange: () => undefined,
  });
});
afterEach(async () => {
  for (const each of [slowStart, silent]) rmSync(each, { force: true });
  await pool.close();
});

it('gives a worker that is starting the time of a start', async () => {
  writeFileSync(slowStart, '');
  pool.members[1]!.restart();
  while (pool.ready === 2) await sleep(5);
  const probe = pool.probe(PROBE_MS).then(() => 'answered');
  expect(await Promise.race([probe, sleep(3 * PROBE_MS, 'waits')])).toBe('waits');
  rmSync(slowStart);
  expect(await probe).toBe('answered');
  expect(pool.ready).toBe(2);
});

it('finds a worker that has become silent', async () => {
  writeFileSync(silent, '');
  await expect(pool.probe(PROBE_MS)).rejects.toMatchObject({ code: 'DEADLINE_PASSED' });
});

it('does not probe a worker that computes', async () => {
  writeFileSync(silent, '');
  const task = pool.members[0]!.run({ kind: 'v1-run' } as V1RunTask);
  const other = pool.members[1]!.run({ kind: 'v1-run' } as V1RunTask);
  await pool.probe(PROBE_MS);
  expect(existsSync(silent)).toBe(true);
  rmSync(silent);
  await Promise.all([task, other]);
});
