import type { PhiloxSequence } from '../../experiment/philox.js';
import type { WeightedCells } from './weighted-cells.js';

export interface PairToSample {
  readonly pre: WeightedCells;
  readonly post: WeightedCells;
  readonly connections: number;
  /** Different cells that take part on either side. */
  readonly preCells: number;
  readonly postCells: number;
  /** Both sides are the same group, and no cell may be connected to itself. */
  readonly withoutSelf: boolean;
}

/** Above this share of all possible connections the places that are left are listed rather than guessed. */
const DENSE = { taken: 2, of: 3 };
/** Tries to sample a connection before the places that are left are listed. */
const MAXIMUM_TRIES = 100;

/**
 * Samples which cells of two groups connect. The results stand in `pre` and `post`, which are reused.
 *
 * Cells that take part are sampled first, by weight; each is used once, and the rest of the connections are sampled
 * among them by weight. As long as either end of a connection is used for the first time it cannot be double.
 */
export class PairSampler {
  pre = new Uint32Array(1024);
  post = new Uint32Array(1024);
  readonly #sources = new Side();
  readonly #targets = new Side();
  readonly #taken = new Set<number>();

  sample(pair: PairToSample, random: PhiloxSequence): void {
    const { connections, preCells, postCells, withoutSelf } = pair;
    if (this.pre.length < connections) {
      this.pre = new Uint32Array(2 * connections);
      this.post = new Uint32Array(2 * connections);
    }
    this.#sampleSides(pair, random);
    const { cells: sources } = this.#sources;
    const { cells: targets } = this.#targets;
    if (preCells === 1 || postCells === 1) {
      // With one cell on one side every connection uses a new one on the other.
      for (let k = 0; k < connections; k++) {
        this.pre[k] = sources[preCells === 1 ? 0 : k]!;
        this.post[k] = targets[postCells === 1 ? 0 : k]!;
      }
      return;
    }
    const forced = Math.max(preCells, postCells);
    const canDouble = connections > forced;
    if (connections > preCells) this.#sources.layOutLots(pair.pre.weights);
    if (connections > postCells) this.#targets.layOutLots(pair.post.weights);
    const places = preCells * postCells;
    this.#taken.clear();
    for (let k = 0; k < connections; k++) {
      let source: number;
      let target: number;
      let tries = k < forced || k * DENSE.of < places * DENSE.taken ? 0 : MAXIMUM_TRIES;
      do {
        if (tries++ === MAXIMUM_TRIES && k >= forced) {
          this.#fill(k, pair, random);
          return;
        }
        source = k < preCells ? sources[k]! : this.#sources.pick(random);
        target = k < postCells ? targets[k]! : this.#targets.pick(random);
      } while ((withoutSelf && source === target) || (k >= forced && this.#isTaken(pair, source, target)));
      if (canDouble) this.#taken.add(keyOf(pair, source, target));
      this.pre[k] = source;
      this.post[k] = target;
    }
  }

  #isTaken(pair: PairToSample, source: number, target: number): boolean {
    return this.#taken.has(keyOf(pair, source, target));
  }

  /** The cells of either side that take part, so that those at the same place of both lists may connect. */
  #sampleSides({ pre, post, preCells, postCells, withoutSelf }: PairToSample, random: PhiloxSequence): void {
    const sources = this.#sources;
    const targets = this.#targets;
    if (withoutSelf && postCells === 1) {
      targets.sample(post, postCells, random);
      sources.sample(pre, preCells, random, targets.cells[0]!);
      return;
    }
    sources.sample(pre, preCells, random);
    if (withoutSelf && preCells === 1) {
      targets.sample(post, postCells, random, sources.cells[0]!);
      return;
    }
    targets.sample(post, postCells, random);
    if (!withoutSelf) return;
    // Each cell stands once in either list, so after a swap with the next both places are in order.
    for (let k = 0; k < Math.min(preCells, postCells); k++) {
      if (sources.cells[k] === targets.cells[k]) targets.swap(k, (k + 1) % postCells);
    }
  }

  /** The connections from number `from` on, from a list of all places that are left, without weights. */
  #fill(from: number, pair: PairToSample, random: PhiloxSequence): void {
    const freePlaces = (sources: Iterable<number>, targets: readonly number[]): [number, number][] => {
      const free: [number, number][] = [];
      for (const source of sources) {
        for (const target of targets) {
          if (!(pair.withoutSelf && source === target) && !this.#isTaken(pair, source, target)) {
            free.push([source, target]);
          }
        }
      }
      return free;
    };
    let places = freePlaces(this.#sources.sampled(), this.#targets.sampled());
    // Within one group the cells sampled for both sides may overlap more than the measured ones did.
    if (places.length < pair.connections - from) places = freePlaces(allOf(pair.pre), allOf(pair.post));
    for (let k = from; k < pair.connections; k++) {
      const place = random.nextBelow(places.length);
      [this.pre[k], this.post[k]] = places[place]!;
      places[place] = places[places.length - 1]!;
      places.pop();
    }
  }
}

function keyOf({ post }: PairToSample, source: number, target: number): number {
  return source * post.count + target;
}

function allOf(cells: WeightedCells): number[] {
  return Array.from({ length: cells.count }, (_, cell) => cell);
}

/** The cells of one side that take part, in memory that is reused. */
class Side {
  cells = new Uint32Array(256);
  #count = 0;
  /** lots[k] is the sum of the weights of the first k + 1 of them. */
  #lots = new Float64Array(256);

  sample(from: WeightedCells, count: number, random: PhiloxSequence, except?: number): void {
    if (this.cells.length < count) {
      this.cells = new Uint32Array(2 * count);
      this.#lots = new Float64Array(2 * count);
    }
    this.#count = count;
    from.sample(this.cells, count, random, except);
  }

  sampled(): number[] {
    return [...this.cells.subarray(0, this.#count)];
  }

  swap(a: number, b: number): void {
    const cell = this.cells[a]!;
    this.cells[a] = this.cells[b]!;
    this.cells[b] = cell;
  }

  layOutLots(weights: Uint32Array): void {
    let sum = 0;
    for (let k = 0; k < this.#count; k++) {
      sum += weights[this.cells[k]!]!;
      this.#lots[k] = sum;
    }
  }

  /** One of the cells, in proportion to its weight. */
  pick(random: PhiloxSequence): number {
    const lot = random.nextBelow(this.#lots[this.#count - 1]!);
    let low = 0;
    let high = this.#count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#lots[middle]! > lot) high = middle;
      else low = middle + 1;
    }
    return this.cells[low]!;
  }
}
