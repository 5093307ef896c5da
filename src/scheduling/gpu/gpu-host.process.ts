/** The process that holds the GPU. It stands apart from the service, because a driver can take its process down. */
import { FIELDS } from '../../answers/v1/fields.js';
import { trialExperiment } from '../../answers/v1/presets.js';
import { protocolOf } from '../../answers/v1/protocol.js';
import { readConnectomeFile } from '../../connectome/connectome-file.js';
import { openConnectome } from '../../connectome/format.js';
import { requestGpuAdapter } from '../../engine/backends/gpu/adapter.js';
import { CodedError, failureOf } from '../../errors.js';
import { GpuBatches } from './gpu-batches.js';
import type { GpuDescription, HostAnswer, HostQuestion } from './gpu-host.js';

const WORKER_FILE = new URL('./gpu.worker.js', import.meta.url).href;
/** Seeds that are tried until the GPU certifies a run that can be compared. */
const CHECK_SEEDS = [1, 2, 3, 4];

let batches: GpuBatches | undefined;

process.on('message', ({ id, task }: HostQuestion) => {
  void answer(task).then(
    (result) => process.send!({ id, outcome: { ok: true, result } } satisfies HostAnswer),
    (error) => process.send!({ id, outcome: { ok: false, failure: failureOf(error) } } satisfies HostAnswer),
  );
});
// The service has gone. A worker cannot be stopped while it waits for the GPU, so nothing is tidied up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function answer(task: HostQuestion['task']): Promise<unknown> {
  switch (task.kind) {
    case 'adapter':
      return (await requestGpuAdapter(task)).name;
    case 'open':
      return open(task);
    case 'batch':
      return batches!.simulate(task.protocols);
  }
}

async function open({
  connectomeFile,
  digest,
  workerFile = WORKER_FILE,
  ...wanted
}: HostQuestion['task'] & { kind: 'open' }): Promise<GpuDescription> {
  const buffer = await readConnectomeFile(connectomeFile);
  const connectome = openConnectome(buffer);
  if (connectome.digest !== digest) {
    throw new CodedError(
      'CONNECTOME_INVALID',
      `The connectome file has changed: the service holds ${digest}, the file now has ${connectome.digest}.`,
    );
  }
  const shortest = { ...trialExperiment(connectome.metadata), duration_ms: FIELDS.duration_ms.allowed[0] };
  batches = await GpuBatches.open({
    buffer,
    connectome,
    wanted,
    workerFile,
    checks: CHECK_SEEDS.map((seed) => protocolOf(connectome, { ...shortest, seed })),
  });
  return { adapter: batches.adapter, widths: batches.room.widths };
}
