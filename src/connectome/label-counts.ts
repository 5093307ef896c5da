import { getOrInsert } from '../get-or-insert.js';
import { SIDES, type CellType, type Connectome } from './connectome.js';

export interface LabelCounts {
  /** Neurons of each cell type, in the order of the names' code units; an empty name stands for neurons without one. */
  readonly types: Readonly<Record<string, number>>;
  /** On each side, in the order of SIDES. */
  readonly sides: Readonly<Record<string, number>>;
}

/** Counts the types and sides of some neurons; labels that none has are left out. */
export function labelCounts({ metadata, typeIndices, sides }: Connectome, neurons: Uint32Array): LabelCounts {
  // Indices are counted, not names: the neurons may be the whole brain.
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
    // Types without a name are several, one for each super class.
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

/** Sorting takes longer than counting, and is the same for all neurons of a connectome. */
const ORDERS = new WeakMap<readonly CellType[], Uint32Array>();

function inOrderOfNames(types: readonly CellType[]): Uint32Array {
  // By code unit. Equal names are added up, so their order does not matter.
  return getOrInsert(ORDERS, types, () =>
    Uint32Array.from(types.keys()).sort((a, b) => (types[a]!.name < types[b]!.name ? -1 : 1)),
  );
}
