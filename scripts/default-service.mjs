/** A built service for these scripts, with the default connectome and without rate limit. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READY_WITHIN_MS = 60_000;

/**
 * Starts the service, and ends it when the work is done.
 * @param {(url: string) => Promise<void>} work
 */
export async function withDefaultService(work) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const jobs = mkdtempSync(join(tmpdir(), 'jobs-'));
  const service = spawn(process.execPath, ['dist/main.js'], {
    env: {
      ...process.env,
      CONNECTOME_FILE: 'data/default.connectome',
      JOBS_PATH: jobs,
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: '0',
      RATE_LIMIT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    await ready(url);
    await work(url);
  } finally {
    const ended = once(service, 'exit');
    service.kill('SIGTERM');
    await ended;
    rmSync(jobs, { recursive: true });
  }
}

async function ready(url) {
  for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += 100) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((next) => setTimeout(next, 100));
  }
  throw new Error(`the service was not ready within ${READY_WITHIN_MS} ms`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
