/**
 * The file that the thread of experiments runs. All of version 2 that takes time but is no trial is done here: searching,
 * planning, adding up, writing, in turns. Handlers of messages file work and begin trials.
 */
import { setPriority } from 'node:os';
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { parseDocument } from '../../experiments/document/parse-document.js';
import { Partners } from '../../connectome/partners.js';
import { viewConnectome } from '../../connectome/sections.js';
import { neuronIndexOf } from '../../connectome/neuron-index.js';
import { withoutPauses } from '../../parts.js';
import { FairScheduler } from './fair-scheduler.js';
import { HeapWatch } from './heap-watch.js';
import { Planner } from './planner.js';
import { RemoteCalls, type WorkId } from '../remote-calls.js';
import type { ThreadWork } from './thread-work.js';
import { Watchdog } from './watchdog.js';
import { largestOf, WorkHandler, type ThreadParts } from './work-handler.js';

export interface ThreadData {
  /** The bytes of a connectome file that this process has already verified. */
  readonly connectome: SharedArrayBuffer;
  /** Memory of the Watchdog. */
  readonly watchdog: SharedArrayBuffer;
}

/** On Linux, threads of runs go first where cores are short. */
const NICENESS = 5;

const { connectome: buffer, watchdog } = workerData as ThreadData;
const connectome = viewConnectome(buffer);
withoutPauses(neuronIndexOf(connectome).indexing());
// The first document would wait for its checks to be compiled, some 100 ms.
parseDocument({ reports: { any: { node_set: '@all' } } }, { ids: 1, conditions: 1 }, []);

const works = new Map<number, WorkHandler>();
const heap = new HeapWatch(() => largestOf(works.values())?.endAsLargest());
const parts: ThreadParts = {
  connectome,
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

/** The handler of a work, which begins with its first message. */
function handlerOf(work: WorkId): WorkHandler {
  let handler = works.get(work.id);
  if (handler === undefined) {
    handler = new WorkHandler(work, parts, () => works.delete(work.id));
    works.set(work.id, handler);
  }
  return handler;
}

function lowerPriority(): void {
  try {
    // Threads have numbers and priorities of their own.
    setPriority(Number.parseInt(readFileSync('/proc/thread-self/stat', 'utf8'), 10), NICENESS);
  } catch {
    // Not Linux, or not allowed: the priority stays.
  }
}
