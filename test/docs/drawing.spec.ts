/**
 * A second drawer, written only from docs/guide/inputs.md, and compared with the one of the service.
 * It shares no code with it: Philox4x32-10 is that of Salmon et al. 2011, in big integers.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { drawInputEvents } from '../../src/engine/stimulus/input-events.js';
import type { Train } from '../../src/engine/stimulus/protocol.js';

type Words = [number, number, number, number];

function philox(counter: Words, key: [number, number]): Words {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  const low = (x: bigint) => x & 0xffffffffn;
  for (let round = 0; round < 10; round++) {
    const [a, b] = [c0 * 0xd2511f53n, c2 * 0xcd9e8d57n];
    [c0, c1, c2, c3] = [(b >> 32n) ^ c1 ^ k0, low(b), (a >> 32n) ^ c3 ^ k1, low(a)];
    [k0, k1] = [low(k0 + 0x9e3779b9n), low(k1 + 0xbb67ae85n)];
  }
  return [c0, c1, c2, c3].map(Number) as Words;
}

const RATES = { poisson: [0, 31.25, 62.5, 125, 250, 500], background: [0, 0.5, 2, 8, 40] };
const T = 0.0001;

/** 2^32 (1 - (1 - c)^k) for k = 1 to 50,000. */
const limits = new Map<string, number[]>();
function limitsOf(a: number, b: number): number[] {
  const known = limits.get(`${a} ${b}`);
  if (known) return known;
  const c = ((b - a) * T) / (1 - a * T);
  const own: number[] = [];
  for (let power = 1 - c, k = 1; k <= 50_000; k++, power *= 1 - c) own.push(2 ** 32 * (1 - power));
  limits.set(`${a} ${b}`, own);
  return own;
}

interface Asked {
  readonly kind: keyof typeof RATES;
  readonly name: string;
  readonly rates: readonly { readonly from: number; readonly hz: number }[];
  readonly seed: number;
  readonly trial: number;
  readonly id: string;
}

/** Steps of the events of one neuron before a step of the trial. */
function eventsOf({ kind, name, rates, seed, trial, id }: Asked, end: number): number[] {
  const bits = /^\d+$/.test(id)
    ? BigInt(id)
    : BigInt(`0x${createHash('sha256').update(id).digest('hex').slice(0, 16)}`);
  const ofName = parseInt(createHash('sha256').update(name).digest('hex').slice(0, 8), 16);
  const word = kind === 'background' ? 4 : (ofName | 0x80000000) >>> 0;
  const rateAt = (step: number) => rates.findLast(({ from }) => from <= step)!.hz;
  const events = new Set<number>();
  for (let n = 0, first = 0; first < end; n++) {
    const last = n === 0 ? 50_000 : first + 10_000;
    for (let layer = 0; layer + 1 < RATES[kind].length; layer++) {
      const [a, b] = [RATES[kind][layer]!, RATES[kind][layer + 1]!];
      const own = limitsOf(a, b);
      let step = first - 1;
      for (let block = 2 ** 29 * layer + 2 ** 15 * n; step < last; block++) {
        const words = philox([block, Number(bits & 0xffffffffn), Number(bits >> 32n), word], [seed, trial]);
        for (const half of [0, 2] as const) {
          const k = own.findIndex((limit) => words[half] < limit) + 1;
          step = k === 0 ? Infinity : step + k;
          if (step < last && words[half + 1]! < (2 ** 32 * (rateAt(step) - a)) / (b - a)) events.add(step);
        }
      }
    }
    first = last;
  }
  return [...events].filter((step) => step < end).sort((x, y) => x - y);
}

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const asked: fc.Arbitrary<Asked> = fc
  .constantFrom('poisson' as const, 'background' as const)
  .chain((kind) => {
    const most = RATES[kind].at(-1)!;
    const hz = fc.oneof(
      fc.constantFrom(...RATES[kind]),
      fc.integer({ min: 0, max: 8 * most }).map((n) => n / 8),
    );
    return fc.record({
      kind: fc.constant(kind),
      name: fc.constantFrom('sugar', 'odour', 'a-b_9'),
      rates: fc
        .tuple(
          hz,
          fc.uniqueArray(fc.integer({ min: 1, max: 60_000 }), { maxLength: 3 }),
          fc.array(hz, { minLength: 3, maxLength: 3 }),
        )
        .map(([steady, changes, later]) => [
          { from: 0, hz: steady },
          ...(kind === 'poisson' ? changes : [])
            .sort((a, b) => a - b)
            .map((from, at) => ({ from, hz: later[at]! })),
        ]),
      seed: word,
      trial: fc.nat(99),
      id: fc.constantFrom('720575940660219265', '720575940604407468', '7', 'Mi1_0042'),
    });
  });

it('the guide says how a train is drawn: a drawer written from it has the same events', () => {
  let events = 0;
  fc.assert(
    fc.property(asked, fc.integer({ min: 100, max: 74_000 }), fc.nat(20_000), (own, end, length) => {
      const startStep = Math.max(0, end - length);
      const { kind, name, rates, seed, trial, id } = own;
      const seeded = { seed, trial, startStep: 0, endStep: 6_000_000 };
      const train: Train =
        kind === 'background'
          ? { kind, rateHz: rates[0]!.hz, eventMv: 1, ...seeded }
          : {
              kind,
              name,
              rateHz: {
                starts: Uint32Array.of(0, rates.length),
                steps: Uint32Array.from(rates, ({ from }) => from),
                ratesHz: Float64Array.from(rates, ({ hz }) => hz),
              },
              ...seeded,
            };
      const inputs = [{ neurons: Uint32Array.of(0), train }];
      const drawn = drawInputEvents({ inputs, startStep, durationSteps: end - startStep }, () => id);
      const found = Array.from((drawn.background ?? drawn).steps, (step) => startStep + step);
      expect(found).toEqual(eventsOf(own, end).filter((step) => step >= startStep));
      events += found.length;
    }),
    { seed: 783, numRuns: 60 },
  );
  expect(events).toBeGreaterThan(2_000);
});
