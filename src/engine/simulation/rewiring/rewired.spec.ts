import fc from 'fast-check';
import { MAX_SYNAPSES_PER_CONNECTION, type Wiring } from '../../connectome/connectome.js';
import { compileRewiringKernel } from '../../../workers/pool/kernel-file.js';
import { philox4x32 } from '../../stimulus/philox.js';
import { MAX_JITTER, type Rewiring } from '../../stimulus/protocol.js';
import { CompiledRewiring } from './compiled-rewiring.js';
import { jitterFactors, neuronsById, type Rewirable, rewired } from './rewired.js';

type Connection = readonly [pre: number, post: number, synapses: number];

interface Network {
  readonly ids: readonly string[];
  readonly signs: readonly number[];
  readonly superClasses: readonly string[];
  /** In 255ths, of excitation and inhibition; absent if the network has none. */
  readonly probabilities?: readonly (readonly [number, number])[];
  /** Each pair once. */
  readonly connections: readonly Connection[];
}

function rewirable({ ids, signs, superClasses, probabilities, connections }: Network): Rewirable {
  const names = [...new Set(superClasses)];
  const sorted = connections.toSorted(([pre, post], [otherPre, other]) => pre - otherPre || post - other);
  return {
    neuronCount: ids.length,
    connectionCount: sorted.length,
    rowStart: Uint32Array.from(
      { length: ids.length + 1 },
      (_, i) => sorted.filter(([pre]) => pre < i).length,
    ),
    targets: Uint32Array.from(sorted, ([, post]) => post),
    synapseCounts: Uint16Array.from(sorted, ([, , synapses]) => synapses),
    signs: Int8Array.from(signs),
    ...(probabilities && { signProbabilities: Uint8Array.from(probabilities.flat()) }),
    neuronId: (i) => ids[i]!,
    classIndices: Uint16Array.from(superClasses, (name) => names.indexOf(name)),
    metadata: { classes: names.map((superClass) => ({ superClass, class: '', subClass: '' })) },
  };
}

function connectionsOf({ neuronCount, rowStart, targets, synapseCounts }: Wiring): Connection[] {
  return Array.from({ length: neuronCount }, (_, pre) =>
    Array.from(targets.subarray(rowStart[pre], rowStart[pre + 1]), (post, at): Connection => [
      pre,
      post,
      synapseCounts[rowStart[pre]! + at]!,
    ]),
  ).flat();
}

function sorted(connections: readonly Connection[], of: (each: Connection) => unknown): string[] {
  return connections.map((each) => JSON.stringify(of(each))).sort();
}

/** Networks from empty ones to nearly complete ones, with connections from a neuron to itself. */
const networks: fc.Arbitrary<Network> = fc.integer({ min: 1, max: 14 }).chain((neuronCount) => {
  const each = <T>(value: fc.Arbitrary<T>) =>
    fc.array(value, { minLength: neuronCount, maxLength: neuronCount });
  const neuron = fc.nat(neuronCount - 1);
  const synapses = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 8191 }));
  return fc.record({
    ids: fc.uniqueArray(fc.oneof(fc.nat(2000).map(String), fc.constantFrom('b', 'a', 'aa')), {
      minLength: neuronCount,
      maxLength: neuronCount,
    }),
    signs: each(fc.constantFrom(1, 1, -1, 0)),
    superClasses: each(fc.constantFrom('central', 'optic', '')),
    probabilities: each(
      fc.nat(255).chain((excites) => fc.tuple(fc.constant(excites), fc.nat(255 - excites))),
    ),
    connections: fc.uniqueArray(fc.tuple(neuron, neuron, synapses), {
      maxLength: neuronCount ** 2,
      selector: ([pre, post]) => pre * neuronCount + post,
      size: 'max',
    }),
  });
});

const rewirings: fc.Arbitrary<Rewiring> = fc.record(
  {
    minimumSynapses: fc.integer({ min: 1, max: 9 }),
    shuffle: fc.constantFrom('weights', 'targets', 'targets_within_super_class', 'targets_and_weights'),
    jitter: fc.oneof(fc.constantFrom(0, 0.25, MAX_JITTER), fc.double({ min: 0, max: 2, noNaN: true })),
    counts: fc.constant('resampled'),
    signs: fc.constant('sampled'),
    seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  },
  { requiredKeys: ['seed'] },
);

describe('CompiledRewiring', () => {
  const module = compileRewiringKernel();

  it('rewires as the oracle does, bit for bit, whatever it did before', () => {
    fc.assert(
      fc.property(networks, fc.array(rewirings, { minLength: 1, maxLength: 4 }), (network, all) => {
        const rewiring = new CompiledRewiring(module, rewirable(network));
        for (const each of all)
          expect(rewiring.rewire(each)).toEqual(plain(rewired(rewirable(network), each)));
      }),
      { numRuns: 400 },
    );
  });
});

/** Only the wiring of a network. */
function plain({ neuronCount, connectionCount, rowStart, targets, synapseCounts, signs }: Wiring): Wiring {
  return { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs };
}

describe('rewired', () => {
  it('gives a valid wiring, with the same signs unless they are sampled, and the same again for the same seed', () => {
    fc.assert(
      fc.property(networks, rewirings, (given, rewiring) => {
        const network = rewirable(given);
        const wiring = rewired(network, rewiring);
        expect(rewired(network, rewiring)).toEqual(wiring);
        if (rewiring.signs === undefined) expect(wiring.signs).toEqual(network.signs);
        expect(wiring.rowStart.at(-1)).toBe(wiring.connectionCount);
        const connections = connectionsOf(wiring);
        expect(connections).toHaveLength(wiring.connectionCount);
        connections.forEach(([pre, post, synapses], at) => {
          const [previousPre, previousPost] = connections[at - 1] ?? [-1, -1];
          expect(pre > previousPre || post > previousPost!).toBe(true);
          expect(synapses).toBeGreaterThanOrEqual(1);
          expect(synapses).toBeLessThanOrEqual(MAX_SYNAPSES_PER_CONNECTION);
        });
      }),
    );
  });

  it('leaves connections of fewer synapses out, and all others as they are', () => {
    fc.assert(
      fc.property(networks, fc.integer({ min: 1, max: 13 }), (given, minimumSynapses) => {
        const kept = connectionsOf(rewired(rewirable(given), { minimumSynapses, seed: 1 }));
        expect(kept).toEqual(
          connectionsOf(rewirable(given)).filter(([, , synapses]) => synapses >= minimumSynapses),
        );
      }),
    );
  });

  it('exchanges weights among excitatory and among inhibitory connections, and pairs stay', () => {
    fc.assert(
      fc.property(networks, fc.nat(), (given, seed) => {
        const [before, after] = beforeAndAfter(given, { shuffle: 'weights', seed });
        expect(after.map(([pre, post]) => [pre, post])).toEqual(before.map(([pre, post]) => [pre, post]));
        const weights = ([pre, , synapses]: Connection) => [given.signs[pre], synapses];
        expect(sorted(after, weights)).toEqual(sorted(before, weights));
        const ofSignZero = (all: Connection[]) => all.filter(([pre]) => given.signs[pre] === 0);
        expect(ofSignZero(after)).toEqual(ofSignZero(before));
      }),
    );
  });

  it.each<[Rewiring['shuffle'], (network: Network) => ((each: Connection) => unknown)[]]>([
    ['targets', () => [([pre, , synapses]) => [pre, synapses], ([, post]) => post]],
    [
      'targets_within_super_class',
      ({ superClasses: of }) => [
        ([pre, post, synapses]) => [pre, synapses, of[post]],
        ([pre, post]) => [of[pre], post],
      ],
    ],
    ['targets_and_weights', ({ signs }) => [([pre]) => pre, ([pre, ...input]) => [signs[pre], input]]],
  ])('%s: keeps outputs and inputs of each neuron, and adds no pair of one neuron', (shuffle, keptOf) => {
    fc.assert(
      fc.property(networks, fc.nat(), (given, seed) => {
        const [before, after] = beforeAndAfter(given, { shuffle, seed });
        for (const kept of keptOf(given)) expect(sorted(after, kept)).toEqual(sorted(before, kept));
        const own = (all: readonly Connection[]) => all.filter(([pre, post]) => pre === post).length;
        expect(own(after)).toBeLessThanOrEqual(own(before));
      }),
    );
  });

  it('deals out weights in every order alike', () => {
    const given: Network = {
      ids: ['1', '2', '3', '4'],
      signs: [1, 1, 1, 1],
      superClasses: ['', '', '', ''],
      connections: [0, 1, 2].map((pre) => [pre, 3, 1 + pre]),
    };
    const counts = new Map<string, number>();
    const seeds = 6000;
    for (let seed = 0; seed < seeds; seed++) {
      const [, after] = beforeAndAfter(given, { shuffle: 'weights', seed });
      const dealt = after.map(([, , synapses]) => synapses).join('');
      counts.set(dealt, (counts.get(dealt) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['123', '132', '213', '231', '312', '321']);
    const expected = seeds / 6;
    const chiSquare = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // Five degrees of freedom: 20.5 is the 0.1 % point.
    expect(chiSquare).toBeLessThan(20.5);
  });

  it('exchanges in a network that is too dense to be dealt out: each neuron reaches all others but one', () => {
    const count = 12;
    const neurons = Array.from({ length: count }, (_, i) => i);
    const dense: Network = {
      ids: neurons.map(String),
      signs: neurons.map(() => 1),
      superClasses: neurons.map(() => ''),
      connections: neurons.flatMap((pre) =>
        neurons.flatMap((post): Connection[] =>
          post === pre || post === (pre + 1) % count ? [] : [[pre, post, 1 + pre]],
        ),
      ),
    };
    const [before, after] = beforeAndAfter(dense, { shuffle: 'targets', seed: 1 });
    expect(after).not.toEqual(before);
  });

  it('does not depend on the order of neurons in a file', () => {
    fc.assert(
      fc.property(networks, rewirings, fc.infiniteStream(fc.nat()), (given, rewiring, numbers) => {
        const keys = given.ids.map(() => numbers.next().value!);
        const order = [...given.ids.keys()].sort((a, b) => keys[a]! - keys[b]! || a - b);
        const other: Network = {
          ids: order.map((i) => given.ids[i]!),
          signs: order.map((i) => given.signs[i]!),
          superClasses: order.map((i) => given.superClasses[i]!),
          probabilities: order.map((i) => given.probabilities![i]!),
          connections: given.connections.map(([pre, post, n]) => [
            order.indexOf(pre),
            order.indexOf(post),
            n,
          ]),
        };
        const byId = ({ ids }: Network, wiring: Wiring) =>
          sorted(connectionsOf(wiring), ([pre, post, synapses]) => [
            ids[pre],
            wiring.signs[pre],
            ids[post],
            synapses,
          ]);
        expect(byId(other, rewired(rewirable(other), rewiring))).toEqual(
          byId(given, rewired(rewirable(given), rewiring)),
        );
      }),
    );
  });

  it('jitters the synapses of a pair alike, whatever else is rewired', () => {
    const ids = ['11', '7', '300', '5'];
    const given: Network = {
      ids,
      signs: [1, -1, 1, 1],
      superClasses: ['', '', '', ''],
      connections: [
        [0, 1, 1000],
        [1, 2, 1000],
        [2, 0, 1000],
        [2, 3, 3],
      ],
    };
    const all = connectionsOf(rewired(rewirable(given), { jitter: 0.5, seed: 9 }));
    const strong = connectionsOf(rewired(rewirable(given), { jitter: 0.5, minimumSynapses: 5, seed: 9 }));
    expect(strong).toEqual(all.slice(0, 3));
    expect(strong.map(([, , synapses]) => synapses)).not.toContain(1000);
  });
});

describe('sampled signs', () => {
  const given: Network = {
    ids: ['300', '5', '20', '4', '1000'],
    signs: [1, 1, -1, 0, 1],
    superClasses: ['', '', '', '', ''],
    probabilities: [
      [255, 0],
      [0, 255],
      [128, 127],
      [51, 102],
      [0, 0],
    ],
    connections: [0, 1, 2, 3, 4].map((pre) => [pre, (pre + 1) % 5, 1 + pre]),
  };

  it('are those that docs/wiring.md defines, neuron by neuron', () => {
    // Ids 4, 5, 20, 300 and 1000 have the numbers 0 to 4.
    const numbers = [3, 1, 2, 0, 4];
    const block = new Uint32Array(4);
    for (let seed = 0; seed < 100; seed++) {
      const expected = given.probabilities!.map(([excites, inhibits], neuron) => {
        philox4x32(block, numbers[neuron]!, 0, 0, 7, seed, 0);
        // In whole numbers: 255 w / 2^32 without its fraction.
        const u = Number((255n * BigInt(block[0]!)) >> 32n);
        if (u < excites) return 1;
        return u < excites + inhibits ? -1 : 0;
      });
      const { signs, ...wiring } = rewired(rewirable(given), { signs: 'sampled', seed });
      expect([...signs]).toEqual(expected);
      expect(connectionsOf({ ...wiring, signs })).toEqual(given.connections);
      const shuffled = rewired(rewirable(given), { signs: 'sampled', shuffle: 'targets', jitter: 1, seed });
      expect([...shuffled.signs]).toEqual(expected);
    }
  });

  it('have the stated probabilities over 1,000 seeds', () => {
    const seeds = 1000;
    const counts = given.ids.map(() => new Map([1, -1, 0].map((sign) => [sign, 0])));
    for (let seed = 0; seed < seeds; seed++) {
      const { signs } = rewired(rewirable(given), { signs: 'sampled', seed });
      signs.forEach((sign, neuron) => counts[neuron]!.set(sign, 1 + counts[neuron]!.get(sign)!));
    }
    given.probabilities!.forEach(([excites, inhibits], neuron) => {
      const chances: [number, number][] = [
        [1, excites / 255],
        [-1, inhibits / 255],
        [0, 1 - (excites + inhibits) / 255],
      ];
      for (const [sign, p] of chances) {
        const distance = Math.abs(counts[neuron]!.get(sign)! - seeds * p);
        // Four standard deviations of a binomial count: one in 16,000.
        expect(distance).toBeLessThanOrEqual(4 * Math.sqrt(seeds * p * (1 - p)) + 1e-9);
      }
    });
  });
});

describe('resampled counts', () => {
  const given: Network = {
    ids: ['30', '5', '20'],
    signs: [1, -1, 0],
    superClasses: ['', '', ''],
    connections: [
      [0, 1, 5],
      [1, 0, 40],
      [1, 2, 8000],
      [2, 2, 1],
    ],
  };
  const K = 10;
  /** The probability of each count up to a last one, by the words of docs/wiring.md. */
  const chancesOf = (mean: number, last: number) => {
    const chances = [1];
    for (let times = 0; times < K; times++) chances[0]! *= K / (K + mean);
    for (let x = 0; x < last; x++) chances.push(chances[x]! * (((K + x) * mean) / ((x + 1) * (K + mean))));
    return chances;
  };
  const resampled = (seed: number, more = {}) =>
    connectionsOf(rewired(rewirable(given), { counts: 'resampled', seed, ...more }));

  it('are those that docs/wiring.md defines, worked out for some', () => {
    // (10 / 15)^10, then times 10 x 5 / 15.
    expect(chancesOf(5, 1)).toEqual([expect.closeTo(0.0173415, 7), expect.closeTo(0.0578051, 7)]);
    const numbers = [2, 0, 1];
    const block = new Uint32Array(4);
    for (let seed = 0; seed < 200; seed++) {
      const expected = given.connections.map(([source, target, mean]) => {
        philox4x32(block, numbers[source]!, numbers[target]!, 0, 8, seed, 0);
        const u = (block[0]! + 0.5) / 2 ** 32;
        let x = 0;
        let below = 0;
        for (const chance of chancesOf(mean, 8191)) {
          below += chance;
          if (below > u || below >= 1 - 2 ** -32) break;
          x++;
        }
        return [source, target, Math.max(1, Math.min(8191, x))];
      });
      expect(resampled(seed)).toEqual(expected);
      const sameSigns = rewired(rewirable(given), { counts: 'resampled', seed }).signs;
      expect([...sameSigns]).toEqual(given.signs);
    }
  });

  it('have the stated distribution over 1,000 seeds', () => {
    const seeds = 1000;
    const counts = Array.from({ length: seeds }, (_, seed) =>
      resampled(seed).map(([, , synapses]) => synapses),
    );
    for (const [at, mean] of [5, 40].entries()) {
      const found = counts.map((each) => each[at]!);
      const average = found.reduce((sum, count) => sum + count, 0) / seeds;
      const sd = Math.sqrt(mean + mean ** 2 / K);
      // Four standard errors; a count of 0 becomes 1.
      expect(Math.abs(average - mean)).toBeLessThan((4 * sd) / Math.sqrt(seeds) + 0.02);
      const chances = chancesOf(mean, 200);
      for (const limit of [mean / 2, mean, 1.5 * mean]) {
        const p = chances.reduce((sum, chance, x) => sum + (x <= limit ? chance : 0), 0);
        const below = found.filter((count) => count <= limit).length;
        expect(Math.abs(below - seeds * p)).toBeLessThan(4 * Math.sqrt(seeds * p * (1 - p)));
      }
    }
    expect(counts.every((each) => each.every((count) => count >= 1 && count <= 8191))).toBe(true);
    expect(counts.some((each) => each[2] === 8191)).toBe(true);
  });
});

function beforeAndAfter(given: Network, rewiring: Rewiring): [before: Connection[], after: Connection[]] {
  const network = rewirable(given);
  return [connectionsOf(network), connectionsOf(rewired(network, rewiring))];
}

describe('neuronsById', () => {
  it('puts ids in the order of their numbers', () => {
    const ids = ['100', '20', '3', '720575940628908548', '720575940628908547'];
    expect([...neuronsById({ neuronCount: 5, neuronId: (i) => ids[i]! })]).toEqual([2, 1, 0, 4, 3]);
  });
});

describe('jitterFactors', () => {
  /** The probability of each sum of 16 bytes, by convolution. */
  function chances(): number[] {
    let sums = [1];
    for (let byte = 0; byte < 16; byte++) {
      const next = new Array<number>(sums.length + 255).fill(0);
      sums.forEach((chance, sum) => {
        for (let value = 0; value < 256; value++) next[sum + value]! += chance / 256;
      });
      sums = next;
    }
    return sums;
  }

  it.each([0.1, 0.25, 1, MAX_JITTER])(
    'has the logarithms of a normal variate, and the mean 1: %d',
    (jitter) => {
      const factors = jitterFactors(jitter);
      const chance = chances();
      expect(factors).toHaveLength(chance.length);
      const mean = (of: (factor: number) => number) =>
        chance.reduce((sum, each, at) => sum + each * of(factors[at]!), 0);
      const centre = mean(Math.log);
      expect(centre).toBeCloseTo(-(jitter ** 2) / 2, 9);
      expect(mean((factor) => (Math.log(factor) - centre) ** 2)).toBeCloseTo(jitter ** 2, 9);
      // A normal variate has 3, so large factors are a little rarer here.
      expect(mean((factor) => (Math.log(factor) - centre) ** 4) / jitter ** 4).toBeCloseTo(2.925, 3);
      expect(Math.abs(mean((factor) => factor) - 1)).toBeLessThan(0.004 * jitter ** 4 + 1e-9);
    },
  );
});
