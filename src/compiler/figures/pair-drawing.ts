import type { PhiloxSequence } from '../../engine/philox.js';
import type { WeightedCells } from './weighted-cells.js';

export interface PairToDraw {
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
/** So often a connection is drawn anew before the places that are left are listed. */
const MAXIMUM_TRIES = 100;

/**
 * Draws which cells of two groups connect. The results stand in `pre` and `post`, which are reused.
 *
 * Cells that take part are drawn first, by weight; each is used once, and the rest of the connections are drawn
 * among them by weight. As long as either end of a connection is used for the first time it cannot be double.
 */
export class PairDrawing {
  pre = new Uint32Array(1024);
  post = new Uint32Array(1024);

  draw(pair: PairToDraw, random: PhiloxSequence): void {
    const { connections, withoutSelf } = pair;
    if (this.pre.length < connections) {
      this.pre = new Uint32Array(2 * connections);
      this.post = new Uint32Array(2 * connections);
    }
    const [sources, targets] = drawSides(pair, random);
    if (sources.length === 1 || targets.length === 1) {
      // With one cell on one side every connection uses a new one on the other.
      for (let k = 0; k < connections; k++) {
        this.pre[k] = sources[sources.length === 1 ? 0 : k]!;
        this.post[k] = targets[targets.length === 1 ? 0 : k]!;
      }
      return;
    }
    const taken = new Set<number>();
    const keyOf = (source: number, target: number): number => source * pair.post.count + target;
    const isFree = (source: number, target: number): boolean =>
      !(withoutSelf && source === target) && !taken.has(keyOf(source, target));
    const sourceLots = cumulative(sources, pair.pre.weights);
    const targetLots = cumulative(targets, pair.post.weights);
    const forced = Math.max(sources.length, targets.length);
    const places = sources.length * targets.length;
    for (let k = 0; k < connections; k++) {
      let source: number;
      let target: number;
      let tries = k < forced || k * DENSE.of < places * DENSE.taken ? 0 : MAXIMUM_TRIES;
      do {
        if (tries++ === MAXIMUM_TRIES && k >= forced) {
          this.#fill(k, pair, sources, targets, isFree, random);
          return;
        }
        source = k < sources.length ? sources[k]! : pick(sources, sourceLots, random);
        target = k < targets.length ? targets[k]! : pick(targets, targetLots, random);
      } while (!isFree(source, target));
      taken.add(keyOf(source, target));
      this.pre[k] = source;
      this.post[k] = target;
    }
  }

  /** The connections from number `from` on, in a list of all places that are left, without weights. */
  #fill(
    from: number,
    { connections, pre, post }: PairToDraw,
    sources: Uint32Array,
    targets: Uint32Array,
    isFree: (source: number, target: number) => boolean,
    random: PhiloxSequence,
  ): void {
    const freePlaces = (sources: Uint32Array, targets: Uint32Array): [number, number][] => {
      const places: [number, number][] = [];
      for (const source of sources) {
        for (const target of targets) {
          if (isFree(source, target)) places.push([source, target]);
        }
      }
      return places;
    };
    let places = freePlaces(sources, targets);
    // Within one group the cells drawn for both sides may overlap more than the measured ones did.
    if (places.length < connections - from) places = freePlaces(allOf(pre), allOf(post));
    for (let k = from; k < connections; k++) {
      const place = random.nextBelow(places.length);
      [this.pre[k], this.post[k]] = places[place]!;
      places[place] = places[places.length - 1]!;
      places.pop();
    }
  }
}

/** The cells of either side that take part, so that those at the same place of both lists may connect. */
function drawSides(pair: PairToDraw, random: PhiloxSequence): [Uint32Array, Uint32Array] {
  const { pre, post, preCells, postCells, withoutSelf } = pair;
  if (withoutSelf && postCells === 1) {
    const targets = post.draw(postCells, random);
    return [pre.draw(preCells, random, targets[0]!), targets];
  }
  const sources = pre.draw(preCells, random);
  if (withoutSelf && preCells === 1) return [sources, post.draw(postCells, random, sources[0]!)];
  const targets = post.draw(postCells, random);
  if (withoutSelf) {
    // Each cell stands once in either list, so after a swap with the next both places are in order.
    for (let k = 0; k < Math.min(preCells, postCells); k++) {
      if (sources[k] === targets[k]) {
        const next = (k + 1) % postCells;
        [targets[k], targets[next]] = [targets[next]!, targets[k]!];
      }
    }
  }
  return [sources, targets];
}

function allOf(cells: WeightedCells): Uint32Array {
  return Uint32Array.from({ length: cells.count }, (_, cell) => cell);
}

function cumulative(cells: Uint32Array, weights: Uint32Array): Float64Array {
  const lots = new Float64Array(cells.length);
  let sum = 0;
  cells.forEach((cell, k) => (lots[k] = sum += weights[cell]!));
  return lots;
}

/** One of the cells, in proportion to its weight. */
function pick(cells: Uint32Array, lots: Float64Array, random: PhiloxSequence): number {
  if (cells.length === 1) return cells[0]!;
  const lot = random.nextBelow(lots[lots.length - 1]!);
  let low = 0;
  let high = lots.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lots[middle]! > lot) high = middle;
    else low = middle + 1;
  }
  return cells[low]!;
}
