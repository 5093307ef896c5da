/** Counts the partners of neurons by cell type. */
import { getOrInsert } from '../get-or-insert.js';
import { firstNotBelow } from './sorted-array.js';
import type { Connectome } from './connectome.js';
import { rowsByKey } from './rows.js';

/** The connections with the neurons of one type. */
export interface PartnerType {
  /** Index into metadata.types. */
  readonly type: number;
  /** The number of ordered pairs of neurons. */
  readonly connections: number;
  readonly synapses: number;
}

/** The partners in one connectome. After the first call of inputsOf it holds four bytes for each connection. */
export class Partners {
  /** The incoming connections of each neuron, ascending. */
  #incoming: ReturnType<typeof rowsByKey> | undefined;

  constructor(private readonly connectome: Connectome) {}

  /** @returns the types that get input from these neurons, most synapses first */
  outputsOf(neurons: Iterable<number>): PartnerType[] {
    const { rowStart, targets } = this.connectome;
    const tally = this.#tally();
    for (const neuron of neurons) {
      for (let at = rowStart[neuron]!; at < rowStart[neuron + 1]!; at++) tally.add(targets[at]!, at);
    }
    return tally.sorted();
  }

  /** @returns the types that these neurons get input from, most synapses first */
  inputsOf(neurons: Iterable<number>): PartnerType[] {
    const { targets, neuronCount } = this.connectome;
    const { start, items } = (this.#incoming ??= rowsByKey(targets, neuronCount));
    const tally = this.#tally();
    for (const neuron of neurons) {
      for (let i = start[neuron]!; i < start[neuron + 1]!; i++) {
        tally.add(this.#sourceOf(items[i]!), items[i]!);
      }
    }
    return tally.sorted();
  }

  #tally() {
    const { typeIndices, synapseCounts } = this.connectome;
    const byType = new Map<number, { type: number; connections: number; synapses: number }>();
    return {
      add(partner: number, connection: number): void {
        const newType = (type: number) => ({ type, connections: 0, synapses: 0 });
        const found = getOrInsert(byType, typeIndices[partner]!, newType);
        found.connections++;
        found.synapses += synapseCounts[connection]!;
      },
      sorted: (): PartnerType[] =>
        [...byType.values()].sort((a, b) => b.synapses - a.synapses || a.type - b.type),
    };
  }

  /** @returns the source of a connection: the last neuron whose row starts at it or before */
  #sourceOf(connection: number): number {
    return firstNotBelow(this.connectome.rowStart, connection + 1) - 1;
  }
}
