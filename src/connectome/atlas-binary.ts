/**
 * The atlas in the compact form that the page uses, a tenth of the size of the JSON. Writer and reader are in one file
 * without Node APIs, so that the page bundles the reader of exactly the format that the service writes.
 *
 *   0   magic "NESATLAS"              8 bytes
 *   8   version                       u32, little-endian like all that follows
 *  12   number of neurons n           u32
 *  16   number of types t             u32
 *  20   length of the type names      u32 (bytes)
 *  24   zero                          8 bytes
 *  32   x, y, z of each neuron        3n u16, 0..65535 on one scale
 *       type of each neuron           n u16
 *       side and flag of each neuron  n u8: bits 0-1 index into left, right, center, none; bit 2 estimated
 *       super class and name of each type, UTF-8: "super class\tname\n", t lines
 */
import { ATLAS_VERSION, POSITION_STEPS, scaledPositions } from './atlas.js';
import type { CellType, Connectome } from './connectome.js';

const MAGIC = 'NESATLAS';
const HEADER_BYTES = 32;
const SIDE_BITS = 3;
const ESTIMATED_BIT = 2;

/** The decoded atlas; neurons in the order of their indices. */
export interface CompactAtlas {
  readonly neuronCount: number;
  /** x, y, z of neuron i at 3i, 0 to 1 on one scale for the three axes. */
  readonly positions: Float32Array;
  /** 1 where the position is an estimate. */
  readonly estimated: Uint8Array;
  /** Index into `types`. */
  readonly typeIndices: Uint16Array;
  /** Index into SIDES. */
  readonly sides: Uint8Array;
  readonly types: readonly CellType[];
}

export function encodeAtlas(connectome: Connectome): Uint8Array<ArrayBuffer> {
  const { neuronCount, metadata } = connectome;
  const names = new TextEncoder().encode(
    metadata.types.map(({ superClass, name }) => `${superClass}\t${name}\n`).join(''),
  );
  const { typesAt, flagsAt, namesAt } = sectionsOf(neuronCount);
  const bytes = new Uint8Array(namesAt + names.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(MAGIC));
  view.setUint32(8, ATLAS_VERSION, true);
  view.setUint32(12, neuronCount, true);
  view.setUint32(16, metadata.types.length, true);
  view.setUint32(20, names.length, true);
  scaledPositions(connectome).forEach((position, at) =>
    view.setUint16(HEADER_BYTES + 2 * at, position, true),
  );
  for (let i = 0; i < neuronCount; i++) {
    view.setUint16(typesAt + 2 * i, connectome.typeIndices[i]!, true);
    bytes[flagsAt + i] = connectome.sides[i]! | (connectome.positionEstimated[i]! << ESTIMATED_BIT);
  }
  bytes.set(names, namesAt);
  return bytes;
}

/** @throws Error with what was expected and what was found */
export function decodeAtlas(buffer: ArrayBuffer): CompactAtlas {
  const view = new DataView(buffer);
  const magic = new TextDecoder().decode(buffer.slice(0, MAGIC.length));
  if (magic !== MAGIC || buffer.byteLength < HEADER_BYTES) {
    throw new Error(`Expected the atlas to begin with ${MAGIC}, found ${JSON.stringify(magic)}.`);
  }
  const version = view.getUint32(8, true);
  if (version !== ATLAS_VERSION) {
    throw new Error(`Expected version ${ATLAS_VERSION} of the atlas, found ${version}.`);
  }
  const neuronCount = view.getUint32(12, true);
  const namesLength = view.getUint32(20, true);
  const { typesAt, flagsAt, namesAt } = sectionsOf(neuronCount);
  if (buffer.byteLength !== namesAt + namesLength) {
    throw new Error(`Expected ${namesAt + namesLength} bytes of atlas, found ${buffer.byteLength}.`);
  }
  const flags = new Uint8Array(buffer, flagsAt, neuronCount);
  const lines = new TextDecoder().decode(new Uint8Array(buffer, namesAt, namesLength)).split('\n');
  return {
    neuronCount,
    positions: Float32Array.from(
      { length: 3 * neuronCount },
      (_, at) => view.getUint16(HEADER_BYTES + 2 * at, true) / POSITION_STEPS,
    ),
    estimated: flags.map((flag) => (flag >> ESTIMATED_BIT) & 1),
    typeIndices: Uint16Array.from({ length: neuronCount }, (_, i) => view.getUint16(typesAt + 2 * i, true)),
    sides: flags.map((flag) => flag & SIDE_BITS),
    types: lines.slice(0, -1).map((line) => {
      const [superClass = '', name = ''] = line.split('\t');
      return { superClass, name };
    }),
  };
}

function sectionsOf(neuronCount: number): { typesAt: number; flagsAt: number; namesAt: number } {
  const typesAt = HEADER_BYTES + 6 * neuronCount;
  const flagsAt = typesAt + 2 * neuronCount;
  return { typesAt, flagsAt, namesAt: flagsAt + neuronCount };
}
