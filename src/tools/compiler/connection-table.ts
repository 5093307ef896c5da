/** Reads a table of connections and sums the rows of each pair of neurons, such as one row for each neuropil. */
import { basename } from 'node:path';
import { MAX_SYNAPSES_PER_CONNECTION } from '../../engine/connectome/connectome.js';
import { type ConnectionColumns, newConnections } from './brain.js';
import type { ConnectionTable } from './dataset.js';
import { rowsByPair } from './pairs.js';
import { firstAt, percentOf, TableColumns, type TableReader } from './table-reader.js';
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
  const { neurons, remarks, progress } = tables;
  const rows = await readRows(tables, table);
  if (rows.pre.length === 0) {
    const all = `expected rows whose two neurons are in ${neurons.file}, found none`;
    throw rows.fault(null, `${all}: the ids of one table are not those of the other`);
  }
  progress.begin('Summing the synapses of each pair', 0, 'items');
  const { most, fewest, pairs, synapses, rowsOmitted, connections } = sumPairs(
    rows,
    neurons.ids.length,
    minimumSynapses,
  );
  const { count, synapseCounts } = connections;
  if (count === 0) {
    const strong = `expected pairs of neurons with ${minimumSynapses} synapses or more, found at most ${most}`;
    throw rows.fault(null, `${strong}: --minimum-synapses ${most} keeps those`);
  }
  const kept = synapseCounts.reduce((sum, each) => sum + each, 0);
  const over = rows.parts === undefined ? '' : ` over ${table.columns.part}s`;
  remarks.push(
    `${rows.pre.length} rows summed${over} to ${pairs} pairs of neurons with ${synapses} synapses; ` +
      `${count} pairs with ${minimumSynapses} or more were kept, with ${kept} synapses.`,
  );
  if (rowsOmitted > 0) {
    const omitted = synapses - kept;
    remarks.push(
      `Pairs with fewer than ${minimumSynapses} synapses were left out: ${rowsOmitted} of ${rows.pre.length} rows, with ` +
        `${omitted} of ${synapses} synapses (${percentOf(omitted, synapses)}).`,
    );
  }
  if (minimumSynapses < Math.min(fewest, usualMinimum)) {
    remarks.push(
      `Pairs with ${minimumSynapses} synapses or more were asked for, but no pair of the tables has fewer ` +
        `than ${fewest}: weaker ones were removed earlier.`,
    );
  }
  return { connections, pairs, outputSigns: rows.outputSigns };
}

type Rows = Awaited<ReturnType<typeof readRows>>;

/**
 * Reads the rows whose two neurons are known. If rows have parts, such as neuropils, a second row with the same pair and
 * part is an error, and faults of a row say where it is. Otherwise all rows of a pair are summed.
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
  const locationOf = (row: number | null) =>
    hasParts && row !== null ? `${noun} ${rowNumbers.filled[row]!}` : null;
  const fault = (row: number | null, what: string) => tableFault(basename(file), locationOf(row), what);
  const pairText = (row: number) => `${neurons.ids[pre.filled[row]!]} to ${neurons.ids[post.filled[row]!]}`;
  return {
    ...{ pre: pre.filled, post: post.filled, synapses: synapses.filled },
    parts: hasParts ? parts.filled : undefined,
    outputSigns: at.sign === undefined ? undefined : signs,
    fault,
    repeated(earlier: number, later: number) {
      const part = [...partNumbers.keys()][parts.filled[later]!]!;
      const first = firstAt(locationOf(earlier)!);
      const what = `expected one row for a pair of neurons and a ${named.part}, found ${pairText(later)}`;
      return fault(later, `${what} in "${part}" a second time (${first})`);
    },
    tooMany(row: number, sum: number) {
      const expected = `expected at most ${MAX_SYNAPSES_PER_CONNECTION} synapses from ${pairText(row)}`;
      return fault(row, `${expected}, found ${sum}`);
    },
  };
}

/** Sums the rows of each pair of neurons and omits pairs with fewer synapses than `minimumSynapses`. */
function sumPairs({ pre, post, synapses, parts, ...faults }: Rows, neuronCount: number, minimum: number) {
  const rows = rowsByPair(pre, post, neuronCount);
  /** For each part, the last position in `rows` with it. */
  const seenAt = new Map<number, number>();
  const kept = newConnections(rows.length);
  let [count, pairs, allSynapses, rowsOmitted] = [0, 0, 0, 0];
  let [fewest, most] = [Infinity, 0];
  for (let begin = 0, end: number; begin < rows.length; begin = end) {
    const first = rows[begin]!;
    let sum = 0;
    for (end = begin; end < rows.length; end++) {
      const row = rows[end]!;
      if (pre[row] !== pre[first] || post[row] !== post[first]) break;
      if (parts !== undefined) {
        const seen = seenAt.get(parts[row]!) ?? -1;
        if (seen >= begin) throw faults.repeated(rows[seen]!, row);
        seenAt.set(parts[row]!, end);
      }
      sum += synapses[row]!;
    }
    pairs += 1;
    allSynapses += sum;
    fewest = Math.min(fewest, sum);
    most = Math.max(most, sum);
    if (sum < minimum) {
      rowsOmitted += end - begin;
      continue;
    }
    if (sum > MAX_SYNAPSES_PER_CONNECTION) throw faults.tooMany(first, sum);
    kept.pre[count] = pre[first]!;
    kept.post[count] = post[first]!;
    kept.synapseCounts[count++] = sum;
  }
  const connections = {
    count,
    pre: kept.pre.slice(0, count),
    post: kept.post.slice(0, count),
    synapseCounts: kept.synapseCounts.slice(0, count),
  };
  return { connections, pairs, synapses: allSynapses, rowsOmitted, fewest, most };
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
