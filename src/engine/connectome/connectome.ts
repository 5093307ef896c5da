import type { Static } from '../schema/json-schema.js';
import type { METADATA } from './metadata.js';

/** The rules by which data/signs.json assigns a sign to a neuron's outputs. */
export const TABLE_SIGN_RULES = ['predicted', 'corrected', 'fast'] as const;
export type TableSignRule = (typeof TABLE_SIGN_RULES)[number];

/** The rule that assigned the signs of a connectome. `as given`: the source has a sign for each neuron. */
export type SignRule = TableSignRule | 'as given';

/**
 * The origin of a network's connections. `measured`: traced in the tissue. `synthetic`: sampled from cell-type
 * statistics. `custom`: given by the person who compiled it, possibly invented or shuffled.
 */
export const WIRING_ORIGINS = ['measured', 'synthetic', 'custom'] as const;
export type WiringOrigin = (typeof WIRING_ORIGINS)[number];

/** A connection fits into a 32-bit word: the target in this many bits, the signed synapse count in the rest. */
export const TARGET_BITS = 18;
export const MAX_NEURONS = 2 ** TARGET_BITS - 1;
export const MAX_SYNAPSES_PER_CONNECTION = 2 ** (31 - TARGET_BITS) - 1;

/** The part of a connectome that a simulation needs. Small networks in tests have only this. */
export interface Wiring {
  /** At most MAX_NEURONS. */
  readonly neuronCount: number;
  readonly connectionCount: number;
  /** Length neuronCount + 1: neuron i has the connections rowStart[i] to rowStart[i + 1] - 1. */
  readonly rowStart: Uint32Array;
  /** The postsynaptic neuron of each connection, ascending within a row. */
  readonly targets: Uint32Array;
  /** The number of synapses of each connection, 1 to MAX_SYNAPSES_PER_CONNECTION. */
  readonly synapseCounts: Uint16Array;
  /**
   * +1 if a neuron's outputs excite, -1 if they inhibit, 0 if they have no fast effect. Length neuronCount.
   */
  readonly signs: Int8Array;
}

/** The data of a connectome that are no arrays. The file stores them as JSON. */
export type ConnectomeMetadata = Static<typeof METADATA>;

/** The name and origin of a network. The person who compiled it claims them; no table can prove them. */
export type NetworkIdentity = Pick<ConnectomeMetadata, 'name' | 'dataset' | 'release' | 'wiring'>;
export type SourceFile = ConnectomeMetadata['sources'][number];
export type CellType = ConnectomeMetadata['types'][number];
/** The labels of a neuron in the tables, in addition to its type. Empty if the tables have none. */
export type CellClass = ConnectomeMetadata['classes'][number];

/** With a larger gain, five synapses, the minimum of a connection, would reach the threshold. */
export const MAX_SYNAPSE_MV = 10;

export const SIDES = ['left', 'right', 'center', ''] as const;

/** A probability of 1 in `signProbabilities`. */
export const CERTAIN = 255;

/**
 * A whole connectome. Its arrays are views of one buffer (sections.ts), so threads can share it without a copy if the
 * buffer is shared.
 *
 * Neurons are sorted by type, side and id, untyped neurons last. So neurons that are active together share cache lines.
 * The atlas has the same order. An index is valid only within one file; use ids across files.
 */
export interface Connectome extends Wiring {
  readonly metadata: ConnectomeMetadata;
  /** The SHA-256 of the content if it was compiled from tables, else of the file; lower-case hex. */
  readonly digest: string;
  /** Index into metadata.types. */
  readonly typeIndices: Uint16Array;
  /** Index into metadata.classes. */
  readonly classIndices: Uint16Array;
  /** Index into SIDES; left and right are the fly's own. */
  readonly sides: Uint8Array;
  /** x, y, z of neuron i at 3i, in nm. */
  readonly positionsNm: Int32Array;
  /** 1 if the position is an estimate, 0 if it was measured. */
  readonly positionEstimated: Uint8Array;
  /**
   * In 255ths, the probabilities that the outputs of neuron i excite, at 2i, and that they inhibit, at 2i + 1. The rest is
   * the probability that they have no fast effect. Absent if the file was compiled without them.
   */
  readonly signProbabilities?: Uint8Array;
  /** @returns the root id of neuron i, or a generated name in a synthetic brain */
  neuronId(i: number): string;
  /**
   * @returns the neurons of a stimulus, ascending by id. A neuron's position here keys its random numbers in version 1
   */
  stimulusNeurons(id: string): Uint32Array;
  /** @returns the neurons of a channel, ascending by index */
  channelNeurons(id: string): Uint32Array;
}
