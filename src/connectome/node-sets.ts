import { fileURLToPath } from 'node:url';
import { readChecked } from './checked-json.js';

/** Neurons that a publication stimulated or read. */
export interface NodeSet {
  readonly description: string;
  readonly source: string;
  /** Neurons of the published list, of which release 783 may lack some. */
  readonly published_count: number;
  /** Of release 783, ascending as numbers. */
  readonly root_ids: readonly string[];
  /** What stands for them where there are no root ids; empty where nothing does. */
  readonly types: readonly string[];
}

const NODE_SETS_FILE = fileURLToPath(new URL('../../data/node-sets.json', import.meta.url));

/** The published node sets by name, as data/node-sets.json has them. */
export function readNodeSets(): Readonly<Record<string, NodeSet>> {
  return readChecked<{ node_sets: Record<string, NodeSet> }>(NODE_SETS_FILE, 'INTERNAL').node_sets;
}
