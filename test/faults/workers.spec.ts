import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Load, sendRun } from '../support/load.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { observed } from './extent.js';

const [EXIT_SEED, MEMORY_SEED, SPIN_SEED] = [4_000_000_001, 4_000_000_002, 4_000_000_003];
/** Long enough for nothing else to pass it on a busy machine, and for the test that waits for it to be short. */
const SHORT_RUN_TIMEOUT_MS = 3_000;
/** ModelHealth asks idle workers this often. */

describe('workers that fail', () => {
  const dir = mkdtempSync(join(tmpdir(), 'faults-'));
  const refuseStart = join(dir, 'refuse-start');
  const silentProbes = join(dir, 'silent-probes');
  const exitRuns = join(dir, 'exit-runs');
  const exitAfterTrial = join(dir, 'exit-after-trial');
  let service: ServiceProcess;

  const start = async (variables: Record<string, string> = {}) => {
    service = await startProcess(
      { WORKERS: '2', CACHE_BYTES: '0', ...variables },
      {
        FAULT_EXIT_SEED: String(EXIT_SEED),
        FAULT_MEMORY_SEED: String(MEMORY_SEED),
        FAULT_SPIN_SEED: String(SPIN_SEED),
        FAULT_REFUSE_START: refuseStart,
        FAULT_SILENT_PROBES: silentProbes,
        FAULT_EXIT_RUNS: exitRuns,
        FAULT_EXIT_AFTER_TRIAL: exitAfterTrial,
      },
    );
    if (!existsSync(refuseStart)) await service.untilReady();
  };
  afterEach(async () => {
    for (const file of [refuseStart, silentProbes, exitRuns]) rmSync(file, { force: true });
    await service.stop();
  });

  const workersReady = () => service.metric('nes_workers{state="ready"}');
  const restarts = () => service.metric('nes_worker_restarts_total');

  it.each([
    ['a worker ends in the middle of a run', EXIT_SEED, 'WORKER_LOST', {}],
    ['a worker runs out of memory', MEMORY_SEED, 'WORKER_LOST', {}],
    [
      'a worker computes without end',
      SPIN_SEED,
      'DEADLINE_PASSED',
      { RUN_TIMEOUT_MS: String(SHORT_RUN_TIMEOUT_MS) },
    ],
  ])(
    '%s: that run answers 503, no other is touched, the worker is replaced',
    async (fault, seed, code, variables) => {
      await start(variables as Record<string, string>);
      const load = new Load(service.url, 2);
      const { status, body, ms } = await sendRun(service.url, { seed });
      expect([status, JSON.parse(body).code]).toEqual([503, code]);
      const failedMs = performance.now();
      // Both: the run may be given up by its own deadline a moment before its worker is ended.
      await until(async () => (await restarts()) === 1 && (await workersReady()) === 2);
      const replacedMs = performance.now() - failedMs;
      expect((await service.readyz()).body).toMatchObject({ status: 'ready' });
      const others = await load.stop();
      expect(others.length).toBeGreaterThan(2);
      expect(others.filter((answer) => answer.status !== 200)).toEqual([]);
      observed(
        fault,
        `503 ${code} after ${Math.round(ms)} ms; replaced ${Math.round(replacedMs)} ms later; ` +
          `${others.length} other runs meanwhile, all 200`,
      );
    },
  );

  it('a worker ends in the middle of a trial of ten minutes: another one goes on, to the same answer', async () => {
    await start({ EXPERIMENT_BRAIN_SECONDS: '600', EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0' });
    // An equal experiment would be answered from the stored answer, so the second has a name.
    const ask = async (onBegun = async () => {}, name = '') => {
      const answer = fetch(`${service.url}/api/v2/experiments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...(name !== '' && { name }),
          inputs: { sugar: { node_set: 'S_sugar', rate_hz: 80 } },
          reports: {
            rates: { node_set: '@all' },
            ends: { node_set: '@all', type: 'spikes', start_ms: 599_900 },
          },
          duration_ms: 600_000,
          trials: 1,
        }),
      });
      await onBegun();
      return JSON.parse(await (await answer).text()).conditions;
    };
    const expected = await ask();
    expect(expected[0].reports.ends.t_ms.length).toBeGreaterThan(0);
    const actual = await ask(async () => {
      writeFileSync(exitAfterTrial, '');
      await until(async () => (await restarts()) === 1);
    }, 'again');
    expect(actual).toEqual(expected);
    observed(
      'a worker ends in a trial of 600 s',
      'another one goes on; the answer is the same, byte for byte',
    );
  });

  it('a worker that ends and cannot be started again: degraded with the others; none left: 503, then back', async () => {
    await start();
    writeFileSync(refuseStart, '');
    await sendRun(service.url, { seed: EXIT_SEED });
    await service.untilReadyz(({ body }) => body['status'] === 'degraded');
    expect((await service.readyz()).body).toMatchObject({
      degraded: [{ part: 'workers', reason: '1 of 2 workers are running; another could not be started.' }],
      workers: { configured: 2, ready: 1 },
    });
    expect(await service.metric('nes_degraded{part="workers"}')).toBe(1);
    expect((await sendRun(service.url, { seed: 1 })).status).toBe(200);
    rmSync(refuseStart);
    await service.untilReadyz(({ body }) => body['status'] === 'ready');
    expect(await workersReady()).toBe(2);

    writeFileSync(refuseStart, '');
    await sendRun(service.url, { seed: EXIT_SEED });
    await sendRun(service.url, { seed: EXIT_SEED });
    await service.untilReadyz(({ status }) => status === 503);
    const { status, body } = await sendRun(service.url, { seed: 1 });
    expect([status, JSON.parse(body).code]).toEqual([503, 'MODEL_FAILED']);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);

    rmSync(refuseStart);
    const freedMs = performance.now();
    await service.untilReady();
    expect((await service.readyz()).body).toMatchObject({ status: 'ready', workers: { ready: 2 } });
    expect((await sendRun(service.url, { seed: 1 })).status).toBe(200);
    observed(
      'no worker can be started',
      `503 MODEL_FAILED; ready ${Math.round(performance.now() - freedMs)} ms after the cause was gone`,
    );
  });

  it('no worker can be started from the beginning: 503 with the reason; ready once the cause is gone', async () => {
    writeFileSync(refuseStart, '');
    await start();
    await service.untilReadyz(({ body }) => body['code'] === 'MODEL_FAILED');
    expect(String((await service.readyz()).body['error'])).toContain('WORKER_LOST');
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    rmSync(refuseStart);
    await service.untilReady();
    expect((await sendRun(service.url, { seed: 1 })).status).toBe(200);
  });

  it('workers that start and end again with every run: 503 with the reason, no flapping; then back', async () => {
    await start();
    const untilFailed = () => service.untilReadyz(({ body }) => body['code'] === 'MODEL_FAILED');
    writeFileSync(exitRuns, '');
    const beganMs = performance.now();
    const load = new Load(service.url, 2);
    await untilFailed();
    const foundMs = performance.now() - beganMs;
    expect(String((await service.readyz()).body['error'])).toContain('WORKER_LOST');
    expect(await service.metric('nes_model_state{state="failed"}')).toBe(1);
    // Only the service's own retry makes it ready: clients that still ask do not.
    const states = new Set<unknown>();
    for (const endMs = performance.now() + 3_000; performance.now() < endMs;) {
      states.add((await service.readyz()).status);
      await new Promise((next) => setTimeout(next, 20));
    }
    expect([...states]).toEqual([503]);
    rmSync(exitRuns);
    const freedMs = performance.now();
    await service.untilReady();
    const backMs = performance.now() - freedMs;
    const seen = load.count(200);
    await until(() => load.count(200) > seen + 5);
    const answers = await load.stop();
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    observed(
      'every run ends its worker',
      `503 MODEL_FAILED after ${Math.round(foundMs)} ms and ${load.answers.findIndex(({ body }) => body.includes('MODEL_FAILED'))} answers; ` +
        `ready ${Math.round(backMs)} ms after the cause was gone`,
    );
  });

  it('run after run that ends its worker does not take the service from the others', async () => {
    await start();
    for (let i = 0; i < 8; i++) {
      expect((await sendRun(service.url, { seed: EXIT_SEED })).status).toBe(503);
      expect(JSON.parse((await sendRun(service.url, { seed: EXIT_SEED })).body).code).toBe('WORKER_LOST');
    }
    expect((await sendRun(service.url, { seed: 1 })).status).toBe(200);
    await service.untilReadyz(({ body }) => body['status'] === 'ready');
    expect(service.log().filter(({ msg }) => /Trying again/.test(String(msg)))).toEqual([]);
  });

  it('idle workers that stop answering are found; the service says so and comes back', async () => {
    await start({ RUN_TIMEOUT_MS: String(SHORT_RUN_TIMEOUT_MS) });
    writeFileSync(silentProbes, '');
    const silentMs = performance.now();
    await service.untilReadyz(({ status }) => status === 503);
    const foundMs = performance.now() - silentMs;
    expect(String((await service.readyz()).body['error'])).toContain('WORKER_LOST');
    rmSync(silentProbes);
    const freedMs = performance.now();
    await service.untilReady();
    expect((await sendRun(service.url, { seed: 1 })).status).toBe(200);
    observed(
      'the pool stops answering',
      `503 after ${Math.round(foundMs)} ms; ready ${Math.round(performance.now() - freedMs)} ms after the cause was gone`,
    );
  });
});
