import type { Static } from '../schema/json-schema.js';
import type { METADATA } from './metadata.js';

/** Rules by which data/signs.json assigns a sign to the outputs of a neuron. */
export const TABLE_SIGN_RULES = ['predicted', 'corrected', 'fast'] as const;
export type TableSignRule = (typeof TABLE_SIGN_RULES)[number];

/** Rule by which the signs of a connectome were assigned; as given: the source gives a sign for each neuron. */
export type SignRule = TableSignRule | 'as given';

/**
 * Origins of the connections of a network. measured: traced in the tissue. synthetic: sampled from cell-type
 * statistics. custom: as whoever compiled it gave them, which may be made up or shuffled.
 */
export const WIRINGS = ['measured', 'synthetic', 'custom'] as const;
export type WiringOrigin = (typeof WIRINGS)[number];

/** A connection fits into a 32-bit word: the target in this many bits, the signed synapse count in the rest. */
export const TARGET_BITS = 18;
export const MAXIMUM_NEURONS = 2 ** TARGET_BITS - 1;
export const MAXIMUM_SYNAPSES_PER_CONNECTION = 2 ** (31 - TARGET_BITS) - 1;

/** The part of a connectome that a simulation needs. Small networks in tests have nothing else. */
export interface Wiring {
  /** At most MAXIMUM_NEURONS. */
  readonly neuronCount: number;
  readonly connectionCount: number;
  /** Length neuronCount + 1: connections of neuron i are rowStart[i] up to, not including, rowStart[i + 1]. */
  readonly rowStart: Uint32Array;
  /** Postsynaptic neuron of each connection, ascending within a row. */
  readonly targets: Uint32Array;
  /** Synapses of each connection, 1 to MAXIMUM_SYNAPSES_PER_CONNECTION. */
  readonly synapseCounts: Uint16Array;
  /**
   * +1 where the outputs of a neuron excite, -1 where they inhibit, 0 where they have no fast effect. Length
   * neuronCount.
   */
  readonly signs: Int8Array;
}

/** The data of a connectome that are not arrays, stored as JSON in the file. */
export type ConnectomeMetadata = Static<typeof METADATA>;

/** Name and origin of a network: a claim of its compiler, which no table can prove. */
export type NetworkIdentity = Pick<ConnectomeMetadata, 'name' | 'dataset' | 'release' | 'wiring'>;
export type SourceFile = ConnectomeMetadata['sources'][number];
export type CellType = ConnectomeMetadata['types'][number];
/** Labels of a neuron in the tables, in addition to the type; empty if the tables have none. */
export type CellClass = ConnectomeMetadata['classes'][number];

/** With a larger gain any five synapses, the fewest of a connection, would reach the threshold. */
export const MAXIMUM_SYNAPSE_MV = 10;

export const SIDES = ['left', 'right', 'center', ''] as const;

/**
 * A whole connectome: views on the sections of one buffer (see sections.ts), so it can be handed to any number
 * of threads without a copy when that buffer is shared.
 *
 * Neurons are sorted by type, side, then id, untyped ones last: neurons that are active together share cache lines, and
 * the atlas has the same order. An index is valid only within one file; use ids across files.
 */
export interface Connectome extends Wiring {
  readonly metadata: ConnectomeMetadata;
  /** SHA-256 of the content, lower-case hex. */
  readonly digest: string;
  /** Index into metadata.types. */
  readonly typeIndices: Uint16Array;
  /** Index into metadata.classes. */
  readonly classIndices: Uint16Array;
  /** Index into SIDES, the fly's own. */
  readonly sides: Uint8Array;
  /** x, y, z of neuron i at 3i, in nm. */
  readonly positionsNm: Int32Array;
  /** 1 where the position is an estimate, 0 where it was measured. */
  readonly positionEstimated: Uint8Array;
  /** Root id of neuron i, or a generated name in a synthetic brain. */
  neuronId(i: number): string;
  /** Neurons of a stimulus in ascending order of ids: the position in this list keys the random numbers of a neuron. */
  stimulusNeurons(id: string): Uint32Array;
  /** Neurons of a channel, ascending by index. */
  channelNeurons(id: string): Uint32Array;
}
