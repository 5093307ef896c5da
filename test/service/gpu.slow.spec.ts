/** The service with a real adapter, a software one at least: the view of clients and operators. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jobsFolder } from '../support/disk-jobs.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';

/** A software adapter takes seconds for a batch, and longer beside other tests. */
const SLOW_MS = '120000';
const HIDDEN_VULKAN = { VK_DRIVER_FILES: '/nonexistent', VK_ICD_FILENAMES: '/nonexistent' };

describeWith(['gpu'], 'BACKEND=gpu with a software adapter that is accepted', () => {
  let service: Service;
  let onCpu: Service;

  beforeAll(async () => {
    service = await startReadyService({ BACKEND: 'gpu', GPU_ALLOW_SOFTWARE: '1', RUN_TIMEOUT_MS: SLOW_MS });
    onCpu = await startReadyService();
    await untilGpu(service, 'ready');
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    await onCpu.stop();
  });

  it('simulates on the GPU; only the header tells', async () => {
    for (const order of [{ stimulus: 'loom' }, { stimulus: 'food', seed: 5 }, { stimulus: 'none' }]) {
      const answer = await service.post(order);
      expect(answer.headers.get('x-backend')).toBe('gpu');
      const expected = await onCpu.post(order);
      expect(expected.headers.get('x-backend')).toBe('cpu');
      expect(await answer.text()).toBe(await expected.text());
    }
  }, 120_000);

  it('simulates trials of open experiments, with the same bytes', async () => {
    const document = {
      inputs: {
        in: { node_set: '@stimulus/loom', rate_hz: 200 },
        again: { node_set: '@stimulus/loom', rate_hz: 50 },
      },
      silence: ['@channel/escape'],
      duration_ms: 30,
      trials: 6,
    };
    const answerOf = async ({ url }: Service) => {
      const body = JSON.stringify(document);
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/v2/experiments`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const expected = await answerOf(onCpu);
    expect(expected.status).toBe(200);
    expect(await answerOf(service)).toEqual(expected);
    const { gpu } = await (await service.get('/readyz')).json();
    expect(gpu).toEqual({ state: 'ready', adapter: expect.any(String), process_id: expect.any(Number) });
  }, 120_000);

  it('computes sessions on the CPU', async () => {
    const body = JSON.stringify({ inputs: { in: { node_set: '@stimulus/loom', rate_hz: 200 } } });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/api/v2/sessions`, { method: 'POST', headers, body });
    expect(answer.status).toBe(201);
  }, 120_000);

  it('answers on the CPU while the host is away, says so, and has it back', async () => {
    const { gpu } = await (await service.get('/readyz')).json();
    process.kill(gpu.process_id, 'SIGKILL');
    await untilGpu(service, 'lost');
    const readyz = await (await service.get('/readyz')).json();
    expect(readyz).toMatchObject({ status: 'degraded', backend: 'cpu', degraded: [{ part: 'gpu' }] });
    const answer = await service.post({ stimulus: 'loom', seed: 6 });
    expect([answer.status, answer.headers.get('x-backend')]).toEqual([200, 'cpu']);
    await untilGpu(service, 'ready');
    const after = await (await service.get('/readyz')).json();
    expect(after).toMatchObject({ status: 'ready', backend: 'gpu', degraded: [] });
    expect(after.gpu.process_id).not.toBe(gpu.process_id);
  }, 120_000);
});

describe('without a GPU', () => {
  it('BACKEND=gpu refuses to start and says why', () => {
    const { status, stderr } = start({ BACKEND: 'gpu' });
    expect(status).toBe(1);
    expect(stderr).toContain('Vulkan has no adapter on this machine.');
  });

  it('BACKEND=gpu quotes a driver that took the process down', () => {
    const preload = join(mkdtempSync(join(tmpdir(), 'driver-')), 'crash.cjs');
    writeFileSync(
      preload,
      `if (process.argv[1].includes('gpu-host')) {
         require('node:fs').writeSync(2, 'The GPU has fallen off the bus.');
         process.kill(process.pid, 'SIGKILL');
       }`,
    );
    const { status, stderr } = start({ BACKEND: 'gpu', NODE_OPTIONS: `--require=${preload}` });
    expect(status).toBe(1);
    expect(stderr).toBe('The GPU process ended (SIGKILL). The GPU has fallen off the bus.\n');
  });

  it('BACKEND=auto is refused with the allowed values', () => {
    expect(start({ BACKEND: 'auto' })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('BACKEND must be one of cpu, gpu, got "auto"'),
    });
  });
});

describeWith(['gpu'], 'with a software adapter that is not accepted', () => {
  it('BACKEND=gpu refuses to start and names the variable', () => {
    const { status, stderr } = start({ BACKEND: 'gpu' }, {});
    expect(status).toBe(1);
    expect(stderr).toMatch(/software one .* GPU_ALLOW_SOFTWARE=1/);
  });
});

/** Starts the built service, by default with a Vulkan that has no adapter, until it ends. */
function start(variables: Record<string, string>, vulkan: Record<string, string> = HIDDEN_VULKAN) {
  try {
    execFileSync(process.execPath, [resolve('dist/main.js')], {
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        METRICS_PORT: '0',
        JOBS_PATH: jobsFolder(),
        ...vulkan,
        ...variables,
      },
      stdio: 'pipe',
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { status: 0, stderr: '' };
  } catch (error) {
    return error as { status: number; stderr: string };
  }
}

async function untilGpu(service: Service, state: string): Promise<void> {
  for (let ms = 0; ; ms += 50) {
    const { gpu } = await (await service.get('/readyz')).json();
    // The member is absent while the model is not ready.
    if (gpu?.state === state) return;
    if (ms > 100_000) throw new Error(`the GPU is ${JSON.stringify(gpu)}, not ${state}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
