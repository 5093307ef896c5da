/**
 * The atlas in the compact format that the page uses, a fifteenth of the size of the JSON. The writer and the reader
 * are in one file without Node APIs, so the page always bundles the matching reader. The first part is enough for a
 * first picture: see `firstPartLength`.
 *
 *   0   magic "NESATLAS"              8 bytes
 *   8   version                       u32, little-endian like all that follows
 *  12   number of neurons n           u32
 *  16   number of types t             u32
 *  20   length of the super classes   u32 (bytes)
 *  24   length of the type names      u32 (bytes)
 *  28   zero                          4 bytes
 *  32   type of each neuron           n u16, the difference to the type of the neuron before, modulo 65536
 *       side and flag of each neuron  n u8: bits 0-1 index into left, right, center, none; bit 2 estimated
 *       super class of each type      UTF-8: "super class\n", t lines
 *       positions of every 11th neuron, beginning with the first
 *       positions of all other neurons
 *       name of each type             UTF-8: "name\n", t lines
 *
 * A map of the brain is the first part and the names: see `mapOf`.
 *
 * The positions of m neurons are 6m bytes. They compress well, because they have a plane for each byte: the low bytes
 * of all x, of all y and of all z, then the high bytes. The values are 0 to 4095, on the same scale for all axes.
 */
import { ATLAS_VERSION, POSITION_STEPS, scaledPositions } from './atlas.js';
import type { CellType, Connectome } from './connectome.js';

const MAGIC = 'NESATLAS';
const HEADER_BYTES = 32;
const SIDE_BITS = 3;
const ESTIMATED_BIT = 2;
/** A step is 0.2 µm. It is one pixel if the brain is 4,000 pixels wide. */
const STEPS = 4095;
const POSITION_BYTES = 6;
/** One of this many neurons is in the first part. The number is odd, because sides may alternate. */
const SAMPLED_EACH = 11;

/** The decoded atlas; neurons in the order of their indices. */
export interface CompactAtlas {
  readonly neuronCount: number;
  /**
   * False if only the first part or a map has arrived. Then most positions are those of similar neurons. In the first
   * part, types have no names.
   */
  readonly isWhole: boolean;
  /** x, y, z of neuron i at 3i, from 0 to 1 on the same scale for the three axes. */
  readonly positions: Float32Array;
  /** 1 if the position is an estimate. */
  readonly estimated: Uint8Array;
  /** Index into `types`. */
  readonly typeIndices: Uint16Array;
  /** Index into SIDES. */
  readonly sides: Uint8Array;
  readonly types: readonly CellType[];
}

export function encodeAtlas(connectome: Connectome): Uint8Array<ArrayBuffer> {
  const { neuronCount, metadata, typeIndices } = connectome;
  const { types } = metadata;
  const classes = new TextEncoder().encode(types.map(({ superClass }) => `${superClass}\n`).join(''));
  const names = new TextEncoder().encode(types.map(({ name }) => `${name}\n`).join(''));
  const { flagsAt, classesAt, sampleAt, othersAt, namesAt } = sectionsOf(neuronCount, classes.length);
  const bytes = new Uint8Array(namesAt + names.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(MAGIC));
  [ATLAS_VERSION, neuronCount, types.length, classes.length, names.length].forEach((value, at) =>
    view.setUint32(MAGIC.length + 4 * at, value, true),
  );
  for (let i = 0; i < neuronCount; i++) {
    view.setUint16(HEADER_BYTES + 2 * i, typeIndices[i]! - (i === 0 ? 0 : typeIndices[i - 1]!), true);
    bytes[flagsAt + i] = connectome.sides[i]! | (connectome.positionEstimated[i]! << ESTIMATED_BIT);
  }
  bytes.set(classes, classesAt);
  const positions = scaledPositions(connectome);
  const { sample, others } = partsOf(neuronCount);
  for (const [at, neurons] of [
    [sampleAt, sample],
    [othersAt, others],
  ] as const) {
    const values = 3 * neurons.length;
    for (let k = 0; k < values; k++) {
      const [axis, neuron] = [Math.floor(k / neurons.length), neurons[k % neurons.length]!];
      const value = Math.round((positions[3 * neuron + axis]! * STEPS) / POSITION_STEPS);
      bytes[at + k] = value & 0xff;
      bytes[at + values + k] = value >> 8;
    }
  }
  bytes.set(names, namesAt);
  return bytes;
}

/** @returns the length of the first part, which is enough to draw the atlas; undefined before the header has arrived */
export function firstPartLength(start: ArrayBuffer): number | undefined {
  if (start.byteLength < HEADER_BYTES) return undefined;
  const { neuronCount, classesLength } = headerOf(start);
  return sectionsOf(neuronCount, classesLength).othersAt;
}

/** @returns the first part and the names of types: a map in which neurons can be found, in less than half of the bytes */
export function mapOf(atlas: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { neuronCount, classesLength } = headerOf(atlas.buffer);
  const { othersAt, namesAt } = sectionsOf(neuronCount, classesLength);
  const map = new Uint8Array(othersAt + atlas.length - namesAt);
  map.set(atlas.subarray(0, othersAt));
  map.set(atlas.subarray(namesAt), othersAt);
  return map;
}

/**
 * @param buffer the whole atlas, a map, or at least its first part
 * @throws Error with the expected value and the value found
 */
export function decodeAtlas(buffer: ArrayBuffer): CompactAtlas {
  const { neuronCount, typeCount, classesLength, namesLength } = headerOf(buffer);
  const { flagsAt, classesAt, sampleAt, othersAt, namesAt } = sectionsOf(neuronCount, classesLength);
  const isWhole = buffer.byteLength === namesAt + namesLength;
  if (!isWhole && (buffer.byteLength < othersAt || buffer.byteLength > namesAt + namesLength)) {
    throw new Error(`Expected ${namesAt + namesLength} bytes of atlas, found ${buffer.byteLength}.`);
  }
  const view = new DataView(buffer);
  const flags = new Uint8Array(buffer, flagsAt, neuronCount);
  const sides = flags.map((flag) => flag & SIDE_BITS);
  const typeIndices = new Uint16Array(neuronCount);
  for (let i = 0, type = 0; i < neuronCount; i++) {
    typeIndices[i] = type += view.getUint16(HEADER_BYTES + 2 * i, true);
    type &= 0xffff;
  }
  const positions = new Float32Array(3 * neuronCount);
  const { sample, others } = partsOf(neuronCount);
  readPositions(new Uint8Array(buffer, sampleAt), sample, positions);
  if (isWhole) readPositions(new Uint8Array(buffer, othersAt), others, positions);
  else fillIn(positions, sides);
  const classes = linesOf(buffer, classesAt, classesLength);
  const isMap = buffer.byteLength === othersAt + namesLength;
  const names = isWhole || isMap ? linesOf(buffer, isWhole ? namesAt : othersAt, namesLength) : [];
  return {
    neuronCount,
    isWhole,
    positions,
    estimated: flags.map((flag) => (flag >> ESTIMATED_BIT) & 1),
    typeIndices,
    sides,
    types: Array.from({ length: typeCount }, (_, at) => ({
      superClass: classes[at]!,
      name: names[at] ?? '',
    })),
  };
}

function headerOf(buffer: ArrayBuffer) {
  const magic = new TextDecoder().decode(buffer.slice(0, MAGIC.length));
  if (magic !== MAGIC || buffer.byteLength < HEADER_BYTES) {
    throw new Error(`Expected the atlas to begin with ${MAGIC}, found ${JSON.stringify(magic)}.`);
  }
  const [version, neuronCount, typeCount, classesLength, namesLength] = new Uint32Array(
    buffer.slice(MAGIC.length, HEADER_BYTES),
  ) as unknown as [number, number, number, number, number];
  if (version !== ATLAS_VERSION) {
    throw new Error(`Expected version ${ATLAS_VERSION} of the atlas, found ${version}.`);
  }
  return { neuronCount, typeCount, classesLength, namesLength };
}

function sectionsOf(neuronCount: number, classesLength: number) {
  const flagsAt = HEADER_BYTES + 2 * neuronCount;
  const classesAt = flagsAt + neuronCount;
  const sampleAt = classesAt + classesLength;
  const othersAt = sampleAt + POSITION_BYTES * Math.ceil(neuronCount / SAMPLED_EACH);
  return { flagsAt, classesAt, sampleAt, othersAt, namesAt: sampleAt + POSITION_BYTES * neuronCount };
}

/** @returns the neurons of the two lists of positions */
function partsOf(neuronCount: number): { sample: Uint32Array; others: Uint32Array } {
  const sample = new Uint32Array(Math.ceil(neuronCount / SAMPLED_EACH));
  const others = new Uint32Array(neuronCount - sample.length);
  for (let i = 0, at = 0; i < neuronCount; i++) {
    if (i % SAMPLED_EACH === 0) sample[i / SAMPLED_EACH] = i;
    else others[at++] = i;
  }
  return { sample, others };
}

function readPositions(from: Uint8Array, neurons: Uint32Array, into: Float32Array): void {
  const values = 3 * neurons.length;
  for (let k = 0, axis = 0; axis < 3; axis++) {
    for (const neuron of neurons) {
      into[3 * neuron + axis] = (from[k]! | (from[values + k]! << 8)) / STEPS;
      k++;
    }
  }
}

/** Gives each missing neuron the position of the neuron before it on its side, which often has the same type. */
function fillIn(positions: Float32Array, sides: Uint8Array): void {
  const lastOfSide = new Map<number, number>();
  for (let i = 0; i < sides.length; i++) {
    if (i % SAMPLED_EACH === 0) lastOfSide.set(sides[i]!, i);
    else {
      const from = lastOfSide.get(sides[i]!) ?? i - (i % SAMPLED_EACH);
      positions.copyWithin(3 * i, 3 * from, 3 * from + 3);
    }
  }
}

function linesOf(buffer: ArrayBuffer, at: number, length: number): readonly string[] {
  return new TextDecoder().decode(new Uint8Array(buffer, at, length)).split('\n');
}
