import fc from 'fast-check';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/stimulus/philox.js';
import { samplePair } from './pair-sampler.js';
import { WeightedCells } from './weighted-cells.js';

const SEED = 783;
const weights = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 });

describe(`samplePair (seed ${SEED})`, () => {
  it('samples as many different connections between as many different cells as asked for', () => {
    const pair = fc
      .record({ pre: weights, post: weights, share: fc.nat(1000), key: fc.nat() })
      .chain((sampled) =>
        // Any possible pair: numbers of participating cells, then a number of connections that fits them.
        fc
          .record({
            preCells: fc.integer({ min: 1, max: sampled.pre.length }),
            postCells: fc.integer({ min: 1, max: sampled.post.length }),
          })
          .map((cells) => ({ ...sampled, ...cells })),
      );
    fc.assert(
      fc.property(pair, ({ pre, post, preCells, postCells, share, key }) => {
        const least = Math.max(preCells, postCells);
        const connections = least + Math.floor(((preCells * postCells - least) * share) / 1000);
        const sampled = samplePair(
          {
            pre: new WeightedCells(Uint32Array.from(pre)),
            post: new WeightedCells(Uint32Array.from(post)),
            connections,
            preCells,
            postCells,
            withoutSelf: false,
          },
          new PhiloxSequence(key, 0, PHILOX_STREAM.synthesis),
        );
        const sources = sampled.pre;
        const targets = sampled.post;
        expect(new Set(sources.map((source, k) => `${source} ${targets[k]!}`)).size).toBe(connections);
        expect(new Set(sources).size).toBe(preCells);
        expect(new Set(targets).size).toBe(postCells);
        expect(Math.max(...sources)).toBeLessThan(pre.length);
        expect(Math.max(...targets)).toBeLessThan(post.length);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('finds room within one group without connecting a cell to itself, up to the last place', () => {
    const group = fc
      .record({
        cells: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 9 }),
        key: fc.nat(),
      })
      .chain(({ cells, key }) =>
        fc
          .array(
            fc.tuple(fc.nat(cells.length - 1), fc.nat(cells.length - 1)).filter(([a, b]) => a !== b),
            { minLength: 1, maxLength: cells.length * (cells.length - 1) },
          )
          .map((sampled) => ({ cells, key, measured: [...new Set(sampled.map(String))] })),
      );
    fc.assert(
      fc.property(group, ({ cells, key, measured }) => {
        const side = (place: number) => new Set(measured.map((pair) => pair.split(',')[place])).size;
        const pre = new WeightedCells(Uint32Array.from(cells));
        const post = new WeightedCells(Uint32Array.from(cells));
        const connections = measured.length;
        const sampled = samplePair(
          { pre, post, connections, preCells: side(0), postCells: side(1), withoutSelf: true },
          new PhiloxSequence(key, 1, PHILOX_STREAM.synthesis),
        );
        const pairs = Array.from(
          { length: connections },
          (_, k) => [sampled.pre[k]!, sampled.post[k]!] as const,
        );
        expect(new Set(pairs.map(String)).size).toBe(connections);
        for (const [source, target] of pairs) expect(source).not.toBe(target);
      }),
      { seed: SEED, numRuns: 1000 },
    );
  });
});
