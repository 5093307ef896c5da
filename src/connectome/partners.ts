/** With whom neurons connect, counted by cell type. */
import { getOrInsert } from '../get-or-insert.js';
import { firstNotBelow } from './sorted-array.js';
import type { Connectome } from './connectome.js';
import { rowsByKey } from './rows.js';

/** Connections with the neurons of one type. */
export interface PartnerType {
  /** Index into metadata.types. */
  readonly type: number;
  /** Ordered pairs of neurons. */
  readonly connections: number;
  readonly synapses: number;
}

/** The partners of one connectome. Holds four bytes for each connection once inputs have been asked for. */
export class Partners {
  /** The connections that end at each neuron, ascending. */
  #incoming: ReturnType<typeof rowsByKey> | undefined;

  constructor(private readonly connectome: Connectome) {}

  /** Types that get input from these neurons, the one with the most synapses first. */
  outputsOf(neurons: Iterable<number>): PartnerType[] {
    const { rowStart, targets } = this.connectome;
    const tally = this.#tally();
    for (const neuron of neurons) {
      for (let at = rowStart[neuron]!; at < rowStart[neuron + 1]!; at++) tally.add(targets[at]!, at);
    }
    return tally.sorted();
  }

  /** Types that these neurons get input from, the one with the most synapses first. */
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

  /** The neuron whose row holds a connection: the last row that starts at it or before. */
  #sourceOf(connection: number): number {
    return firstNotBelow(this.connectome.rowStart, connection + 1) - 1;
  }
}
