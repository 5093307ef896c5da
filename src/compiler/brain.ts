import type { ConnectomeMetadata, NetworkIdentity, SignRule, SourceFile } from '../connectome/connectome.js';
import type { Label } from '../connectome/neuron-index.js';

/**
 * Pairs of neurons with fewer synapses are left out by default, and always from statistics: most of them are errors
 * of the segmentation.
 */
export const MINIMUM_SYNAPSES = 5;

export const FLYWIRE_783: NetworkIdentity = {
  name: 'FlyWire FAFB 783, measured wiring',
  dataset: 'FlyWire FAFB',
  release: 783,
  wiring: 'measured',
};

/**
 * A brain between its source (tables of a release, or cell-type statistics) and the connectome file: plain
 * columns with one element a neuron, and its connections. Neurons are in ascending order of their ids.
 */
export interface Brain {
  readonly identity: NetworkIdentity;
  readonly neurons: NeuronColumns;
  readonly connections: ConnectionColumns;
  /** Pairs of neurons in the source, those that were omitted included. */
  readonly pairs?: number;
  /** Pairs of neurons with fewer synapses were omitted. */
  readonly minimumSynapses: number;
  readonly sources: readonly SourceFile[];
  /** Neurons by predicted transmitter, where it is known; "unknown" for the rest. */
  readonly transmitterCounts?: Readonly<Record<string, number>>;
  /** A sentence on how the neurons got their signs, by rule; not part of `provenance`, which is true of all rules. */
  readonly signRemarks?: Readonly<Partial<Record<SignRule, string>>>;
  /** Sentences on the source of this brain and the counts at each step. */
  readonly provenance: readonly string[];
  /** Stimuli and channels that have no meaning in it, such as those of one sex. */
  readonly without?: readonly string[];
  /** Members of the metadata that tell of a data set which the service does not know by itself. */
  readonly origin?: Pick<
    ConnectomeMetadata,
    'licence' | 'citations' | 'synapses' | 'signSource' | 'synapseMv'
  >;
}

export interface NeuronColumns {
  readonly count: number;
  /** Root ids, ascending as numbers; in a synthetic brain made-up names, ascending by code unit. */
  readonly ids: readonly string[];
  /** Empty where the tables say nothing; sides are the fly's own. */
  readonly labels: Readonly<Record<Label, readonly string[]>>;
  /** Types of FlyWire that stimuli and channels are selected by, with commas between several; where they are others. */
  readonly presetTypes?: readonly string[];
  /** Sign of a neuron's outputs under each rule that the source of the brain can tell. */
  readonly signs: Readonly<Partial<Record<SignRule, Int8Array>>>;
  /** x, y, z of neuron i at 3i, in nm. */
  readonly positionsNm: Int32Array;
  readonly positionEstimated: Uint8Array;
}

/** Pairs of neurons with their synapses summed over neuropils and pruned; ascending by pre, then post. */
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

/** The sign of each neuron's outputs under a rule that the source of the brain can tell. */
export function signsUnder(rule: SignRule, { signs }: NeuronColumns): Int8Array {
  const column = signs[rule];
  if (column === undefined) {
    throw new Error(`the source of this brain has no signs ${rule}, only ${Object.keys(signs).join(', ')}`);
  }
  return column;
}
