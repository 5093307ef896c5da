import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { smallConnectomeFile } from '../../../test/support/small-connectome.js';
import { readConnectomeFile } from './connectome-file.js';
import { areThreadsHung, PoolWorker } from './pool-worker.js';
import { WORKER_FILE } from './worker-file.js';

const HUNG_WORKER = pathToFileURL(resolve('test/support/hung.worker.mjs'));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 10));
}

it('does not wait for ever for a closed thread that does not end, and another worker can start', async () => {
  const connectome = await readConnectomeFile(smallConnectomeFile());
  const fifo = join(mkdtempSync(join(tmpdir(), 'hung-')), 'fifo');
  execFileSync('mkfifo', [fifo]);
  const workerData = { connectome, fifo };
  const newWorker = (workerFile: string | URL) =>
    new PoolWorker({
      workerData,
      workerFile,
      onStrayError: () => undefined,
      onAnswered: () => undefined,
      onLost: () => undefined,
      onChange: () => undefined,
    });
  const hung = newWorker(HUNG_WORKER);
  const task = expect(hung.run({ kind: 'probe' })).rejects.toMatchObject({ code: 'WORKER_LOST' });
  await until(() => existsSync(`${fifo}.begun`));
  await hung.close(1);
  await task;
  expect([hung.state, areThreadsHung()]).toEqual(['closed', true]);
  const next = newWorker(WORKER_FILE);
  await next.run({ kind: 'probe' });
  await next.close();
  expect(areThreadsHung()).toBe(true);
  // Lets the thread end.
  writeFileSync(fifo, '');
  await until(() => !areThreadsHung());
}, 60_000);
