import { getOrInsert } from '../get-or-insert.js';
import { SIDES, type CellType, type Connectome } from './connectome.js';

export interface LabelCounts {
  /**
   * The number of neurons of each cell type, in the order of code units. The empty name counts neurons without a type.
   */
  readonly types: Readonly<Record<string, number>>;
  /** The number of neurons on each side, in the order of SIDES. */
  readonly sides: Readonly<Record<string, number>>;
}

/** Counts the types and sides of some neurons. Labels without a neuron are left out. */
export function labelCounts({ metadata, typeIndices, sides }: Connectome, neurons: Uint32Array): LabelCounts {
  // Counting indices is faster than counting names, and the neurons may be the whole brain.
  const ofType = new Uint32Array(metadata.types.length);
  const ofSide = new Uint32Array(SIDES.length);
  for (const neuron of neurons) {
    ofType[typeIndices[neuron]!]!++;
    ofSide[sides[neuron]!]!++;
  }
  const types = new Map<string, number>();
  for (const type of inOrderOfNames(metadata.types)) {
    const count = ofType[type]!;
    if (count === 0) continue;
    // There are several types without a name, one for each super class.
    const { name } = metadata.types[type]!;
    types.set(name, (types.get(name) ?? 0) + count);
  }
  return {
    types: Object.fromEntries(types),
    sides: Object.fromEntries(
      SIDES.map((side, at) => [side, ofSide[at]!] as const).filter(([, count]) => count > 0),
    ),
  };
}

/** A cache for each connectome, because sorting takes longer than counting. */
const ORDERS = new WeakMap<readonly CellType[], Uint32Array>();

function inOrderOfNames(types: readonly CellType[]): Uint32Array {
  // By code unit. The order of equal names does not matter, because they are summed.
  return getOrInsert(ORDERS, types, () =>
    Uint32Array.from(types.keys()).sort((a, b) => (types[a]!.name < types[b]!.name ? -1 : 1)),
  );
}
