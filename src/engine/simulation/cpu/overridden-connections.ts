import type { Wiring } from '../../connectome/connectome.js';
import { firstNotBelow } from '../../connectome/sorted-array.js';
import { viewOf } from '../../instantiated.js';
import type { ConnectionOverride } from '../../stimulus/protocol.js';
import { factorsOfOverrides, type ConnectionFactors } from '../connection-factors.js';
import type { SimulationOptions } from '../simulation.js';
import {
  ADDRESS_BITS,
  ADDRESS_SHIFT,
  type Kernel,
  ROW_CONNECTION_COUNT,
  ROW_WORDS,
  SYNAPSES_PER_WORD,
  WORD_BYTES,
} from './kernel-exports.js';

const ADDRESS_MASK = 2 ** ADDRESS_BITS - 1;
/** See OverriddenPair in kernel/memory.ts: two addresses, then two doubles. */
const PAIR_BYTES = 24;
const PAIR_WORDS = PAIR_BYTES / 4;
const PAIR_DOUBLES = PAIR_BYTES / 8;

/** The second list of a neuron's connections. */
interface OverrideRow {
  readonly begin: number;
  readonly end: number;
  /** The number of connections that are cut: they deliver no synaptic events. */
  readonly cuts: number;
}

type Overriding = Pick<SimulationOptions, 'overrides' | 'connectionFactors'>;

/**
 * Connections of the kernel whose weights are overridden. The words of such a connection stay in the row of its source,
 * but hold 0 synapses. Unless the connection is cut, it also joins a second list, in double precision. So the
 * results of all other connections keep every bit, and the wiring is restored with one store for each word.
 */
export class OverriddenConnections {
  #applied: Overriding = {};
  /** The words that were emptied: the index of each, then its former value. */
  #emptied = new Uint32Array(0);
  #rows = new Map<number, OverrideRow>();
  /** True if any connection is in a second list, and not only cut. */
  delivers = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly wiring: Wiring,
  ) {}

  /** Replaces the overrides. Equal ones stay, because the trials of a condition have the same. */
  apply({ overrides, connectionFactors: given }: Overriding): void {
    const before = this.#applied;
    if (given === before.connectionFactors && areEqual(overrides ?? [], before.overrides ?? [])) return;
    this.#remove();
    this.#applied = { overrides, connectionFactors: given };
    const factors = given ?? factorsOfOverrides(this.wiring, overrides ?? []);
    if (factors.connections.length > 0) this.#write(factors);
  }

  cutsOf(neuron: number): number {
    return this.#rows.get(neuron)?.cuts ?? 0;
  }

  /** Determines whether the second lists of neurons are delivered; the engine does the same for the rows. */
  deliver(neurons: Iterable<number>, areDelivered: boolean): void {
    if (!this.delivers) return;
    const overrideRows = this.#overrideRows();
    for (const neuron of neurons) {
      const row = this.#rows.get(neuron);
      if (row !== undefined) overrideRows[2 * neuron + 1] = areDelivered ? row.end : row.begin;
    }
  }

  #write({ connections, factors }: ConnectionFactors): void {
    const { kernel, wiring } = this;
    const { rowStart, targets, synapseCounts, signs, neuronCount } = wiring;
    const sources = sourcesOf(wiring, connections);
    // Each source may add one entry, because each list needs an even number of entries.
    kernel.layOutOverrides((connections.length + sources.length + 1) >> 1);
    const rows = viewOf(kernel, Uint32Array, 'rows', ROW_WORDS * (neuronCount + 1));
    const overrideRows = this.#overrideRows();
    const base = kernel.connections.value as number;
    const wordsOf = (connection: number) => Math.ceil(synapseCounts[connection]! / SYNAPSES_PER_WORD);
    const wordCount = connections.reduce((sum, connection) => sum + wordsOf(connection), 0);
    const words = new Uint32Array(kernel.memory.buffer, base);
    // A list of numbers would take ten times as long if all connections are changed.
    const emptied = new Uint32Array(2 * wordCount);
    let emptiedLength = 0;
    const lists = new OverrideLists(kernel);
    let next = 0;
    for (const source of sources) {
      const begin = lists.end;
      let word = (rows[ROW_WORDS * source]! - base) / WORD_BYTES;
      let cuts = 0;
      // Connections of neurons of sign 0 are not in the kernel.
      while (connections[next]! < rowStart[source]!) next++;
      for (let c = rowStart[source]!; c < rowStart[source + 1]!; c++) {
        const endOfConnection = word + wordsOf(c);
        if (c !== connections[next]) {
          word = endOfConnection;
          continue;
        }
        for (; word < endOfConnection; word++) {
          emptied[emptiedLength++] = word;
          emptied[emptiedLength++] = words[word]!;
          // The target stays. If all emptied words had one target, their additions would wait for each other.
          words[word]! &= ADDRESS_MASK;
        }
        const factor = factors[next++]!;
        if (factor === 0) cuts++;
        else lists.add(targets[c]!, signs[source]! * synapseCounts[c]! * factor);
      }
      if (lists.isHalf) lists.add(neuronCount, 0);
      const { end } = lists;
      this.#rows.set(source, { begin, end, cuts });
      overrideRows.set([begin, end], 2 * source);
      rows[ROW_WORDS * source + ROW_CONNECTION_COUNT]! -= cuts;
    }
    this.delivers = lists.length > 0;
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

/** Writes the second lists of all neurons, one after another, as pairs of entries. */
class OverrideLists {
  readonly #begin: number;
  readonly #targets: Uint32Array;
  readonly #synapses: Float64Array;
  length = 0;

  constructor({ overridden, memory: { buffer } }: Kernel) {
    this.#begin = overridden.value as number;
    this.#targets = new Uint32Array(buffer, this.#begin);
    this.#synapses = new Float64Array(buffer, this.#begin);
  }

  /** The address after the last entry; call it only after whole pairs. */
  get end(): number {
    return this.#begin + PAIR_BYTES * (this.length >> 1);
  }

  /** True if the last pair has only one entry. */
  get isHalf(): boolean {
    return (this.length & 1) === 1;
  }

  /** @param signedSynapses with the sign of the source, times the factor of the connection */
  add(target: number, signedSynapses: number): void {
    const pair = this.length >> 1;
    const half = this.length & 1;
    this.#targets[PAIR_WORDS * pair + half] = target << ADDRESS_SHIFT;
    this.#synapses[PAIR_DOUBLES * pair + 1 + half] = signedSynapses;
    this.length++;
  }
}

/** @returns the sources of the connections, except neurons of sign 0, which have no connections in the kernel */
function sourcesOf({ rowStart, signs }: Wiring, connections: Uint32Array): number[] {
  const sources: number[] = [];
  let source = 0;
  for (const connection of connections) {
    if (connection < rowStart[source + 1]! && sources.at(-1) === source) continue;
    source = firstNotBelow(rowStart, connection + 1, source) - 1;
    sources.push(source);
  }
  return sources.filter((each) => signs[each] !== 0);
}

function areEqual(overrides: readonly ConnectionOverride[], others: readonly ConnectionOverride[]): boolean {
  // Overrides of the same neurons often share one array. It is compared only once.
  const compared = new Map<Uint32Array, Uint32Array>();
  const areSame = (neurons: Uint32Array, of: Uint32Array): boolean => {
    if (compared.get(neurons) === of) return true;
    compared.set(neurons, of);
    return areEqualLists(neurons, of);
  };
  return (
    overrides.length === others.length &&
    overrides.every(({ sources, targets, weight }, at) => {
      const other = others[at]!;
      return weight === other.weight && areSame(sources, other.sources) && areSame(targets, other.targets);
    })
  );
}

function areEqualLists(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
