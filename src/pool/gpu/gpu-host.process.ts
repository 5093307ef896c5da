/**
 * The process that holds the GPU: a pool of one worker, the file that all workers run. It stands apart from
 * the service, because a driver can take its process down.
 */
import { Piscina } from 'piscina';
import { readConnectomeFile } from '../../connectome/connectome-file.js';
import { openConnectome } from '../../connectome/format.js';
import { requestGpuAdapter } from '../../engine/backends/gpu/adapter.js';
import { CodedError, failureOf } from '../../errors.js';
import { BATCHES_IN_FLIGHT } from './batch-stage.js';
import type { HostAnswer, HostQuestion } from './gpu-host.js';
import type { Outcome, ResultOf, Task, WorkerData } from '../task.js';

let pool: Piscina | undefined;

process.on('message', (question: HostQuestion) => {
  void answer(question).then((outcome) => process.send!({ id: question.id, outcome } satisfies HostAnswer));
});
// The service has gone. A worker cannot be stopped while it waits for the GPU, so nothing is tidied up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function answer({ task }: HostQuestion): Promise<Outcome<unknown>> {
  try {
    switch (task.kind) {
      case 'adapter':
        return { ok: true, result: (await requestGpuAdapter(task)).name };
      case 'open':
        return await open(task);
      case 'batch':
        return await run(task);
    }
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

async function open({
  connectomeFile,
  digest,
  allowSoftware,
  workerFile,
}: HostQuestion['task'] & { kind: 'open' }): Promise<Outcome<ResultOf['probe']>> {
  const buffer = await readConnectomeFile(connectomeFile);
  const found = openConnectome(buffer).digest;
  if (found !== digest) {
    throw new CodedError(
      'CONNECTOME_INVALID',
      `The connectome file has changed: the service holds ${digest}, the file now has ${found}.`,
    );
  }
  const workerData: WorkerData = { connectome: buffer, gpu: { allowSoftware } };
  pool = new Piscina({
    filename: workerFile,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: BATCHES_IN_FLIGHT,
    workerData,
    // The binding looks after the GPU in the event loop of the worker, which must not be blocked meanwhile.
    atomics: 'disabled',
    recordTiming: false,
  });
  pool.on('error', (error: Error) => console.error(error));
  return run({ kind: 'probe' });
}

async function run<Kind extends keyof ResultOf>(
  task: Task & { kind: Kind },
): Promise<Outcome<ResultOf[Kind]>> {
  return (await pool!.run(task)) as Outcome<ResultOf[Kind]>;
}
