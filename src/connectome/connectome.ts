import type { ChannelPopulation, StimulusPopulation } from './populations.js';

/** Rules by which data/signs.json assigns a sign to the outputs of a neuron. */
export type TableSignRule = 'predicted' | 'corrected';

/** How the signs of a connectome were assigned; as given: its source had a sign for each neuron. */
export type SignRule = TableSignRule | 'as given';

/** A connection fits into a word of 32 bits: its target in so many, its signed synapse count in the rest. */
export const TARGET_BITS = 18;
export const MAXIMUM_NEURONS = 2 ** TARGET_BITS - 1;
export const MAXIMUM_SYNAPSES_PER_CONNECTION = 2 ** (31 - TARGET_BITS) - 1;

/** What a simulation needs of a connectome, and all it needs. Small networks in tests are just this. */
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
  /** +1 where the outputs of a neuron excite, -1 where they inhibit. Length neuronCount. */
  readonly signs: Int8Array;
}

export interface CellType {
  /** Empty for the neurons without a type, which stand together by super class. */
  readonly name: string;
  /** That of most neurons of the type. */
  readonly superClass: string;
}

/** Labels of neurons that the tables give beside the type; empty where they say nothing. */
export interface CellClass {
  readonly superClass: string;
  readonly class: string;
  readonly subClass: string;
}

export interface SourceFile {
  readonly file: string;
  readonly sha256: string;
}

/** Everything about a connectome that is not an array. Stored as JSON inside the file. */
export interface ConnectomeMetadata {
  readonly name: string;
  readonly dataset: string;
  readonly release: number;
  readonly wiring: 'measured' | 'synthetic';
  readonly signRule: SignRule;
  /** Pairs of neurons with fewer synapses were left out. */
  readonly minimumSynapses: number;
  readonly neuronCount: number;
  readonly connectionCount: number;
  readonly synapseCount: number;
  /** Neurons by predicted transmitter, "unknown" for the rest; a synthetic brain knows signs alone. */
  readonly transmitterCounts?: Readonly<Record<string, number>>;
  /** Plain sentences on how this file came about, for people. */
  readonly provenance: readonly string[];
  readonly sources: readonly SourceFile[];
  readonly types: readonly CellType[];
  readonly classes: readonly CellClass[];
  readonly stimuli: readonly StimulusPopulation[];
  readonly channels: readonly ChannelPopulation[];
}

export const SIDES = ['left', 'right', 'center', ''] as const;

/**
 * A whole connectome: views on the sections of one buffer (see sections.ts), so it can be handed to any number
 * of threads without a copy when that buffer is shared.
 *
 * Neurons stand in the order of type, side, then id, the untyped ones last: neurons that are active together
 * share cache lines, and this is the order of the atlas. An index means nothing outside one file; ids do.
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
  /** Root id, or in a synthetic brain a made-up name, of neuron i. */
  neuronId(i: number): string;
  /** Neurons of a stimulus in ascending order of their ids: the place in this list keys its random numbers. */
  stimulusNeurons(id: string): Uint32Array;
  /** Neurons of a channel, ascending by index. */
  channelNeurons(id: string): Uint32Array;
}
