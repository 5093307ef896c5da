import type { PhiloxSequence } from '../../stimulus/philox.js';
import type { WeightedCells } from './weighted-cells.js';

export interface PairToSample {
  readonly pre: WeightedCells;
  readonly post: WeightedCells;
  readonly connections: number;
  /** Numbers of different cells with a connection, on either side. */
  readonly preCells: number;
  readonly postCells: number;
  /** Both sides are the same group, and no cell may be connected to itself. */
  readonly withoutSelf: boolean;
}

/** Above this fraction of all possible connections, the free ones are listed instead of sampled by trial. */
const DENSE = { taken: 2, of: 3 };
/** Attempts to sample a connection before the free ones are listed. */
const MAXIMUM_TRIES = 100;

/**
 * Samples which cells of two groups connect. The results are in `pre` and `post`, which are reused.
 *
 * The participating cells are sampled first, by weight. Each gets one connection; the remaining connections are sampled
 * among these cells by weight. A connection with a cell that had none so far cannot be a duplicate.
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
      } while (
        (withoutSelf && source === target) ||
        (k >= forced && this.#taken.has(keyOf(pair, source, target)))
      );
      if (canDouble) this.#taken.add(keyOf(pair, source, target));
      this.pre[k] = source;
      this.post[k] = target;
    }
  }

  /** The participating cells of either side, ordered so that cells at the same position of both lists may connect. */
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
    // Each cell occurs once in either list, so after a swap with the next cell both positions are valid.
    for (let k = 0; k < Math.min(preCells, postCells); k++) {
      if (sources.cells[k] === targets.cells[k]) targets.swap(k, (k + 1) % postCells);
    }
  }

  /** The connections from number `from` on, sampled without weights from a list of all free ones. */
  #fill(from: number, pair: PairToSample, random: PhiloxSequence): void {
    const freePlaces = (sources: Iterable<number>, targets: readonly number[]): [number, number][] => {
      const free: [number, number][] = [];
      for (const source of sources) {
        for (const target of targets) {
          if (!(pair.withoutSelf && source === target) && !this.#taken.has(keyOf(pair, source, target))) {
            free.push([source, target]);
          }
        }
      }
      return free;
    };
    let places = freePlaces(this.#sources.sampled(), this.#targets.sampled());
    // Within one group, the cells sampled for the two sides may overlap more than the measured ones.
    if (places.length < pair.connections - from)
      places = freePlaces([...pair.pre.weights.keys()], [...pair.post.weights.keys()]);
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

/** The participating cells of one side, in memory that is reused. */
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
