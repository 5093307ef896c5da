/** The process that holds the GPU. It stands apart from the service, because a driver can take its process down. */
import { FIELDS } from '../../presets/fields.js';
import { trialExperiment, protocolOf } from '../../presets/presets.js';
import { readConnectomeFile } from '../../connectome/connectome-file.js';
import { openConnectome } from '../../connectome/format.js';
import { requestGpuAdapter } from '../../simulation/gpu/adapter.js';
import { CodedError } from '../../errors.js';
import { RemoteCalls } from '../remote-calls.js';
import { GpuBatches } from './gpu-batches.js';
import type { GpuDescription, GpuProcess, HostOpening } from './gpu-host.js';

const WORKER_FILE = new URL('./gpu.worker.js', import.meta.url).href;
/** Seeds that are tried until the GPU certifies a run that can be compared. */
const CHECK_SEEDS = [1, 2, 3, 4];

let batches: GpuBatches | undefined;

const gpu: GpuProcess = {
  adapter: async (allowSoftware) => (await requestGpuAdapter({ allowSoftware })).name,
  open,
  simulate: (protocols) => batches!.simulate(protocols),
};
const calls = new RemoteCalls<object>(
  (message) => process.send!(message),
  () => gpu,
);
process.on('message', calls.receive);
// The service has gone. A worker cannot be stopped while it waits for the GPU, so nothing is tidied up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function open({
  connectomeFile,
  digest,
  workerFile = WORKER_FILE,
  ...wanted
}: HostOpening): Promise<GpuDescription> {
  const buffer = await readConnectomeFile(connectomeFile);
  const connectome = openConnectome(buffer);
  if (connectome.digest !== digest) {
    throw new CodedError(
      'CONNECTOME_INVALID',
      `The connectome file has changed: the service holds ${digest}, the file now has ${connectome.digest}.`,
    );
  }
  const shortest = { ...trialExperiment(connectome.metadata), duration_ms: FIELDS.duration_ms.enum[0] };
  batches = await GpuBatches.open({
    buffer,
    connectome,
    wanted,
    workerFile,
    checks: CHECK_SEEDS.map((seed) => protocolOf(connectome, { ...shortest, seed })),
  });
  return { adapter: batches.adapter, widths: batches.room.widths };
}
