import { Load } from '../support/load.js';
import { describeWith } from '../support/requirements.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { IS_FULL, observed } from './extent.js';

const RUNS = 30;
const describeInFull: typeof describeWith = IS_FULL
  ? describeWith
  : (_, name, body) => describe.skip(`${name} (npm run test:faults)`, body); // In the short extent test/service/gpu.slow.spec.ts covers the same.

describeInFull(['gpu'], 'the process of the GPU', () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startProcess({
      BACKEND: 'gpu',
      // A software adapter serves if there is no GPU: the process behaves the same.
      GPU_ALLOW_SOFTWARE: '1',
      CACHE_BYTES: '0',
    });
    await service.untilReady();
    await untilGpu('ready');
  }, 120_000);
  afterAll(() => service.stop());

  const gpu = async () => (await service.readyz()).body['gpu'] as { state: string; process_id: number };
  const untilGpu = (state: string) => until(async () => (await gpu())?.state === state);

  it('is killed in the middle of runs: the CPU answers them, it is started again', async () => {
    const { process_id } = await gpu();
    const load = new Load(service.url, 4);
    const more = async () => {
      const seen = load.count(200);
      await until(() => load.count(200) >= seen + RUNS);
    };
    await more();
    const onGpu = await service.metric('nes_simulations_total{backend="gpu"}');
    process.kill(process_id, 'SIGKILL');
    const killedMs = performance.now();
    await untilGpu('lost');
    expect((await service.readyz()).body).toMatchObject({ status: 'degraded', backend: 'cpu' });
    await untilGpu('ready');
    const backMs = performance.now() - killedMs;
    await more();
    const answers = await load.stop();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(onGpu).toBeGreaterThan(0);
    expect(await service.metric('nes_simulations_total{backend="gpu"}')).toBeGreaterThan(onGpu!);
    expect(await service.metric('nes_gpu_runs_total{outcome="lost"}')).toBeGreaterThan(0);
    observed(
      'the process of the GPU killed under load (software Vulkan)',
      `${answers.length} runs, all 200; degraded for ${Math.round(backMs)} ms`,
    );
  }, 240_000);
});
