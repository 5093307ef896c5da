/** Messages between the threads of the GPU process. Failures travel as data, as in scheduling/task.ts. */
import type { BatchLists } from '../../simulation/gpu/batch-results.js';
import type { BatchTables } from '../../simulation/gpu/batch-tables.js';
import type { BatchRoom } from '../../simulation/gpu/pipeline-shape.js';
import type { Protocol } from '../../stimulus/protocol.js';
import type { BatchResult } from './gpu-host.js';

export interface GpuThreadData {
  /** The bytes of a connectome file that this process has already verified. */
  readonly connectome: SharedArrayBuffer;
  /** Set for the one thread that holds the GPU. */
  readonly gpu?: GpuWanted;
}

export interface GpuWanted {
  readonly allowSoftware: boolean;
  /** Powers of two, ascending: how many trials a batch may hold, where the adapter has room for it. */
  readonly widths?: readonly number[];
}

export type GpuTask =
  /** Opens the adapter; the first that the thread of the GPU is given. */
  | { readonly kind: 'open' }
  | { readonly kind: 'prepare'; readonly protocols: readonly Protocol[]; readonly room: BatchRoom }
  /** For the thread of the GPU. */
  | { readonly kind: 'simulate'; readonly tables: BatchTables }
  | { readonly kind: 'read'; readonly lists: BatchLists; readonly protocols: readonly Protocol[] };

export interface GpuResultOf {
  readonly open: { readonly adapter: string; readonly room: BatchRoom };
  /** Undefined when the adapter has no room for the batch, as is the next. */
  readonly prepare: BatchTables | undefined;
  readonly simulate: BatchLists | undefined;
  readonly read: BatchResult;
}
