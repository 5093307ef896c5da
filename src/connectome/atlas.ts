/**
 * The atlas: who the neurons are and where, in the order of their indices. It is a function of the connectome
 * alone, so its address carries the connectome's digest and it never changes under that address.
 */
import { SIDES, type Connectome } from './connectome.js';

/** Part of the atlas's address; changes when its members or its binary layout do. */
export const ATLAS_VERSION = 1;
/** Finer than any screen: a step is about 13 nm of a brain that is 0.85 mm wide. */
export const POSITION_STEPS = 65535;
const BINARY_MAGIC = 'NESATLAS';
const BINARY_HEADER_BYTES = 32;

export interface Atlas {
  readonly version: number;
  readonly connectome_digest: string;
  readonly neuron_count: number;
  readonly id: readonly string[];
  readonly type: readonly string[];
  readonly side: readonly string[];
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly z: readonly number[];
  readonly estimated: readonly boolean[];
}

/** Positions on 0..POSITION_STEPS, one scale for the three axes, so that shapes stay true. */
function scaledPositions({ positionsNm, neuronCount }: Connectome): Uint16Array {
  const lowest = [Infinity, Infinity, Infinity];
  const highest = [-Infinity, -Infinity, -Infinity];
  for (let at = 0; at < positionsNm.length; at++) {
    const axis = at % 3;
    lowest[axis] = Math.min(lowest[axis]!, positionsNm[at]!);
    highest[axis] = Math.max(highest[axis]!, positionsNm[at]!);
  }
  const extentNm = Math.max(1, ...highest.map((high, axis) => high - lowest[axis]!));
  const scaled = new Uint16Array(3 * neuronCount);
  for (let at = 0; at < positionsNm.length; at++) {
    scaled[at] = Math.round(((positionsNm[at]! - lowest[at % 3]!) * POSITION_STEPS) / extentNm);
  }
  return scaled;
}

export function atlasOf(connectome: Connectome): Atlas {
  const { neuronCount, metadata } = connectome;
  const positions = scaledPositions(connectome);
  const neurons = Array.from({ length: neuronCount }, (_, i) => i);
  const along = (axis: number) =>
    neurons.map((i) => Math.round((positions[3 * i + axis]! / POSITION_STEPS) * 1e5) / 1e5);
  return {
    version: ATLAS_VERSION,
    connectome_digest: connectome.digest,
    neuron_count: neuronCount,
    id: neurons.map((i) => connectome.neuronId(i)),
    type: neurons.map((i) => metadata.types[connectome.typeIndices[i]!]!.name),
    side: neurons.map((i) => SIDES[connectome.sides[i]!]!),
    x: along(0),
    y: along(1),
    z: along(2),
    estimated: neurons.map((i) => connectome.positionEstimated[i] === 1),
  };
}

/**
 * What a page needs to draw the brain, a tenth of the JSON:
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
export function atlasBinary(connectome: Connectome): Uint8Array<ArrayBuffer> {
  const { neuronCount, metadata } = connectome;
  const names = new TextEncoder().encode(
    metadata.types.map(({ superClass, name }) => `${superClass}\t${name}\n`).join(''),
  );
  const typesAt = BINARY_HEADER_BYTES + 6 * neuronCount;
  const flagsAt = typesAt + 2 * neuronCount;
  const namesAt = flagsAt + neuronCount;
  const bytes = new Uint8Array(namesAt + names.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(BINARY_MAGIC));
  view.setUint32(8, ATLAS_VERSION, true);
  view.setUint32(12, neuronCount, true);
  view.setUint32(16, metadata.types.length, true);
  view.setUint32(20, names.length, true);
  scaledPositions(connectome).forEach((position, at) =>
    view.setUint16(BINARY_HEADER_BYTES + 2 * at, position, true),
  );
  for (let i = 0; i < neuronCount; i++) {
    view.setUint16(typesAt + 2 * i, connectome.typeIndices[i]!, true);
    bytes[flagsAt + i] = connectome.sides[i]! | (connectome.positionEstimated[i]! << 2);
  }
  bytes.set(names, namesAt);
  return bytes;
}
