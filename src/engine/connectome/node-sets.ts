import { publishedFile } from '#platform';

/** Neurons that a publication stimulated or read. */
export interface NodeSet {
  /** The key of a publication. */
  readonly publication: string;
  readonly description: string;
  /** The figure, table or file of the publication, and the list in it. */
  readonly source: string;
  /** The size of the published list. Release 783 may lack some of its neurons. */
  readonly published_count: number;
  /** Ids of release 783, ascending as numbers. */
  readonly root_ids: readonly string[];
  /** Selectors for connectomes without these neurons; empty if there are none. */
  readonly types: readonly string[];
  /** The types of these neurons in other data sets, if they have other names there. */
  readonly types_elsewhere?: readonly string[];
}

export interface Publication {
  readonly text: string;
  readonly doi: string;
}

/** The published node sets of data/node-sets.json. */
export class PublishedNodeSets {
  constructor(
    readonly publications: Readonly<Record<string, Publication>>,
    readonly sets: Readonly<Record<string, NodeSet>>,
  ) {}

  /** @param name `sugar`, or `shiu2024/sugar` with the publication */
  find(name: string): NodeSet | undefined {
    const [first, second] = name.split('/');
    const setName = second ?? first!;
    if (name.split('/').length > 2 || !Object.hasOwn(this.sets, setName)) return undefined;
    const set = this.sets[setName]!;
    return second === undefined || set.publication === first ? set : undefined;
  }

  /** @returns the publication by authors and year, and the set's source in it, for a list of references */
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
    const file = publishedFile('node-sets') as {
      readonly publications: Record<string, Publication>;
      readonly node_sets: Record<string, NodeSet>;
    };
    published = new PublishedNodeSets(file.publications, file.node_sets);
  }
  return published;
}

let published: PublishedNodeSets | undefined;
