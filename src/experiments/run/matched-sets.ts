/**
 * Draws other neurons for matched controls. docs/wiring.md specifies the draw ("Matched neurons"), and a test holds a second
 * implementation of those words against this one.
 */
import { sha256Hex } from '#platform';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { labelOf } from '../../engine/connectome/neuron-index.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { InParts } from '../../engine/parts.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { Controls } from '../kinds/controls.js';
import { LISTED_AT_MOST } from '../kinds/warning.js';
import { allNeurons, type Groups, groupsOf } from '../kinds/groups.js';

/** Shares of the neurons that spiked, in percent: each begins a bin of activity. */
const BINS_FROM_PERCENT = [50, 75, 90, 97];
/** The largest distance between two bins of neurons that spiked. Silent neurons are near to no other. */
const MAX_DISTANCE = BINS_FROM_PERCENT.length;
const BINS = BINS_FROM_PERCENT.length + 2;
const NAME_LENGTH = 16;
/** Number of neurons that a computation looks at between two pauses. */
const LOOKED_IN_PART = 5000;

/** Neurons in the place of a group. */
export interface NamedSet {
  /** Ascending. */
  readonly neurons: Uint32Array;
  /**
   * Labels and bins that too few neurons had: some neurons are from neighbouring bins or have other labels. At most one
   * more than a warning lists, because each control has its own.
   */
  readonly short: readonly string[];
  /** Set if fewer neurons were free than the group has: their number, of that of the group. */
  readonly fewer?: string;
  /** Equal for equal sets. */
  readonly name: string;
  /** True if the group or an earlier control has the same neurons. They would count twice, so it is not compared. */
  readonly isRepeated: boolean;
  /** True if none of the neurons spikes in the baseline. */
  readonly isSilent: boolean;
}

/** All neurons, divided by no label of `match`, by its first one, ... by all of them. */
export function* divisionsOf(connectome: Connectome, { match = [] }: Controls): InParts<Groups[]> {
  const neurons = allNeurons(connectome);
  const labels = match.filter((label) => label !== 'activity');
  const divisions: Groups[] = [];
  for (let count = 0; count <= labels.length; count++) {
    divisions.push(groupsOf(connectome, neurons, labels.slice(0, count)));
    yield;
  }
  return divisions;
}

/** Some neurons of the division by the first `labels` labels: of one group, in the bins from the first to the last. */
interface Pool {
  readonly labels: number;
  readonly group: number;
  readonly first: number;
  readonly last: number;
}

/** Neurons that can be drawn. Counts them in each bin of each group, because the pools overlap. */
class FreeNeurons {
  /** At first, none is free. */
  constructor(
    private readonly divisions: readonly Groups[],
    private readonly bins: Uint8Array,
    private readonly isFree = new Uint8Array(bins.length),
    private readonly counts = divisions.map(({ count }) => new Uint32Array(count * BINS)),
  ) {}

  copy(): FreeNeurons {
    const counts = this.counts.map((each) => each.slice());
    return new FreeNeurons(this.divisions, this.bins, this.isFree.slice(), counts);
  }

  has(neuron: number): boolean {
    return this.isFree[neuron] === 1;
  }

  set(neuron: number, isFree: boolean): void {
    if (this.has(neuron) === isFree) return;
    this.isFree[neuron] = isFree ? 1 : 0;
    for (let labels = 0; labels < this.divisions.length; labels++) {
      const group = this.divisions[labels]!.groupOfPosition[neuron]!;
      this.counts[labels]![group * BINS + this.bins[neuron]!]! += isFree ? 1 : -1;
    }
  }

  countIn({ labels, group, first, last }: Pool): number {
    let count = 0;
    for (let bin = first; bin <= last; bin++) count += this.counts[labels]![group * BINS + bin]!;
    return count;
  }
}

/** The neurons that controls of one baseline can draw. */
export class MatchedSets {
  /** The bin of each neuron; all 0 if activity does not matter. */
  readonly #bins: Uint8Array;
  readonly #pools = new Map<string, Uint32Array>();
  /** Text of what a neuron must match. */
  readonly #textOf: (neuron: number) => string;
  /** All neurons that are not left out. Counted for the first control. */
  #free: FreeNeurons | undefined;
  /** Number of neurons looked at since the last pause. */
  #looked = 0;

  /**
   * @param divisions from divisionsOf
   * @param isLeftOut 1 for each neuron that is stimulated, silenced or read
   * @param spikes of each neuron in the baseline
   */
  constructor(
    connectome: Connectome,
    { match = [] }: Controls,
    private readonly divisions: readonly Groups[],
    private readonly isLeftOut: Uint8Array,
    private readonly spikes: Uint32Array,
  ) {
    this.#bins = match.includes('activity') ? binsOf(spikes) : new Uint8Array(spikes.length);
    const texts = match.map((label) => {
      if (label === 'activity') return (neuron: number) => `activity bin ${this.#bins[neuron]}`;
      const textOf = labelOf(connectome, label);
      return (neuron: number) => textOf(neuron) || `no ${label}`;
    });
    this.#textOf = (neuron) => texts.map((text) => text(neuron)).join(', ') || 'all neurons';
  }

  /** @param controls numbers of controls, from 1  @param condition number of the condition */
  *drawing(
    group: Uint32Array,
    seed: number,
    controls: Iterable<number>,
    condition: number,
  ): InParts<NamedSet[]> {
    const free = (this.#free ??= yield* this.#notLeftOut()).copy();
    const others = free.copy();
    const sets = yield* this.#divide(group, others);
    const names = new Set([nameOf(Uint32Array.from(group).sort())]);
    const drawn: NamedSet[] = [];
    for (const control of controls) {
      const random = new PhiloxSequence(seed, control, PHILOX_STREAM.matched, condition);
      const set = yield* this.#draw(sets, free, others, random);
      yield;
      const name = nameOf(set.neurons);
      const isSilent = set.neurons.every((neuron) => this.spikes[neuron] === 0);
      drawn.push({ ...set, name, isRepeated: names.has(name), isSilent });
      names.add(name);
    }
    return drawn;
  }

  *#notLeftOut(): InParts<FreeNeurons> {
    const free = new FreeNeurons(this.divisions, this.#bins);
    for (let neuron = 0; neuron < this.isLeftOut.length; neuron++) {
      free.set(neuron, this.isLeftOut[neuron] === 0);
      if (this.#isLong()) yield;
    }
    return free;
  }

  /** Divides a group into neurons of equal labels and bins. They are no others. */
  *#divide(group: Uint32Array, others: FreeNeurons): InParts<(readonly number[])[]> {
    const { groupOfPosition } = this.divisions.at(-1)!;
    const sets = new Map<number, number[]>();
    for (const neuron of group) {
      const key = groupOfPosition[neuron]! * BINS + this.#bins[neuron]!;
      getOrInsert(sets, key, () => []).push(neuron);
      others.set(neuron, false);
      if (this.#isLong()) yield;
    }
    return [...sets.values()];
  }

  /**
   * Draws from the neurons of the group, too. Otherwise the group would differ from its controls: they could share neurons
   * with one another, and it with none.
   * @param free the same before and after, like the next one
   * @param others free neurons that are not of the group
   */
  *#draw(
    sets: readonly (readonly number[])[],
    free: FreeNeurons,
    others: FreeNeurons,
    random: PhiloxSequence,
  ): InParts<Pick<NamedSet, 'neurons' | 'short' | 'fewer'>> {
    const drawn: number[] = [];
    const drawnOthers: number[] = [];
    const short: string[] = [];
    for (const alike of sets) {
      const { isWidened, ...found } = this.#poolFor(alike, others);
      if (isWidened && short.length <= LISTED_AT_MOST) short.push(this.#textOf(alike[0]!));
      const pool = yield* this.#neuronsIn(found);
      for (let left = Math.min(alike.length, free.countIn(found)); left > 0;) {
        if (this.#isLong()) yield;
        const neuron = pool[random.nextBelow(pool.length)]!;
        if (!free.has(neuron)) continue;
        free.set(neuron, false);
        drawn.push(neuron);
        if (others.has(neuron)) drawnOthers.push(neuron);
        others.set(neuron, false);
        left--;
      }
    }
    for (const neuron of drawn) free.set(neuron, true);
    for (const neuron of drawnOthers) others.set(neuron, true);
    const size = sets.reduce((sum, { length }) => sum + length, 0);
    const fewer = drawn.length < size ? { fewer: `${drawn.length} of ${size}` } : {};
    return { neurons: Uint32Array.from(drawn).sort(), short, ...fewer };
  }

  /** The narrowest pool with as many other neurons, or all neurons if there is none. */
  #poolFor(alike: readonly number[], others: FreeNeurons): Pool & { readonly isWidened: boolean } {
    const [like] = alike;
    const bin = this.#bins[like!]!;
    const most = this.divisions.length - 1;
    // Silent neurons have no neighbours, and without activity all neurons are in their bin.
    const maxDistance = bin === 0 ? 0 : MAX_DISTANCE;
    for (let labels = most; labels >= 0; labels--) {
      const group = this.divisions[labels]!.groupOfPosition[like!]!;
      for (let distance = 0; distance <= maxDistance; distance++) {
        const first = Math.max(Math.min(bin, 1), bin - distance);
        const pool = { labels, group, first, last: Math.min(BINS - 1, bin + distance) };
        if (others.countIn(pool) >= alike.length)
          return { ...pool, isWidened: labels < most || distance > 0 };
      }
    }
    return { labels: 0, group: 0, first: 0, last: BINS - 1, isWidened: true };
  }

  /** Ascending. */
  *#neuronsIn(pool: Pool): InParts<Uint32Array> {
    const { labels, group, first, last } = pool;
    const key = `${labels} ${group} ${first} ${last}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const all = this.#free!;
    const neurons = new Uint32Array(all.countIn(pool));
    let count = 0;
    for (const neuron of this.divisions[labels]!.neuronsOf(group)) {
      const bin = this.#bins[neuron]!;
      if (first <= bin && bin <= last && all.has(neuron)) neurons[count++] = neuron;
      if (this.#isLong()) yield;
    }
    this.#pools.set(key, neurons);
    return neurons;
  }

  /** Counts a neuron. @returns true if it is time for a pause */
  #isLong(): boolean {
    if (++this.#looked <= LOOKED_IN_PART) return false;
    this.#looked = 0;
    return true;
  }
}

/** @param neurons ascending */
function nameOf(neurons: Uint32Array): string {
  return sha256Hex(String(neurons)).slice(0, NAME_LENGTH);
}

/** Bin 0 is for silent neurons; the others are quantiles of the neurons that spiked. */
function binsOf(spikes: Uint32Array): Uint8Array {
  const ascending = spikes.filter((count) => count > 0).sort();
  const edges = BINS_FROM_PERCENT.map(
    (percent) => ascending[Math.floor((percent * ascending.length) / 100)]!,
  );
  const bins = new Uint8Array(spikes.length);
  spikes.forEach((count, neuron) => {
    if (count > 0) bins[neuron] = edges.reduce((bin, edge) => bin + (count >= edge ? 1 : 0), 1);
  });
  return bins;
}
