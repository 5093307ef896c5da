/**
 * Lesions: the same brain with the outputs of some neurons removed, as if their synapses released nothing.
 * They still receive, and they still spike; nobody hears them.
 */
import { createHash } from 'node:crypto';
import type { Connectome, Wiring } from './connectome.js';

/**
 * @param silenced indices of neurons, in any order
 * @returns a wiring with empty rows for them; what is not changed is shared with the original
 */
export function withoutOutputs(wiring: Wiring, silenced: Iterable<number>): Wiring {
  const isSilenced = new Uint8Array(wiring.neuronCount);
  for (const i of silenced) isSilenced[i] = 1;
  const rowStart = new Uint32Array(wiring.neuronCount + 1);
  const targets = new Uint32Array(wiring.connectionCount);
  const synapseCounts = new Uint16Array(wiring.connectionCount);
  let kept = 0;
  for (let i = 0; i < wiring.neuronCount; i++) {
    if (isSilenced[i] === 0) {
      const [from, to] = [wiring.rowStart[i]!, wiring.rowStart[i + 1]!];
      targets.set(wiring.targets.subarray(from, to), kept);
      synapseCounts.set(wiring.synapseCounts.subarray(from, to), kept);
      kept += to - from;
    }
    rowStart[i + 1] = kept;
  }
  return {
    neuronCount: wiring.neuronCount,
    connectionCount: kept,
    rowStart,
    targets: targets.subarray(0, kept),
    synapseCounts: synapseCounts.subarray(0, kept),
    signs: wiring.signs,
  };
}

/**
 * The connectome without the outputs of some neurons. It has a digest of its own, made from that of the intact
 * one and the ids of the silenced neurons, so that no run of the one is ever taken for a run of the other.
 */
export function lesioned(intact: Connectome, silenced: Iterable<number>): Connectome {
  const neurons = Uint32Array.from(new Set(silenced)).sort();
  const wiring = withoutOutputs(intact, neurons);
  const hash = createHash('sha256').update(`${intact.digest}\nsilenced\n`);
  for (const i of neurons) hash.update(`${intact.neuronId(i)}\n`);
  return {
    ...wiring,
    metadata: {
      ...intact.metadata,
      connectionCount: wiring.connectionCount,
      synapseCount: wiring.synapseCounts.reduce((sum, count) => sum + count, 0),
      provenance: [...intact.metadata.provenance, `The outputs of ${neurons.length} neurons were removed.`],
    },
    digest: hash.digest('hex'),
    typeIndices: intact.typeIndices,
    classIndices: intact.classIndices,
    sides: intact.sides,
    positionsNm: intact.positionsNm,
    positionEstimated: intact.positionEstimated,
    neuronId: (i) => intact.neuronId(i),
    stimulusNeurons: (id) => intact.stimulusNeurons(id),
    channelNeurons: (id) => intact.channelNeurons(id),
  };
}
