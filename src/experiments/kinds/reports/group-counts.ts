/**
 * Counts by groups of neurons. A report may read the whole brain although only a few hundred neurons respond. So a worker
 * returns only responding neurons, and only groups with a spike get a row of counters.
 */
import { firstNotBelow } from '../../../engine/connectome/sorted-array.js';
import type { Groups } from '../groups.js';
import type { GroupResult } from '../result-rows.js';
import type { GroupColumn, GroupCounts, ReportTask, ReportWindow, TrialView } from '../report-kind.js';

export interface RespondingNeurons {
  /** Positions, in the task's list, of the neurons with at least one spike; ascending. */
  readonly positions: Uint32Array;
  readonly spikes: Uint32Array;
}

/** The neurons of a report that spiked. Searches both lists by leaps, so a list that is much longer costs little. */
export function respondingOf(task: ReportTask, trial: TrialView): RespondingNeurons {
  const members = task.neurons;
  const active = trial.countsIn(task);
  const positions: number[] = [];
  const spikes: number[] = [];
  let position = 0;
  let at = 0;
  while (position < members.length && at < active.neurons.length) {
    const [member, neuron] = [members[position]!, active.neurons[at]!];
    if (member === neuron) {
      positions.push(position++);
      spikes.push(active.spikes[at++]!);
    } else if (member < neuron) {
      position = firstNotBelow(members, neuron, position + 1);
    } else {
      at = firstNotBelow(active.neurons, member, at + 1);
    }
  }
  return { positions: Uint32Array.from(positions), spikes: Uint32Array.from(spikes) };
}

type Keyed<K extends string, V extends string> = Readonly<Record<K | V, Uint32Array>>;

/**
 * Joins the results of two segments of a trial.
 * @param key member with the keys, ascending and distinct  @param value member with a value for each key
 * @param both combines the two values of a key that is in both results; by default it adds them
 */
export function joined<K extends string, V extends string>(
  [key, value]: readonly [key: K, value: V],
  { [key]: keys, [value]: values }: Keyed<K, V>,
  { [key]: others, [value]: othersValues }: Keyed<K, V>,
  both = (first: number, second: number) => first + second,
): Keyed<K, V> {
  const joinedKeys = new Uint32Array(keys.length + others.length);
  const joinedValues = new Uint32Array(joinedKeys.length);
  let [at, other, length] = [0, 0, 0];
  while (at < keys.length || other < others.length) {
    const [first, second] = [keys[at] ?? Infinity, others[other] ?? Infinity];
    joinedKeys[length] = Math.min(first, second);
    if (first < second) joinedValues[length++] = values[at++]!;
    else if (second < first) joinedValues[length++] = othersValues[other++]!;
    else joinedValues[length++] = both(values[at++]!, othersValues[other++]!);
  }
  const parts = { [key]: joinedKeys.slice(0, length), [value]: joinedValues.slice(0, length) };
  return parts as Keyed<K, V>;
}

/** Assigns a row of counters to each group when the group is first used. */
export class GroupRows {
  readonly #groups: number[] = [];
  /** The row of each group plus 1; 0 if the group has none. */
  readonly #rowOf: Uint32Array;

  constructor(private readonly groups: Pick<Groups, 'count' | 'groupOfPosition'>) {
    this.#rowOf = new Uint32Array(groups.count);
  }

  get length(): number {
    return this.#groups.length;
  }

  /** @param position of a neuron in the list of the report */
  ofPosition(position: number): number {
    return this.ofGroup(this.groups.groupOfPosition[position]!);
  }

  ofGroup(group: number): number {
    const known = this.#rowOf[group]!;
    if (known > 0) return known - 1;
    return (this.#rowOf[group] = this.#groups.push(group)) - 1;
  }

  counts({ startStep, endStep }: ReportWindow): GroupCounts {
    return { startStep, endStep, groups: Uint32Array.from(this.#groups) };
  }
}

type Values = Uint16Array | Uint32Array | Float64Array;

/** A table of counters with a fixed number of columns. Rows are added on demand; counters begin at 0. */
export class Counters<V extends Values> {
  #values: V;

  constructor(
    private readonly rows: GroupRows,
    private readonly Values: new (length: number) => V,
    private readonly width: number,
  ) {
    this.#values = new Values(0);
  }

  add(row: number, column: number, count: number): void {
    // Look up the position first, because that may replace #values.
    const at = this.#at(row, column);
    this.#values[at]! += count;
  }

  /** Keeps the lowest value. Values must not be 0, which means none. */
  keepLowest(row: number, column: number, value: number): void {
    const at = this.#at(row, column);
    const before = this.#values[at]!;
    if (before === 0 || value < before) this.#values[at] = value;
  }

  /** All counters; column c of row r is at r * width + c. */
  values(): V {
    const { length } = this.rows;
    if (this.#values.length < length * this.width) this.#resize(length);
    return this.#values.slice(0, length * this.width) as V;
  }

  #at(row: number, column: number): number {
    const at = row * this.width + column;
    if (at >= this.#values.length) this.#resize(2 * (row + 1));
    return at;
  }

  #resize(rows: number): void {
    const values = new this.Values(rows * this.width);
    values.set(this.#values);
    this.#values = values;
  }
}

/** A column of numbers. Null and undefined mean no value. */
export function numberColumn<Own extends object>(
  name: string,
  valueOf: (group: GroupResult<Own>) => number | null | undefined,
): GroupColumn {
  return {
    column: { name, type: 'double', nullable: true },
    valueOf: ({ group }) => valueOf(group as GroupResult<Own>) ?? NaN,
  };
}
