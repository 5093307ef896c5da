import { getOrInsert } from '../get-or-insert.js';
import type { Connections } from './neighbours.js';

/** The number of synapses at which each neuron receives, and at which it sends. */
export interface SynapseTotals {
  readonly inputs: Uint32Array;
  readonly outputs: Uint32Array;
}

/** @returns the totals of a connectome. They are counted once */
export function synapseTotalsOf(connectome: Connections): SynapseTotals {
  return getOrInsert(TOTALS, connectome, counted);
}

const TOTALS = new WeakMap<Connections, SynapseTotals>();

function counted({ neuronCount, rowStart, targets, synapseCounts }: Connections): SynapseTotals {
  const inputs = new Uint32Array(neuronCount);
  const outputs = new Uint32Array(neuronCount);
  for (let neuron = 0; neuron < neuronCount; neuron++) {
    const end = rowStart[neuron + 1]!;
    for (let at = rowStart[neuron]!; at < end; at++) {
      inputs[targets[at]!]! += synapseCounts[at]!;
      outputs[neuron]! += synapseCounts[at]!;
    }
  }
  return { inputs, outputs };
}
