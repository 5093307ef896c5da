import { SIDES, type Connectome } from './connectome.js';

export interface LabelCounts {
  /** Neurons of each cell type, in the order of the names' code units; an empty name stands for neurons without one. */
  readonly types: Readonly<Record<string, number>>;
  /** On each side, in the order of SIDES. */
  readonly sides: Readonly<Record<string, number>>;
}

/** How many of some neurons have each type and side; labels that none has are left out. */
export function labelCounts({ metadata, typeIndices, sides }: Connectome, neurons: Uint32Array): LabelCounts {
  // Indices are counted, not names: the neurons may be the whole brain.
  const ofType = new Uint32Array(metadata.types.length);
  const ofSide = new Uint32Array(SIDES.length);
  for (const neuron of neurons) {
    ofType[typeIndices[neuron]!]!++;
    ofSide[sides[neuron]!]!++;
  }
  const types = new Map<string, number>();
  ofType.forEach((count, type) => {
    // Types without a name are several, one for each super class.
    const { name } = metadata.types[type]!;
    if (count > 0) types.set(name, (types.get(name) ?? 0) + count);
  });
  return {
    types: Object.fromEntries([...types].sort(([a], [b]) => (a < b ? -1 : 1))),
    sides: Object.fromEntries(
      SIDES.map((side, at) => [side, ofSide[at]!] as const).filter(([, count]) => count > 0),
    ),
  };
}
