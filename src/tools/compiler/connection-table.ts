/** Reads a table of connections and sums the rows of each pair of neurons, such as one row for each neuropil. */
import { basename } from 'node:path';
import { MAX_SYNAPSES_PER_CONNECTION } from '../../engine/connectome/connectome.js';
import type { ConnectionColumns } from './brain.js';
import type { ConnectionTable } from './dataset.js';
import { sumPairs } from './pairs.js';
import { firstAt, TableColumns, type TableReader } from './table-reader.js';
import { type IdValue, tableFault, type TableRow } from './table-row.js';

/**
 * @param usualMinimum the threshold that is used if none was asked for
 * @returns the pairs with at least `minimumSynapses`, the number of all pairs, and the sign of each neuron's outputs if the
 *   table has signs
 * @throws CodedError TABLE_INVALID
 */
export async function readConnections(
  tables: TableReader,
  table: ConnectionTable,
  minimumSynapses: number,
  usualMinimum: number,
): Promise<{ connections: ConnectionColumns; pairs: number; outputSigns: OutputSigns | undefined }> {
  const { columns: named } = table;
  const { neurons, remarks, progress } = tables;
  const file = basename(table.file);
  const { rows, partNames, outputSigns, locationOf } = await readRows(tables, table);
  if (rows.pre.length === 0) {
    const all = `expected rows whose two neurons are in ${neurons.file}, found none`;
    throw tableFault(file, null, `${all}: the ids of one table are not those of the other`);
  }
  progress.begin('Summing the synapses of each pair', 0, 'items');
  const pairText = (row: number) => `${neurons.ids[rows.pre[row]!]} to ${neurons.ids[rows.post[row]!]}`;
  const summed = sumPairs(rows, neurons.ids.length, minimumSynapses, usualMinimum, {
    repeated: (earlier, later) => {
      const part = partNames[rows.parts![later]!]!;
      const repetition =
        `expected one row for a pair of neurons and a ${named.part}, found ${pairText(later)} ` +
        `in "${part}" a second time (${firstAt(locationOf(earlier)!)})`;
      throw tableFault(file, locationOf(later), repetition);
    },
    checkSum: (row, sum) => {
      if (sum <= MAX_SYNAPSES_PER_CONNECTION) return;
      const expected = `expected at most ${MAX_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}`;
      throw tableFault(file, locationOf(row), `${expected}, found ${sum}`);
    },
  });
  if (summed.connections.count === 0) {
    const strong = `expected pairs of neurons with ${minimumSynapses} synapses or more, found at most ${summed.most}`;
    throw tableFault(file, null, `${strong}: --minimum-synapses ${summed.most} keeps those`);
  }
  const over = rows.parts === undefined ? '' : ` over ${named.part}s`;
  remarks.push(`${rows.pre.length} rows summed${over} to ${summed.counted}`, ...summed.weak);
  return { connections: summed.connections, pairs: summed.pairCount, outputSigns };
}

/**
 * Reads the rows whose two neurons are known. If rows have parts, a second row with the same pair and part is an error,
 * and `locationOf` tells where a row is. Otherwise all rows of a pair are summed.
 */
async function readRows(tables: TableReader, { file, columns: named, optional }: ConnectionTable) {
  const { neurons } = tables;
  const hasParts = named.part !== undefined;
  const [pre, post, synapses] = [new GrowingColumn(), new GrowingColumn(), new GrowingColumn()];
  const [parts, rowNumbers] = [new GrowingColumn(), new GrowingColumn()];
  const partNumbers = new Map<string, number>();
  const signs = new OutputSigns(neurons.ids);
  let noun: TableRow['noun'] = 'line';
  let at: Partial<Record<keyof typeof named, number>> = {};
  const chosen = (found: readonly string[]) => {
    const columns = new TableColumns<keyof typeof named>(named, optional, found);
    at = columns.firstColumns();
    return columns.names;
  };
  let preId: IdValue = '';
  let source: number | undefined;
  await tables.read(file, chosen, (row) => {
    // Rows of one presynaptic neuron are mostly adjacent, so this skips most lookups.
    const id = row.id(at.pre!);
    if (id !== preId) {
      source = neurons.find(id);
      preId = id;
    }
    const target = neurons.find(row.id(at.post!));
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
  const numberOf = rowNumbers.filled;
  return {
    rows: {
      ...{ pre: pre.filled, post: post.filled, synapses: synapses.filled },
      ...(hasParts && { parts: parts.filled }),
    },
    partNames: [...partNumbers.keys()],
    outputSigns: at.sign === undefined ? undefined : signs,
    locationOf: (row: number) => (hasParts ? `${noun} ${numberOf[row]!}` : null),
  };
}

/** The sign of each neuron's outputs; excitatory if no row has a sign. */
export class OutputSigns {
  readonly signs: Int8Array;
  readonly #isKnown: Uint8Array;

  constructor(private readonly ids: readonly string[]) {
    this.signs = new Int8Array(ids.length).fill(1);
    this.#isKnown = new Uint8Array(ids.length);
  }

  /** @throws CodedError TABLE_INVALID if an earlier row of the neuron has another sign */
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

  /** @returns the sign of a neuron, undefined if no row has it */
  of(neuron: number): number | undefined {
    return this.#isKnown[neuron] === 1 ? this.signs[neuron] : undefined;
  }
}

/** A growing column of numbers. Hundreds of millions of numbers in a JavaScript array would fill the heap. */
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
