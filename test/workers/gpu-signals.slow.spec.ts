/** Signals that a terminal or systemd sends to the GPU process, too. Its threads only pretend to hold a GPU. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { DEFAULT_EXPERIMENT, protocolOf } from '../../src/experiments/presets/experiment.js';
import { GpuHost } from '../../src/workers/gpu/gpu-host.js';
import { readConnectomeFile } from '../../src/workers/pool/connectome-file.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

const TIMEOUT_MS = 60_000;

it(
  'the GPU process goes on after SIGINT, SIGTERM and SIGHUP, and ends when its parent says so',
  async () => {
    const connectomeFile = smallConnectomeFile();
    const connectome = openConnectome(await readConnectomeFile(connectomeFile));
    const workerFile = pathToFileURL(resolve('test/support/gpu-like.worker.mjs')).href;
    const { digest } = connectome;
    const [host] = await GpuHost.open({ connectomeFile, digest, allowSoftware: true, workerFile });
    const protocol = protocolOf(connectome, {
      ...DEFAULT_EXPERIMENT,
      stimulus: 'loom',
      duration_ms: 50,
      seed: 1,
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.kill(host.processId!, signal);
      const [trial] = await host.simulate([protocol], TIMEOUT_MS);
      expect(trial).toBeDefined();
    }
    expect(host.error).toBeUndefined();
    await host.close();
    await host.ended;
  },
  TIMEOUT_MS,
);
