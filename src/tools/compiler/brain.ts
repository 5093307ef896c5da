import type {
  ConnectomeMetadata,
  NetworkIdentity,
  SignRule,
  SourceFile,
  TableSignRule,
} from '../../engine/connectome/connectome.js';
import type { Label } from '../../engine/connectome/neuron-index.js';

/**
 * By default the compiler omits pairs of neurons of a release with fewer synapses; statistics always omit them. Most such
 * pairs are errors of the segmentation.
 */
export const MIN_SYNAPSES = 5;

export const FLYWIRE_783: NetworkIdentity = {
  name: 'FlyWire FAFB 783, measured wiring',
  dataset: 'FlyWire FAFB',
  release: 783,
  wiring: 'measured',
};

/**
 * A brain on its way from its source (tables of a release, or cell-type statistics) to the connectome file. It has plain
 * columns with one element a neuron, and columns of connections. Neurons are in ascending order of their ids.
 */
export interface Brain {
  readonly identity: NetworkIdentity;
  readonly neurons: NeuronColumns;
  readonly connections: ConnectionColumns;
  /** Number of pairs of neurons in the source, including omitted ones. */
  readonly pairs?: number;
  /** Pairs of neurons with fewer synapses were omitted. */
  readonly minimumSynapses: number;
  readonly sources: readonly SourceFile[];
  /** Number of neurons by predicted transmitter; "unknown" counts the rest. */
  readonly transmitterCounts?: Readonly<Record<string, number>>;
  /** For each rule, a sentence on the origin of the signs. `provenance` is true of all rules, so it has no such sentence. */
  readonly signRemarks?: Readonly<Partial<Record<SignRule, string>>>;
  /** Sentences on the source of this brain and the counts at each step. */
  readonly provenance: readonly string[];
  /** True if it was read from tables. Its digest then covers only its content, not the bytes of the tables. */
  readonly isFromTables?: boolean;
  /** Sentences on possible mistakes, printed by the command. They are not part of the file. */
  readonly warnings?: readonly string[];
  /** Sentences on columns of its tables that were not read. They are not part of the file. */
  readonly unread?: readonly string[];
  /** Stimuli and channels that have no meaning in this brain, such as those of the other sex. */
  readonly without?: readonly string[];
  /** Members of the metadata that describe a data set other than FlyWire. */
  readonly origin?: Pick<
    ConnectomeMetadata,
    'licence' | 'citations' | 'synapses' | 'signSource' | 'synapseMv'
  >;
}

export interface NeuronColumns {
  readonly count: number;
  /** Root ids, in numerical order. A synthetic brain has generated names, in the order of code units. */
  readonly ids: readonly string[];
  /** Empty if the tables have no value. Left and right are those of the fly. */
  readonly labels: Readonly<Record<Label, readonly string[]>>;
  /**
   * FlyWire types by which stimuli and channels select neurons, separated by commas. Absent if `labels.type` has FlyWire's
   * types already.
   */
  readonly presetTypes?: readonly string[];
  /** Sign of each neuron's outputs, for each rule that the source supports. */
  readonly signs: Readonly<Partial<Record<SignRule, Int8Array>>>;
  /** Probabilities of signs under a rule, as a connectome file has them. Absent if the source has none. */
  readonly signProbabilities?: (rule: TableSignRule) => Uint8Array;
  /** x, y, z of neuron i at 3i, in nm. */
  readonly positionsNm: Int32Array;
  readonly positionEstimated: Uint8Array;
}

/** Pairs of neurons with their synapses summed over neuropils, without omitted pairs. Ascending by pre, then post. */
export interface ConnectionColumns {
  readonly count: number;
  readonly pre: Uint32Array;
  readonly post: Uint32Array;
  readonly synapseCounts: Uint16Array;
}

export function newConnections(count: number): ConnectionColumns {
  return {
    count,
    pre: new Uint32Array(count),
    post: new Uint32Array(count),
    synapseCounts: new Uint16Array(count),
  };
}

/** @throws Error if the source does not support the rule */
export function signsUnder(rule: SignRule, { signs }: NeuronColumns): Int8Array {
  const column = signs[rule];
  if (column === undefined) {
    throw new Error(`the source of this brain has no signs ${rule}, only ${Object.keys(signs).join(', ')}`);
  }
  return column;
}
