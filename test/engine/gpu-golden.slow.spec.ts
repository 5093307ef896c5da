/**
 * Compares the whole brain on a GPU with Brian 2: only the beginnings of golden runs, as a software adapter is slow.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { requestGpuAdapter } from '../../src/engine/simulation/gpu/adapter.js';
import type { GpuTrial } from '../../src/engine/simulation/gpu/batch-tables.js';
import { OneThreadGpu } from '../support/one-thread-gpu.js';
import { goldenReader } from '../../src/tools/golden/golden.js';
import { connectomeFile } from '../support/connectomes.js';
import { ENGINES } from '../support/engines.js';
import { describeWith, GOLDEN_DIR } from '../support/requirements.js';

/** 14 windows. */
const STEPS = 252;
const RUNS = ['sugar-1000ms', 'odour-1000ms'];

describeWith(['tables', 'golden', 'gpu'], 'the whole brain on a GPU against Brian 2, spike for spike', () => {
  it('beginnings of golden runs of different durations in one batch', async () => {
    const file = await connectomeFile('measured-predicted');
    const connectome: Connectome = openConnectome(new Uint8Array(readFileSync(file)).buffer);
    const read = goldenReader(connectome);
    const { largestArrayBytes } = await requestGpuAdapter();
    const engine = new OneThreadGpu(connectome, { mode: 'webgpu', widths: [2], largestArrayBytes });
    const golden = RUNS.map((name) => {
      const csv = gunzipSync(readFileSync(resolve(GOLDEN_DIR, 'open', `${name}.csv.gz`))).toString();
      return read(csv, name);
    });
    const trials = golden.map(({ events, silenced }, i): GpuTrial => ({
      events,
      options: { durationSteps: STEPS - 50 * i, silenced },
    }));
    const runs = await engine.simulateBatch(trials);
    await engine.destroy();
    const cpu = ENGINES.at(-1)!.build(connectome);
    golden.forEach(({ spikes }, i) => {
      const { events, options } = trials[i]!;
      const { trial, certified } = runs[i]!;
      expect(certified).toBe(true);
      const count = spikes.steps.findIndex((step) => step >= options.durationSteps);
      expect(count).toBeGreaterThan(50);
      expect(trial.steps).toEqual(spikes.steps.slice(0, count));
      expect(trial.neurons).toEqual(spikes.neurons.slice(0, count));
      expect(trial.deliveredEvents).toBe(cpu.simulate(events, options).deliveredEvents);
    });
  }, 300_000);
});
