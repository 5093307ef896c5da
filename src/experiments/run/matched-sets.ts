/**
 * Draws other neurons for matched controls. docs/wiring.md specifies the draw ("Matched neurons"), and a test holds a second
 * implementation of those words against this one.
 */
import { sha256Hex } from '#platform';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { labelOf } from '../../engine/connectome/neuron-index.js';
import { positionOf } from '../../engine/connectome/sorted-array.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { Controls } from '../kinds/controls.js';
import { LISTED_AT_MOST } from '../plan/warnings.js';
import { ranksOf } from '../kinds/groups.js';

/** Shares of the neurons that spiked, in percent: each begins a bin of activity. */
const BINS_FROM_PERCENT = [50, 75, 90, 97];
/** The largest distance between two bins of neurons that spiked. Silent neurons are near to no other. */
const MAX_DISTANCE = BINS_FROM_PERCENT.length;
const NAME_LENGTH = 16;

/** Neurons in the place of a group. */
export interface MatchedSet {
  /** Ascending. */
  readonly neurons: Uint32Array;
  /**
   * Labels and bins that too few neurons had: some neurons are from neighbouring bins or have other labels. At most one
   * more than a warning lists, because each control has its own.
   */
  readonly short: readonly string[];
}

export interface NamedSet extends MatchedSet {
  /** Equal for equal sets. */
  readonly name: string;
  /** True if an earlier control has the same neurons. It would count them twice, so it is not compared. */
  readonly isRepeated: boolean;
}

/** The neurons that controls of one baseline can draw. */
export class MatchedSets {
  readonly #labels: readonly Uint32Array[];
  /** The bin of each neuron; all 0 if activity does not matter. */
  readonly #bins: Uint8Array;
  readonly #pools = new Map<string, Uint32Array>();
  /** Text of what a neuron must match. */
  readonly #textOf: (neuron: number) => string;

  /**
   * @param isLeftOut 1 for each neuron that is stimulated, silenced or read
   * @param spikes of each neuron in the baseline
   */
  constructor(
    connectome: Connectome,
    { match = [] }: Controls,
    private readonly isLeftOut: Uint8Array,
    spikes: Uint32Array,
  ) {
    this.#labels = match.flatMap((label) =>
      label === 'activity' ? [] : [ranksOf(connectome, label).ofNeurons],
    );
    this.#bins = match.includes('activity') ? binsOf(spikes) : new Uint8Array(spikes.length);
    const texts = match.map((label) => {
      if (label === 'activity') return (neuron: number) => `activity bin ${this.#bins[neuron]}`;
      const textOf = labelOf(connectome, label);
      return (neuron: number) => textOf(neuron) || `no ${label}`;
    });
    this.#textOf = (neuron) => texts.map((text) => text(neuron)).join(', ') || 'all neurons';
  }

  drawAll(group: Uint32Array, seed: number, controls: number, condition: number): NamedSet[] {
    const names = new Set<string>();
    return Array.from({ length: controls }, (_, at) => {
      const set = this.draw(group, seed, at + 1, condition);
      const name = sha256Hex(String(set.neurons)).slice(0, NAME_LENGTH);
      const isRepeated = names.has(name);
      names.add(name);
      return { ...set, name, isRepeated };
    });
  }

  /** @param control number of the control, from 1  @param condition number of the condition */
  draw(group: Uint32Array, seed: number, control: number, condition: number): MatchedSet {
    const random = new PhiloxSequence(seed, control, PHILOX_STREAM.matched, condition);
    const used = new Set(group);
    const short: string[] = [];
    for (const alike of this.#alikeIn(group)) {
      const { pool, free, isWidened } = this.#poolFor(alike, used);
      if (isWidened && short.length <= LISTED_AT_MOST) short.push(this.#textOf(alike[0]!));
      for (let left = Math.min(alike.length, free); left > 0; left--) {
        let neuron: number;
        do neuron = pool[random.nextBelow(pool.length)]!;
        while (used.has(neuron));
        used.add(neuron);
      }
    }
    return { neurons: Uint32Array.from([...used].slice(group.length)).sort(), short };
  }

  /** Divides a group into neurons of equal labels and bins. */
  #alikeIn(group: Uint32Array): Iterable<readonly number[]> {
    const alike = new Map<string, number[]>();
    for (const neuron of group) getOrInsert(alike, this.#keyOf(neuron), () => []).push(neuron);
    return alike.values();
  }

  /** The narrowest pool with enough unused neurons, or all neurons if there is none. */
  #poolFor([like, ...others]: readonly number[], used: ReadonlySet<number>) {
    const free = (pool: Uint32Array) =>
      [...used].reduce((count, neuron) => count - (positionOf(pool, neuron) < 0 ? 0 : 1), pool.length);
    for (let labels = this.#labels.length; labels >= 0; labels--) {
      for (let distance = 0; distance <= MAX_DISTANCE; distance++) {
        const pool = this.#pool(like!, labels, distance);
        const isWidened = labels < this.#labels.length || distance > 0;
        if (free(pool) > others.length) return { pool, free: free(pool), isWidened };
      }
    }
    const pool = this.#pool(like!, 0, Infinity);
    return { pool, free: free(pool), isWidened: true };
  }

  /** Neurons that share the first labels with a neuron and are not further than the distance in bins, ascending. */
  #pool(like: number, labels: number, distance: number): Uint32Array {
    return getOrInsert(this.#pools, `${labels} ${distance} ${this.#keyOf(like, labels)}`, () => {
      const bin = this.#bins[like]!;
      const isNear = (other: number) =>
        distance === Infinity || (Math.abs(other - bin) <= distance && (other === 0) === (bin === 0));
      const all: number[] = [];
      this.isLeftOut.forEach((isLeftOut, neuron) => {
        if (isLeftOut === 1 || !isNear(this.#bins[neuron]!)) return;
        for (let at = 0; at < labels; at++) if (this.#labels[at]![neuron] !== this.#labels[at]![like]) return;
        all.push(neuron);
      });
      return Uint32Array.from(all);
    });
  }

  #keyOf(neuron: number, labels = this.#labels.length): string {
    return [this.#bins[neuron], ...this.#labels.slice(0, labels).map((ranks) => ranks[neuron])].join(' ');
  }
}

/** Bin 0 is for silent neurons; the others are quantiles of the neurons that spiked. */
function binsOf(spikes: Uint32Array): Uint8Array {
  const ascending = spikes.filter((count) => count > 0).sort();
  const edges = BINS_FROM_PERCENT.map(
    (percent) => ascending[Math.floor((percent * ascending.length) / 100)]!,
  );
  return Uint8Array.from(spikes, (count) =>
    count === 0 ? 0 : edges.reduce((bin, edge) => bin + (count >= edge ? 1 : 0), 1),
  );
}
