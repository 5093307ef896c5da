/**
 * Counting by groups of neurons. A report may read the whole brain, of which a few hundred neurons respond: only these
 * are returned by a worker, and only groups with a spike have a row of counters.
 */
import { firstNotBelow } from '../../../connectome/sorted-array.js';
import type { Groups } from '../../plan/groups.js';
import type { GroupResult } from '../../run/result.js';
import type { GroupColumn, GroupCounts, ReportTask, ReportWindow, TrialView } from '../report-kind.js';

export interface RespondingNeurons {
  /** Places, in the task's list of neurons, of those with at least one spike; ascending. */
  readonly places: Uint32Array;
  readonly spikes: Uint32Array;
}

/** The neurons of a report among those that spiked. Searches from each to the next, so the longer list costs little. */
export function respondingOf(task: ReportTask, trial: TrialView): RespondingNeurons {
  const members = task.neurons;
  const active = trial.countsIn(task);
  const places: number[] = [];
  const spikes: number[] = [];
  let place = 0;
  let at = 0;
  while (place < members.length && at < active.neurons.length) {
    const [member, neuron] = [members[place]!, active.neurons[at]!];
    if (member === neuron) {
      places.push(place++);
      spikes.push(active.spikes[at++]!);
    } else if (member < neuron) {
      place = firstNotBelow(members, neuron, place + 1);
    } else {
      at = firstNotBelow(active.neurons, member, at + 1);
    }
  }
  return { places: Uint32Array.from(places), spikes: Uint32Array.from(spikes) };
}

type Keyed<K extends string, V extends string> = Readonly<Record<K | V, Uint32Array>>;

/**
 * Joins what was read of two parts of a trial.
 * @param key member with ascending keys, none twice  @param value member with the value of each
 * @param both makes one of the values of a key that stands in both; their sum by default
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
    const [own, next] = [keys[at] ?? Infinity, others[other] ?? Infinity];
    joinedKeys[length] = Math.min(own, next);
    if (own < next) joinedValues[length++] = values[at++]!;
    else if (next < own) joinedValues[length++] = othersValues[other++]!;
    else joinedValues[length++] = both(values[at++]!, othersValues[other++]!);
  }
  const parts = { [key]: joinedKeys.slice(0, length), [value]: joinedValues.slice(0, length) };
  return parts as Keyed<K, V>;
}

/** Rows of counters for groups, in the order in which groups are asked for. */
export class GroupRows {
  readonly #groups: number[] = [];
  /** 1 more than the row of each group; 0 of a group that has none. */
  readonly #rowOf: Uint32Array;

  constructor(private readonly groups: Pick<Groups, 'count' | 'ofPlaces'>) {
    this.#rowOf = new Uint32Array(groups.count);
  }

  get length(): number {
    return this.#groups.length;
  }

  /** @param place of a neuron in the list of the report */
  ofPlace(place: number): number {
    return this.ofGroup(this.groups.ofPlaces[place]!);
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

/** Counters, so many for each row. Rows grow as they are asked for; a counter that was never set is 0. */
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
    // The place first: finding it may replace the values.
    const at = this.#at(row, column);
    this.#values[at]! += count;
  }

  /** Keeps the lowest of several values, none of which is 0. */
  lower(row: number, column: number, value: number): void {
    const at = this.#at(row, column);
    const before = this.#values[at]!;
    if (before === 0 || value < before) this.#values[at] = value;
  }

  /** Those of column c in row r at r * width + c. */
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

/** A column of numbers; null and undefined stand for no value. */
export function numberColumn<Own extends object>(
  name: string,
  valueOf: (group: GroupResult<Own>) => number | null | undefined,
): GroupColumn {
  return {
    column: { name, type: 'double', nullable: true },
    valueOf: ({ group }) => valueOf(group as GroupResult<Own>) ?? NaN,
  };
}
