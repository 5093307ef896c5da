/** Starts a service in a separate process, for benchmarks over HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVE = fileURLToPath(new URL('serve.mjs', import.meta.url));
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/**
 * Starts a service, without a rate limit, and waits until it is ready.
 * @param {string} connectome the file that it serves
 * @param {Record<string, string>} variables further environment variables
 * @param {URL} checkout another one, built, whose service is started instead
 * @returns {Promise<{ url: string, pid: number, stop: () => Promise<void> }>}
 * @throws CodedError CONNECTOME_MISSING; the service itself would wait for the file
 */
export async function startService(connectome, variables, checkout = new URL('../', import.meta.url)) {
  // Imported here, because npm run refresh builds it first.
  const { readConnectomeFile } = await import('../dist/workers/pool/connectome-file.js');
  await readConnectomeFile(connectome);
  const jobs = mkdtempSync(join(tmpdir(), 'jobs-'));
  const main = new URL('dist/main.js', checkout).href;
  const child = spawn(process.execPath, [SERVE, main], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      RATE_LIMIT: '0',
      LOG_LEVEL: 'error',
      CONNECTOME_FILE: connectome,
      JOBS_PATH: jobs,
      ...variables,
    },
    // Standard output is for the result, so the log of the service goes to standard error.
    stdio: ['ignore', 2, 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const port = once(child, 'message').then(([sent]) => sent);
  const url = `http://127.0.0.1:${await Promise.race([port, ended.then(notReady)])}`;
  for (let waitedMs = 0; !(await isReady(url)); waitedMs += POLL_MS) {
    if (child.exitCode !== null || waitedMs > START_TIMEOUT_MS) {
      child.kill('SIGTERM');
      notReady();
    }
    await new Promise((next) => setTimeout(next, POLL_MS));
  }
  return {
    url,
    pid: child.pid,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(jobs, { recursive: true });
    },
  };
}

async function isReady(url) {
  try {
    return (await fetch(`${url}/readyz`)).status === 200;
  } catch {
    return false;
  }
}

function notReady() {
  throw new Error('the service did not become ready; its output stands above');
}
