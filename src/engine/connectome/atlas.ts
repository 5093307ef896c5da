/**
 * The atlas: ids, types and positions of the neurons, in the order of their indices. It depends only on the connectome,
 * so its URL contains the digest of the connectome and its content never changes.
 */
import { SIDES, type Connectome } from './connectome.js';

/** Part of the URL of the atlas. Increase it if the members or the binary layout change. */
export const ATLAS_VERSION = 2;
/** A step is about 13 nm in a brain 0.85 mm wide, finer than any screen. */
export const POSITION_STEPS = 65535;

/** Positions from 0 to POSITION_STEPS, with the same scale on the three axes. */
export function scaledPositions({ positionsNm, neuronCount }: Connectome): Uint16Array {
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

export function atlasOf(connectome: Connectome) {
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

export const ATLAS_PATH = 'atlas';
/** Suffix of the URL of the part that is drawn first. */
export const ATLAS_START = '-start.bin';
/** Suffix of the URL of the map. */
export const ATLAS_MAP = '-map.bin';
/** Suffix of the URL of the ids. */
export const ATLAS_IDS = '-ids.txt';
const DIGEST_CHARACTERS = 32;

/** The atlas depends only on the connectome and on its own format, so its URL contains the versions of both. */
export function atlasFolder({ digest }: Connectome): string {
  return `${digest.slice(0, DIGEST_CHARACTERS)}-${ATLAS_VERSION}`;
}

/** Path of the atlas as JSON. */
export function atlasUrl(connectome: Connectome): string {
  return `/${ATLAS_PATH}/${atlasFolder(connectome)}.json`;
}

/** Path of the part of the binary atlas that is drawn first. */
export function atlasStartUrl(connectome: Connectome): string {
  return `/${ATLAS_PATH}/${atlasFolder(connectome)}${ATLAS_START}`;
}
