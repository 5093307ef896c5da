/** With whom neurons connect, counted by cell type. */
import { firstNotBelow } from './ascending.js';
import type { Connectome } from './connectome.js';

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
  #incoming: { readonly start: Uint32Array; readonly connections: Uint32Array } | undefined;

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
    this.#incoming ??= this.#indexIncoming();
    const { start, connections } = this.#incoming;
    const tally = this.#tally();
    for (const neuron of neurons) {
      for (let i = start[neuron]!; i < start[neuron + 1]!; i++) {
        tally.add(this.#sourceOf(connections[i]!), connections[i]!);
      }
    }
    return tally.sorted();
  }

  #tally() {
    const { typeIndices, synapseCounts } = this.connectome;
    const byType = new Map<number, { type: number; connections: number; synapses: number }>();
    return {
      add(partner: number, connection: number): void {
        const type = typeIndices[partner]!;
        let found = byType.get(type);
        if (found === undefined) byType.set(type, (found = { type, connections: 0, synapses: 0 }));
        found.connections++;
        found.synapses += synapseCounts[connection]!;
      },
      sorted: (): PartnerType[] =>
        [...byType.values()].sort((a, b) => b.synapses - a.synapses || a.type - b.type),
    };
  }

  /** The connections of each target: a counting sort, which keeps them in ascending order. */
  #indexIncoming(): { start: Uint32Array; connections: Uint32Array } {
    const { neuronCount, connectionCount, targets } = this.connectome;
    const start = new Uint32Array(neuronCount + 1);
    for (let at = 0; at < connectionCount; at++) start[targets[at]! + 1]!++;
    for (let i = 0; i < neuronCount; i++) start[i + 1]! += start[i]!;
    const next = start.slice();
    const connections = new Uint32Array(connectionCount);
    for (let at = 0; at < connectionCount; at++) connections[next[targets[at]!]!++] = at;
    return { start, connections };
  }

  /** The neuron whose row holds a connection: the last row that starts at it or before. */
  #sourceOf(connection: number): number {
    return firstNotBelow(this.connectome.rowStart, connection + 1) - 1;
  }
}
