import { fileURLToPath } from 'node:url';
import { readChecked } from './checked-json.js';

/** Neurons that a publication stimulated or read. */
export interface NodeSet {
  /** Key of a publication. */
  readonly publication: string;
  readonly description: string;
  /** Place in the publication, and the list that was taken. */
  readonly source: string;
  /** Size of the published list; release 783 may lack some of these neurons. */
  readonly published_count: number;
  /** Ids of release 783, ascending as numbers. */
  readonly root_ids: readonly string[];
  /** Selectors to use for connectomes without these neurons; empty if there are none. */
  readonly types: readonly string[];
  /** Names of types that stand for them in other data sets. */
  readonly types_elsewhere?: readonly string[];
}

export interface Publication {
  readonly text: string;
  readonly doi: string;
}

const NODE_SETS_FILE = fileURLToPath(new URL('../../data/node-sets.json', import.meta.url));

/** The published node sets of data/node-sets.json. */
export class PublishedNodeSets {
  constructor(
    readonly publications: Readonly<Record<string, Publication>>,
    readonly sets: Readonly<Record<string, NodeSet>>,
  ) {}

  /** @param name `sugar`, or `shiu2024/sugar` with the publication */
  find(name: string): NodeSet | undefined {
    const [first, second] = name.split('/');
    const own = second ?? first!;
    if (name.split('/').length > 2 || !Object.hasOwn(this.sets, own)) return undefined;
    const set = this.sets[own]!;
    return second === undefined || set.publication === first ? set : undefined;
  }

  /** For a list of references: the publication, by authors and year, and where in it the set stands. */
  sourceOf({ publication, source }: NodeSet): string {
    const { text, doi } = this.publications[publication]!;
    return `${text.split(',', 1)[0]!}, doi:${doi}: ${source}`;
  }

  names(): string[] {
    return Object.keys(this.sets);
  }
}

/**
 * The sets of data/node-sets.json, read once.
 * @throws CodedError INTERNAL
 */
export function publishedNodeSets(): PublishedNodeSets {
  if (published === undefined) {
    const file = readChecked<{
      publications: Record<string, Publication>;
      node_sets: Record<string, NodeSet>;
    }>(NODE_SETS_FILE, 'INTERNAL');
    published = new PublishedNodeSets(file.publications, file.node_sets);
  }
  return published;
}

let published: PublishedNodeSets | undefined;
