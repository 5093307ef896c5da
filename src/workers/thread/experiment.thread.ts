/**
 * The module of the experiment thread. It does all slow work of version 2 except trials: searches, plans, sums and
 * answers. Slow work runs in turns. Message handlers themselves only queue work or begin trials.
 */
import { setPriority } from 'node:os';
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Partners } from '../../engine/connectome/partners.js';
import { viewConnectome } from '../../engine/connectome/sections.js';
import { neuronIndexOf } from '../../engine/connectome/neuron-index.js';
import { synapseTotalsOf } from '../../engine/connectome/synapse-totals.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { exampleIds } from './example-ids.js';
import { FairScheduler } from './fair-scheduler.js';
import { HeapWatch } from './heap-watch.js';
import { Planner } from './planner.js';
import { RemoteCalls, type WorkId } from '../pool/remote-calls.js';
import type { ThreadWork } from './thread-work.js';
import { Watchdog } from './watchdog.js';
import { largestOf, WorkHandler, type ThreadParts } from './work-handler.js';

export interface ThreadData {
  /** The bytes of a connectome file that this process has already verified. */
  readonly connectome: SharedArrayBuffer;
  /** Shared memory of the Watchdog. */
  readonly watchdog: SharedArrayBuffer;
}

/** If cores are scarce, Linux prefers the threads of runs. */
const NICENESS = 5;

const { connectome: buffer, watchdog } = workerData as ThreadData;
const connectome = viewConnectome(buffer);
neuronIndexOf(connectome).indexAll();
synapseTotalsOf(connectome);

const works = new Map<number, WorkHandler>();
const heap = new HeapWatch(() => largestOf(works.values())?.endAsLargest());
const parts: ThreadParts = {
  connectome,
  // Also compiles the checks of documents, which takes about 100 ms; otherwise the first document would wait for it.
  examples: exampleIds(connectome),
  partners: new Partners(connectome),
  planner: new Planner(connectome),
  scheduler: new FairScheduler(new Watchdog(watchdog), () => heap.check()),
  service: new RemoteCalls<ThreadWork>(
    (message, memory) => parentPort!.postMessage(message, memory),
    handlerOf,
  ),
};
parentPort!.on('message', parts.service.receive);
lowerPriority();

/** Returns the handler of a work and creates it for the first message. */
function handlerOf(work: WorkId): WorkHandler {
  return getOrInsert(works, work.id, (id) => new WorkHandler(work, parts, () => works.delete(id)));
}

function lowerPriority(): void {
  try {
    // On Linux, each thread has its own id and priority.
    setPriority(Number.parseInt(readFileSync('/proc/thread-self/stat', 'utf8'), 10), NICENESS);
  } catch {
    // Not Linux, or not permitted: keep the priority.
  }
}
