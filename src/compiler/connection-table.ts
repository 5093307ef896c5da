/** Reads the rows of all pairs of neurons, and sums each pair over its parts, such as neuropils. */
import { basename } from 'node:path';
import { MAXIMUM_SYNAPSES_PER_CONNECTION } from '../connectome/connectome.js';
import type { ConnectionColumns } from './brain.js';
import type { ConnectionTable } from './dataset.js';
import { sumPairs } from './pairs.js';
import { firstAt, TableColumns, type TableReader } from './table-reader.js';
import { type IdValue, tableFault, type TableRow } from './table-row.js';

/**
 * @returns the pairs with at least so many synapses, the number of all, and the sign of each neuron's outputs where the
 *   table gives it
 * @throws CodedError TABLE_INVALID
 */
export async function readConnections(
  tables: TableReader,
  { file: path, columns: named, optional }: ConnectionTable,
  minimumSynapses: number,
): Promise<{ connections: ConnectionColumns; pairs: number; outputSigns: Int8Array | undefined }> {
  const { ids } = tables.neurons;
  const file = basename(path);
  // Rows of a pair are summed; where they have parts, the same pair and part a second time is a fault.
  const hasParts = named.part !== undefined;
  const pre = new GrowingColumn();
  const post = new GrowingColumn();
  const synapses = new GrowingColumn();
  const parts = new GrowingColumn();
  const rowNumbers = new GrowingColumn();
  const partNumbers = new Map<string, number>();
  const signs = new OutputSigns(ids);
  let noun: TableRow['noun'] = 'line';
  let at: Partial<Record<keyof typeof named, number>> = {};
  const chosen = (found: readonly string[]) => {
    const columns = new TableColumns<keyof typeof named>(named, optional, found);
    at = columns.firstPlaces();
    return columns.names;
  };
  let preId: IdValue = '';
  let source: number | undefined;
  await tables.read(path, chosen, (row) => {
    // Rows of one presynaptic neuron mostly stand together, so most lookups can be left out.
    const id = row.id(at.pre!);
    if (id !== preId) {
      source = tables.neurons.find(id);
      preId = id;
    }
    const target = tables.neurons.find(row.id(at.post!));
    const synapseCount = row.count(at.weight!);
    if (source === undefined || target === undefined) return false;
    pre.push(source);
    post.push(target);
    synapses.push(synapseCount);
    if (hasParts) {
      const name = row.text(at.part!);
      if (!partNumbers.has(name)) partNumbers.set(name, partNumbers.size);
      parts.push(partNumbers.get(name)!);
      rowNumbers.push(row.at);
      noun = row.noun;
    }
    if (at.sign !== undefined) signs.take(source, row, at.sign);
    return true;
  });
  tables.progress.begin('Summing the synapses of each pair', 0, 'items');
  const rows = { pre: pre.filled, post: post.filled, synapses: synapses.filled };
  const [partOf, numberOf] = [parts.filled, rowNumbers.filled];
  const placeOf = (row: number) => (hasParts ? `${noun} ${numberOf[row]!}` : null);
  const pairText = (row: number) => `${ids[rows.pre[row]!]} to ${ids[rows.post[row]!]}`;
  const summed = sumPairs(rows, ids.length, minimumSynapses, {
    checkRepeated: (earlier, later) => {
      if (!hasParts || partOf[earlier] !== partOf[later]) return;
      const part = [...partNumbers.keys()][partOf[later]!]!;
      const what =
        `expected one row for a pair of neurons and a ${named.part}, found ${pairText(later)} ` +
        `in "${part}" a second time (${firstAt(placeOf(earlier)!)})`;
      throw tableFault(file, placeOf(later), what);
    },
    checkSum: (row, sum) => {
      if (sum <= MAXIMUM_SYNAPSES_PER_CONNECTION) return;
      const expected = `expected at most ${MAXIMUM_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}`;
      throw tableFault(file, placeOf(row), `${expected}, found ${sum}`);
    },
  });
  const over = hasParts ? ` over ${named.part}s` : '';
  tables.remarks.push(`${rows.pre.length} rows summed${over} to ${summed.counted}`, ...summed.pruned);
  const outputSigns = at.sign === undefined ? undefined : signs.signs;
  return { connections: summed.connections, pairs: summed.pairCount, outputSigns };
}

/** The sign of each neuron's outputs; excitatory where no row has one. */
class OutputSigns {
  readonly signs: Int8Array;
  readonly #isKnown: Uint8Array;

  constructor(private readonly ids: readonly string[]) {
    this.signs = new Int8Array(ids.length).fill(1);
    this.#isKnown = new Uint8Array(ids.length);
  }

  /** Takes the sign in a row, which has to be that of earlier rows of the neuron. */
  take(neuron: number, row: TableRow, column: number): void {
    const sign = row.sign(column);
    const earlier = this.signs[neuron];
    if (this.#isKnown[neuron] === 1 && earlier !== sign) {
      throw row.fault(
        column,
        `${earlier}, as in an earlier row, since all outputs of neuron ${this.ids[neuron]} have one sign`,
      );
    }
    this.#isKnown[neuron] = 1;
    this.signs[neuron] = sign;
  }
}

/** A column of numbers that grows: in an array of JavaScript, millions of numbers would fill its heap. */
class GrowingColumn {
  #count = 0;
  #values = new Uint32Array(1 << 20);

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = value;
  }

  get filled(): Uint32Array {
    return this.#values.subarray(0, this.#count);
  }
}
