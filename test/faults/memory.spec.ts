/** Ten clients that take all the memory they may, and the limit of a container: the kernel must not end the process. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectomeFile } from '../support/connectomes.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { spawnEnding } from '../support/spawn-ending.js';
import { extent, observed } from './extent.js';

const ATTACK_MS = extent({ short: 8_000, full: 60_000 });
/** As in docker/kubernetes.yaml. */
const MEMORY_LIMIT_BYTES = 1536 * 2 ** 20;
const WORKERS = 3;
const CLIENTS = 10;
/** Names in test/support/attacker.mjs. */
const ATTACKS =
  'unread parquet csv heavy scales dry-runs branches many-documents openings wide-steps repeated-steps'.split(
    ' ',
  );
/** The hierarchies of cgroup 1 and 2, and the file of a group that limits its memory. */
const HIERARCHIES = [
  ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
  ['/sys/fs/cgroup', 'memory.max'],
] as const;

/** Has the kernel kill a process that takes more, if this user may do so. @returns a function that ends the limit */
function limitMemory(pid: number): () => void {
  for (const [hierarchy, limit] of HIERARCHIES) {
    const group = join(hierarchy, `faults-${pid}`);
    // With cgroup 1, the second folder is no hierarchy.
    if (!existsSync(join(hierarchy, 'cgroup.procs'))) continue;
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      // In cgroup 2 a group has the file only if its parent hands the memory on.
      const handedOn = join(hierarchy, 'cgroup.subtree_control');
      if (existsSync(handedOn)) writeFileSync(handedOn, '+memory');
      writeFileSync(join(group, limit), String(MEMORY_LIMIT_BYTES));
      writeFileSync(join(group, 'cgroup.procs'), String(pid));
      return () => rmdirSync(group);
    } catch {
      rmdirSync(group);
    }
  }
  observed('the limit of memory', 'this user may not set it; only the resident memory is compared with it');
  return () => undefined;
}

function inputsOfAllNeurons(count: number): object {
  const input = { node_set: '@all', rate_hz: 0 };
  return {
    inputs: Object.fromEntries(Array.from({ length: count }, (_, at) => [`i${at}`, input])),
    reports: {},
  };
}

const addressOf = (client: number) => `198.51.100.${1 + (client % CLIENTS)}`;

describe('ten clients together', () => {
  let service: ServiceProcess;
  let leave: () => void;

  beforeEach(async () => {
    service = await startProcess({
      CONNECTOME_FILE: await connectomeFile('default'),
      WORKERS: String(WORKERS),
      TRUST_PROXY: 'loopback',
      LOG_LEVEL: 'warn',
    });
    leave = limitMemory(service.child.pid!);
    await service.untilReady();
  });
  afterEach(async () => {
    await service.stop();
    leave();
  });

  async function expectWithinLimit(what: string, outcome: object): Promise<void> {
    expect((await service.readyz()).status).toBe(200);
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
    const peakBytes = 1024 * Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)![1]);
    const used = `at most ${Math.round(peakBytes / 2 ** 20)} MiB of ${MEMORY_LIMIT_BYTES / 2 ** 20}`;
    observed(what, `${used}; ${JSON.stringify(outcome)}`);
    expect(peakBytes).toBeLessThan(MEMORY_LIMIT_BYTES);
  }

  it('open the largest sessions and end them: the memory of the process stays within its limit', async () => {
    const counts: Record<string, number> = {};
    const ask = async (client: string, path: string, body: object, method = 'POST') => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
      const sent = method === 'POST' ? { body: JSON.stringify(body) } : {};
      const answer = await fetch(`${service.url}/api/v2/sessions${path}`, { method, headers, ...sent });
      const { code = '', session = '' } = (await answer.json()) as { code?: string; session?: string };
      const outcome = `${method} ${answer.status} ${code}`;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      return { status: answer.status, session };
    };
    const endMs = performance.now() + ATTACK_MS;
    const attack = async (at: number) => {
      for (let inputs = 1 + (at % 7); performance.now() < endMs; inputs = 1 + (inputs % 7)) {
        const { status, session } = await ask(addressOf(at), '', inputsOfAllNeurons(inputs));
        if (status !== 201) continue;
        for (const tMs of [0, 1])
          await ask(addressOf(at), `/${session}/steps`, { t_ms: tMs, duration_ms: 1 });
        await ask(addressOf(at), `/${session}`, {}, 'DELETE');
      }
    };
    await Promise.all(Array.from({ length: 2 * CLIENTS }, (_, at) => attack(at)));
    await expectWithinLimit('ten clients open sessions of up to seven inputs of all neurons', counts);
    expect(counts['POST 422 TOO_EXPENSIVE']).toBeGreaterThan(0);
    expect(counts['DELETE 200 ']).toBeGreaterThan(0);
  });

  it('attack in ten ways: the memory of the process stays within its limit', async () => {
    const attackers: ChildProcess[] = ATTACKS.map((name, at) =>
      spawnEnding(process.execPath, ['test/support/attacker.mjs', name, service.url, addressOf(at)], {
        stdio: 'inherit',
      }),
    );
    try {
      await sleep(ATTACK_MS);
      expect(attackers.map(({ exitCode }) => exitCode)).toEqual(ATTACKS.map(() => null));
      await expectWithinLimit('ten clients attack in ten ways', ATTACKS);
    } finally {
      for (const attacker of attackers) attacker.kill('SIGKILL');
    }
  });
});
