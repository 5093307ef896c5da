import { Agent } from 'node:http';
import { STIMULUS_IDS } from '../../src/experiments/presets/populations.js';
import { KEEP_ALIVE_TIMEOUT_MS } from '../../src/service/limits/limits.js';
import { connectomeFile } from '../support/connectomes.js';
import { Load, sendRun, type Answered } from '../support/load.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { extent, IS_FULL, observed, percentile } from './extent.js';

const WORKERS = extent({ short: 1, full: 2 });
const MEASURED_MS = extent({ short: 2_000, full: 30_000 });
const SOAKED_MS = Number(
  process.env['SOAK_MINUTES']
    ? Number(process.env['SOAK_MINUTES']) * 60_000
    : extent({ short: 6_000, full: 1_800_000 }),
);
const SAMPLES = 40;
const MB = 2 ** 20;
/** A short soak sees caches still filling; a long one has no such excuse. */
const ALLOWED_GROWTH = extent({ short: 1.5, full: 1.1 });

describe('a soak at half the measured capacity', () => {
  let service: ServiceProcess;
  // A request on a connection that the service has just closed as idle would fail: this client closes such ones itself,
  // long before, even if the machine stalls for seconds.
  const agent = new Agent({ keepAlive: true, timeout: KEEP_ALIVE_TIMEOUT_MS / 4 });

  beforeAll(async () => {
    const brain: Record<string, string> = IS_FULL ? { CONNECTOME_FILE: await connectomeFile('default') } : {};
    service = await startProcess({
      WORKERS: String(WORKERS),
      CACHE_BYTES: String(8 * MB),
      LOG_LEVEL: 'warn',
      // All runs are of one client, and a machine that others use stands still at times: runs that were due meanwhile then
      // comes at once.
      QUEUE_LIMIT: '4000',
      ...brain,
    });
    await service.untilReady();
  }, 300_000);
  afterAll(async () => {
    agent.destroy();
    await service.stop();
  });

  it(
    'answers every run and its memory stays flat',
    async () => {
      const capacity = await runsPerSecond();
      const answers: Promise<Answered>[] = [];
      const memory: number[] = [];
      const startedMs = performance.now();
      const sample = setInterval(() => {
        void service.metric('process_resident_memory_bytes').then((bytes) => memory.push(bytes!));
      }, SOAKED_MS / SAMPLES);
      // Runs are sent at a fixed rate, whatever the answers are, so that a slow service is noticed.
      for (let sent = 0; performance.now() - startedMs < SOAKED_MS; sent++) {
        const dueMs = startedMs + (sent * 1000) / (capacity / 2);
        await new Promise((next) => setTimeout(next, Math.max(0, dueMs - performance.now())));
        const stimulus = STIMULUS_IDS[sent % STIMULUS_IDS.length];
        answers.push(sendRun(service.url, { stimulus, seed: sent }, agent));
      }
      clearInterval(sample);
      const all = await Promise.all(answers);
      const quarter = Math.floor(memory.length / 4);
      const early = percentile(memory.slice(quarter, 2 * quarter), 0.5);
      const late = percentile(memory.slice(-quarter), 0.5);
      const ms = all.map((answer) => answer.ms);
      const failed = all.filter(({ status }) => status !== 200);
      observed(
        `${Math.round(SOAKED_MS / 60_000)} minutes at half of ${capacity.toFixed(1)} runs/s (${WORKERS} workers)`,
        `${all.length} runs, ${failed.length} of them not 200; median ${percentile(ms, 0.5).toFixed(0)} ms, 99th percentile ` +
          `${percentile(ms, 0.99).toFixed(0)} ms; memory ${Math.round(early / MB)} MB in the second quarter, ` +
          `${Math.round(late / MB)} MB in the last`,
      );
      expect(failed).toEqual([]);
      expect(late / early).toBeLessThan(ALLOWED_GROWTH);
    },
    SOAKED_MS + MEASURED_MS + 120_000,
  );

  /** Capacity, measured with the runs of the soak and as many clients as keep every worker busy. */
  async function runsPerSecond(): Promise<number> {
    const load = new Load(service.url, 2 * WORKERS, STIMULUS_IDS);
    const startedMs = performance.now();
    await new Promise((next) => setTimeout(next, MEASURED_MS));
    const answers = await load.stop();
    return (answers.filter(({ status }) => status === 200).length * 1000) / (performance.now() - startedMs);
  }
});
