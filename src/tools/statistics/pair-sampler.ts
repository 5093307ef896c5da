import type { PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { WeightedCells } from './weighted-cells.js';

interface PairToSample {
  readonly pre: WeightedCells;
  readonly post: WeightedCells;
  readonly connections: number;
  /** Number of distinct cells with a connection, on each side. */
  readonly preCells: number;
  readonly postCells: number;
  /** True if both sides are the same group; no cell may then connect to itself. */
  readonly withoutSelf: boolean;
}

/** Pre and post cell of each connection. */
interface SampledPair {
  readonly pre: readonly number[];
  readonly post: readonly number[];
}

/** Above this fraction of all possible connections, rejection sampling is slow, so the free connections are listed. */
const DENSE = { taken: 2, of: 3 };
/** Attempts to sample a connection before the free ones are listed. */
const MAX_TRIES = 100;

/**
 * Samples which cells of two groups connect.
 *
 * First it samples the participating cells by weight, and gives each of them one connection. Such a connection cannot be a
 * duplicate, because its cell had none before. Then it samples the remaining connections among these cells by weight.
 */
export function samplePair(pair: PairToSample, random: PhiloxSequence): SampledPair {
  const { connections, preCells, postCells, withoutSelf } = pair;
  const [sources, targets] = sampleSides(pair, random);
  // With one cell on one side, every connection needs a new cell on the other.
  if (preCells === 1) return { pre: targets.map(() => sources[0]!), post: targets };
  if (postCells === 1) return { pre: sources, post: sources.map(() => targets[0]!) };
  const forced = Math.max(preCells, postCells);
  const possible = preCells * postCells;
  const pickSource = connections > preCells ? pair.pre.picker(sources) : undefined;
  const pickTarget = connections > postCells ? pair.post.picker(targets) : undefined;
  const keyOf = (source: number, target: number) => source * pair.post.count + target;
  const taken = new Set<number>();
  const pre: number[] = [];
  const post: number[] = [];
  for (let k = 0; k < connections; k++) {
    let source: number;
    let target: number;
    let tries = k < forced || k * DENSE.of < possible * DENSE.taken ? 0 : MAX_TRIES;
    do {
      if (tries++ === MAX_TRIES && k >= forced) {
        const isFree = (a: number, b: number) => !(withoutSelf && a === b) && !taken.has(keyOf(a, b));
        return filled({ pre, post }, pair, [sources, targets], isFree, random);
      }
      source = k < preCells ? sources[k]! : pickSource!(random);
      target = k < postCells ? targets[k]! : pickTarget!(random);
    } while ((withoutSelf && source === target) || (k >= forced && taken.has(keyOf(source, target))));
    if (connections > forced) taken.add(keyOf(source, target));
    pre.push(source);
    post.push(target);
  }
  return { pre, post };
}

/** The participating cells of each side, in an order in which cells at the same position of both lists may connect. */
function sampleSides(
  { pre, post, preCells, postCells, withoutSelf }: PairToSample,
  random: PhiloxSequence,
): [sources: number[], targets: number[]] {
  if (withoutSelf && postCells === 1) {
    const targets = post.sample(postCells, random);
    return [pre.sample(preCells, random, targets[0]), targets];
  }
  const sources = pre.sample(preCells, random);
  const targets = post.sample(postCells, random, withoutSelf && preCells === 1 ? sources[0] : undefined);
  // Each cell occurs once in each list, so both positions are valid after a swap with the next cell.
  for (let k = 0; withoutSelf && k < Math.min(preCells, postCells); k++) {
    const next = (k + 1) % postCells;
    if (sources[k] === targets[k]) [targets[k], targets[next]] = [targets[next]!, targets[k]!];
  }
  return [sources, targets];
}

/** Adds the remaining connections, sampled without weights from a list of all free ones. */
function filled(
  { pre, post }: SampledPair,
  pair: PairToSample,
  [sources, targets]: readonly [number[], number[]],
  isFree: (source: number, target: number) => boolean,
  random: PhiloxSequence,
): SampledPair {
  const lacking = pair.connections - pre.length;
  const freePairs = (from: readonly number[], to: readonly number[]) =>
    from.flatMap((source) =>
      to.filter((target) => isFree(source, target)).map((target) => [source, target] as const),
    );
  let free = freePairs(sources, targets);
  // Within one group, the sampled cells of the two sides may overlap more than the measured ones, so too few are free.
  if (free.length < lacking) free = freePairs([...pair.pre.weights.keys()], [...pair.post.weights.keys()]);
  const added = Array.from({ length: lacking }, () => {
    const index = random.nextBelow(free.length);
    const chosen = free[index]!;
    free[index] = free.at(-1)!;
    free.pop();
    return chosen;
  });
  return {
    pre: [...pre, ...added.map(([source]) => source)],
    post: [...post, ...added.map(([, target]) => target)],
  };
}
