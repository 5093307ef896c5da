import { fileURLToPath } from 'node:url';
import { readChecked } from './checked-json.js';

/** Neurons that a publication stimulated or read. */
export interface NodeSet {
  readonly description: string;
  readonly source: string;
  /** Size of the published list; release 783 may lack some of these neurons. */
  readonly published_count: number;
  /** Of release 783, ascending as numbers. */
  readonly root_ids: readonly string[];
  /** Selectors to use for connectomes without root ids; empty if there are none. */
  readonly types: readonly string[];
}

const NODE_SETS_FILE = fileURLToPath(new URL('../../data/node-sets.json', import.meta.url));

/** The published node sets by name, as data/node-sets.json has them. */
export function readNodeSets(): Readonly<Record<string, NodeSet>> {
  return readChecked<{ node_sets: Record<string, NodeSet> }>(NODE_SETS_FILE, 'INTERNAL').node_sets;
}
