/** Converts overrides, which name sets of neurons, to the connections that they change. */
import type { Wiring } from '../connectome/connectome.js';
import { getOrInsert } from '../get-or-insert.js';
import type { ConnectionOverride } from '../stimulus/protocol.js';

/** Connections whose weights are multiplied. */
export interface ConnectionFactors {
  /** Indices into the wiring, ascending. */
  readonly connections: Uint32Array;
  /** The factor of each; 0 cuts it. */
  readonly factors: Float64Array;
}

/** The number of overrides of one trial: each has a bit in a word. */
export const MAX_OVERRIDES = 32;

/**
 * Computes the factors of a wiring. If several overrides apply to a connection, their weights are multiplied in their
 * order, because products of doubles depend on it. Connections with the factor 1 are left out.
 * @throws RangeError if there are more overrides than MAX_OVERRIDES
 */
export function factorsOfOverrides(
  { neuronCount, rowStart, targets }: Pick<Wiring, 'neuronCount' | 'rowStart' | 'targets'>,
  overrides: readonly ConnectionOverride[],
): ConnectionFactors {
  if (overrides.length > MAX_OVERRIDES) {
    throw new RangeError(`a trial has up to ${MAX_OVERRIDES} overrides, not ${overrides.length}`);
  }
  const marksOf = (neuronsOf: (override: ConnectionOverride) => Uint32Array) => {
    // Overrides of the same neurons often share one array. It is read only once.
    const bitsOf = new Map<Uint32Array, number>();
    overrides.forEach((override, bit) => {
      const neurons = neuronsOf(override);
      bitsOf.set(neurons, (bitsOf.get(neurons) ?? 0) | (1 << bit));
    });
    const marks = new Uint32Array(neuronCount);
    for (const [neurons, bits] of bitsOf) {
      for (let at = 0; at < neurons.length; at++) marks[neurons[at]!]! |= bits;
    }
    return marks;
  };
  const ofSource = marksOf(({ sources }) => sources);
  const ofTarget = marksOf(({ targets }) => targets);
  const weights = overrides.map(({ weight }) => weight);
  const known = new Map<number, number>();
  const productOf = (marks: number): number =>
    weights.reduce((product, weight, bit) => ((marks >>> bit) & 1 ? product * weight : product), 1);
  const factorOf = (marks: number): number => getOrInsert(known, marks, productOf);
  const most = rowStart
    .subarray(0, neuronCount)
    .reduce((sum, begin, source) => (ofSource[source] === 0 ? sum : sum + rowStart[source + 1]! - begin), 0);
  const connections = new Uint32Array(most);
  const factors = new Float64Array(most);
  let count = 0;
  for (let source = 0; source < neuronCount; source++) {
    const marks = ofSource[source]!;
    if (marks === 0) continue;
    const end = rowStart[source + 1]!;
    for (let c = rowStart[source]!; c < end; c++) {
      const met = marks & ofTarget[targets[c]!]!;
      if (met === 0) continue;
      const factor = factorOf(met);
      if (factor === 1) continue;
      connections[count] = c;
      factors[count++] = factor;
    }
  }
  return { connections: connections.subarray(0, count), factors: factors.subarray(0, count) };
}
