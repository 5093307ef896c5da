import type { Wiring } from '../../connectome/connectome.js';
import type { ConnectionOverride } from '../../stimulus/protocol.js';
import { connectionFactors, type ConnectionFactors } from '../connection-factors.js';
import type { SimulationOptions } from '../simulation.js';
import {
  ADDRESS_BITS,
  ADDRESS_SHIFT,
  type Kernel,
  ROW_CONNECTION_COUNT,
  ROW_WORDS,
  SYNAPSES_PER_WORD,
  viewOf,
  WORD_BYTES,
} from './kernel-exports.js';

const ADDRESS_MASK = 2 ** ADDRESS_BITS - 1;
/** See OverriddenPair in kernel/memory.ts: two addresses, then two doubles. */
const PAIR_BYTES = 24;
const PAIR_WORDS = PAIR_BYTES / 4;
const PAIR_DOUBLES = PAIR_BYTES / 8;

/** The second list of a neuron. */
interface OverrideRow {
  readonly begin: number;
  readonly end: number;
  /** Connections that are cut: they deliver no synaptic event. */
  readonly cuts: number;
}

type Overriding = Pick<SimulationOptions, 'overrides' | 'connectionFactors'>;

/**
 * Connections of the kernel with weights other than the measured ones. The words of such a connection stay in the row of
 * its source without synapses, and unless it is cut it joins a second list, in double precision. So all other
 * connections keep every bit, and an earlier wiring is restored with one store for each word.
 */
export class OverriddenConnections {
  #applied: Overriding = {};
  /** Words that were emptied: the place of each, then what it held. */
  #emptied = new Uint32Array(0);
  #rows = new Map<number, OverrideRow>();
  /** True where a list has entries, not only cuts. */
  delivers = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly wiring: Wiring,
  ) {}

  /** Applies overrides in place of those before; equal ones stay, as they do from trial to trial of a condition. */
  apply({ overrides, connectionFactors: given }: Overriding): void {
    const before = this.#applied;
    if (given === before.connectionFactors && areEqual(overrides ?? [], before.overrides ?? [])) return;
    this.#remove();
    this.#applied = { overrides, connectionFactors: given };
    const factors = given ?? connectionFactors(this.wiring, overrides ?? []);
    if (factors.connections.length > 0) this.#write(factors);
  }

  cutsOf(neuron: number): number {
    return this.#rows.get(neuron)?.cuts ?? 0;
  }

  silence(neurons: Iterable<number>): void {
    this.#end(neurons, ({ begin }) => begin);
  }

  restore(neurons: Iterable<number>): void {
    this.#end(neurons, ({ end }) => end);
  }

  #end(neurons: Iterable<number>, endOf: (row: OverrideRow) => number): void {
    if (!this.delivers) return;
    const overrideRows = this.#overrideRows();
    for (const neuron of neurons) {
      const row = this.#rows.get(neuron);
      if (row !== undefined) overrideRows[2 * neuron + 1] = endOf(row);
    }
  }

  #write({ connections, factors }: ConnectionFactors): void {
    const { kernel, wiring } = this;
    const { rowStart, targets, synapseCounts, signs, neuronCount } = wiring;
    const sources = sourcesOf(wiring, connections);
    // Each list has an even number of entries.
    kernel.layOutOverrides((connections.length + sources.length + 1) >> 1);
    const rows = viewOf(kernel, Uint32Array, 'rows', ROW_WORDS * (neuronCount + 1));
    const overrideRows = this.#overrideRows();
    const base = kernel.connections.value as number;
    const { buffer } = kernel.memory;
    const words = new Uint32Array(buffer, base);
    const lists = kernel.overridden.value as number;
    const entryTargets = new Uint32Array(buffer, lists);
    const entrySynapses = new Float64Array(buffer, lists);
    const wordsOf = (connection: number) => Math.ceil(synapseCounts[connection]! / SYNAPSES_PER_WORD);
    // A list of numbers would take ten times as long where all are changed.
    const emptied = new Uint32Array(
      2 * connections.reduce((sum, connection) => sum + wordsOf(connection), 0),
    );
    let emptiedLength = 0;
    let next = 0;
    let pair = 0;
    for (const source of sources) {
      let word = (rows[ROW_WORDS * source]! - base) / WORD_BYTES;
      let entry = 2 * pair;
      let cuts = 0;
      for (let c = rowStart[source]!; c < rowStart[source + 1]!; c++) {
        const endOfConnection = word + wordsOf(c);
        if (c !== connections[next]) {
          word = endOfConnection;
          continue;
        }
        for (; word < endOfConnection; word++) {
          emptied[emptiedLength++] = word;
          emptied[emptiedLength++] = words[word]!;
          // The same target: a shared one without synapses would chain all these additions.
          words[word]! &= ADDRESS_MASK;
        }
        const factor = factors[next++]!;
        if (factor === 0) {
          cuts++;
          continue;
        }
        const half = entry & 1;
        entryTargets[PAIR_WORDS * (entry >> 1) + half] = targets[c]! << ADDRESS_SHIFT;
        entrySynapses[PAIR_DOUBLES * (entry >> 1) + 1 + half] = signs[source]! * synapseCounts[c]! * factor;
        entry++;
      }
      if (entry & 1) {
        entryTargets[PAIR_WORDS * (entry >> 1) + 1] = neuronCount << ADDRESS_SHIFT;
        entrySynapses[PAIR_DOUBLES * (entry >> 1) + 2] = 0;
        entry++;
      }
      const begin = lists + PAIR_BYTES * pair;
      pair = entry >> 1;
      const end = lists + PAIR_BYTES * pair;
      this.#rows.set(source, { begin, end, cuts });
      overrideRows.set([begin, end], 2 * source);
      rows[ROW_WORDS * source + ROW_CONNECTION_COUNT]! -= cuts;
    }
    this.delivers = pair > 0;
    this.#emptied = emptied.subarray(0, emptiedLength);
  }

  #remove(): void {
    const { kernel, wiring } = this;
    const rows = viewOf(kernel, Uint32Array, 'rows', ROW_WORDS * (wiring.neuronCount + 1));
    const overrideRows = this.#overrideRows();
    const words = new Uint32Array(kernel.memory.buffer, kernel.connections.value as number);
    const emptied = this.#emptied;
    for (let at = 0; at < emptied.length; at += 2) words[emptied[at]!] = emptied[at + 1]!;
    for (const [source, { cuts }] of this.#rows) {
      overrideRows.fill(0, 2 * source, 2 * source + 2);
      rows[ROW_WORDS * source + ROW_CONNECTION_COUNT]! += cuts;
    }
    this.#emptied = new Uint32Array(0);
    this.#rows.clear();
    this.delivers = false;
  }

  #overrideRows(): Uint32Array {
    return viewOf(this.kernel, Uint32Array, 'overrideRows', 2 * (this.wiring.neuronCount + 1));
  }
}

/** Neurons that the connections come from, but those of sign 0, which have none in the kernel. */
function sourcesOf({ rowStart, neuronCount, signs }: Wiring, connections: Uint32Array): number[] {
  const sources: number[] = [];
  let source = 0;
  for (const connection of connections) {
    if (connection < rowStart[source + 1]! && sources.at(-1) === source) continue;
    // Steps, then halves: the next source is near where many are overridden.
    let low = source;
    let high = neuronCount;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (rowStart[middle]! <= connection) low = middle;
      else high = middle;
    }
    source = low;
    sources.push(source);
  }
  return sources.filter((each) => signs[each] !== 0);
}

function areEqual(overrides: readonly ConnectionOverride[], others: readonly ConnectionOverride[]): boolean {
  // Overrides of the same neurons often share one array, which is then compared once.
  const compared = new Map<Uint32Array, Uint32Array>();
  const areSame = (neurons: Uint32Array, of: Uint32Array): boolean => {
    if (compared.get(neurons) === of) return true;
    compared.set(neurons, of);
    return equalBytes(neurons, of);
  };
  return (
    overrides.length === others.length &&
    overrides.every(({ sources, targets, weight }, at) => {
      const other = others[at]!;
      return weight === other.weight && areSame(sources, other.sources) && areSame(targets, other.targets);
    })
  );
}

function equalBytes(a: Uint32Array, b: Uint32Array): boolean {
  const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
    Buffer.from(buffer, byteOffset, byteLength);
  return a.length === b.length && bytesOf(a).equals(bytesOf(b));
}
