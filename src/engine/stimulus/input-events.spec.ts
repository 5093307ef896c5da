import { createHash } from 'node:crypto';
import { compileDrawingKernel } from '../../workers/pool/kernel-file.js';
import { compiledDrawing } from './compiled-drawing.js';
import { drawInputEvents, type DrawInputEvents } from './input-events.js';
import { philox4x32 } from './philox.js';
import { v1Protocol, type BackgroundTrain, type Input, type PoissonTrain } from './protocol.js';

const DRAWINGS: readonly (readonly [name: string, draw: DrawInputEvents])[] = [
  ['drawInputEvents', drawInputEvents],
  ['compiledDrawing', compiledDrawing(compileDrawingKernel())],
];

const population = Uint32Array.from({ length: 400 }, (_, i) => 1000 - i);

describe.each(DRAWINGS)('%s', (_, draw) => {
  const drawn = (
    inputs: readonly Input[],
    durationSteps: number,
    startStep = 0,
  ): [step: number, neuron: number][] => {
    const { steps, neurons } = draw({ inputs, durationSteps, startStep }, (i) => `72057594060000${1000 + i}`);
    return Array.from(steps, (step, i) => [startStep + step, neurons[i]!]);
  };
  const asTexts = (events: readonly (readonly [number, number])[]) => events.map((event) => event.join(' '));

  describe('a train of version 1', () => {
    const protocol = (
      neurons: Uint32Array,
      nominalRateHz: number,
      intensity: number,
      seed: number,
      steps: number,
    ) => v1Protocol(neurons, { nominalRateHz, intensity, seed }, steps);
    const events = (...args: Parameters<typeof protocol>): string[] => {
      const { inputs, durationSteps } = protocol(...args);
      return asTexts(drawn(inputs, durationSteps));
    };

    it('is the same for the same seed, another for another', () => {
      expect(events(population, 150, 1, 42, 1000)).toEqual(events(population, 150, 1, 42, 1000));
      expect(events(population, 150, 1, 42, 1000)).not.toEqual(events(population, 150, 1, 43, 1000));
    });

    it('is pinned, since every result hangs on it', () => {
      expect(events(Uint32Array.of(7, 8, 9), 150, 1, 42, 500)).toEqual(
        (
          '18 9,23 7,47 8,49 7,66 9,108 8,116 9,125 9,146 7,154 8,167 9,172 7,180 7,181 9,184 7,209 7,295 8,408 9,' +
          '413 7,450 8,455 9,457 8,477 8,490 7'
        ).split(','),
      );
    });

    it('has no event at intensity 0, but still names the stimulated neurons', () => {
      const { stimulated, steps } = draw(protocol(population, 150, 0, 42, 1000), String);
      expect(steps).toHaveLength(0);
      expect(stimulated).toEqual(population);
    });

    it.each([
      [150, 1, 2000],
      [150, 2, 2000],
      [50, 0.5, 2000],
      [150, 0.01, 2000],
      [1, 1, 50_000],
    ])('has the rate asked for: %p Hz at intensity %p in %p steps', (rateHz, intensity, steps) => {
      const expected = population.length * rateHz * intensity * steps * 1e-4;
      const count = events(population, rateHz, intensity, 1, steps).length;
      expect(Math.abs(count - expected)).toBeLessThan(5 * Math.sqrt(expected));
    });

    it('has no memory: the variance of counts is that of a Bernoulli train', () => {
      const counts = new Map<number, number>();
      const { inputs } = protocol(population, 150, 1, 3, 2000);
      for (const [, i] of drawn(inputs, 2000)) counts.set(i, (counts.get(i) ?? 0) + 1);
      const values = [...population].map((i) => counts.get(i) ?? 0);
      const mean = values.reduce((a, b) => a + b) / values.length;
      const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
      // Expected 0.985 of the mean; five standard errors of a variance over 400 samples are 35 %.
      expect(variance / mean).toBeGreaterThan(0.63);
      expect(variance / mean).toBeLessThan(1.34);
    });

    it('only gains events as the intensity rises', () => {
      const weaker = events(population, 150, 0.7, 5, 1000);
      const stronger = new Set(events(population, 150, 1.3, 5, 1000));
      expect(weaker.every((event) => stronger.has(event))).toBe(true);
      expect(stronger.size).toBeGreaterThan(weaker.length);
    });

    it('begins a longer trial with the shorter one', () => {
      const longer = events(population, 150, 1, 5, 2000);
      expect(events(population, 150, 1, 5, 500)).toEqual(
        longer.filter((event) => Number(event.split(' ')[0]) < 500),
      );
    });

    it('belongs to the place of a neuron, whatever else is in the population', () => {
      const few = events(population.slice(0, 3), 150, 1, 5, 1000);
      const many = events(population, 150, 1, 5, 1000).filter((event) => Number(event.split(' ')[1]) > 997);
      expect(few).toEqual(many);
    });
  });

  describe('a Poisson train', () => {
    const sugar: PoissonTrain = {
      kind: 'poisson',
      name: 'sugar',
      rateHz: 100,
      seed: 42,
      trial: 0,
      startStep: 0,
      endStep: 10_000,
    };
    const events = (train: Partial<PoissonTrain>, neurons = population, steps = 10_000) =>
      drawn([{ neurons, train: { ...sugar, ...train } }], steps);

    // Written independently, only from the description: BigInt for Philox's counter, logarithms for the intervals.
    it('follows its description, at the lowest layer', () => {
      const id = BigInt('720575940600001007');
      const word = parseInt(createHash('sha256').update('sugar').digest('hex').slice(0, 8), 16);
      const steps: number[] = [];
      const out = new Uint32Array(4);
      const chance = 31.25e-4;
      for (let block = 0, step = -1; step < 10_000; block++) {
        const [low, high] = [Number(id % 2n ** 32n), Number(id / 2n ** 32n)];
        philox4x32(out, block, low, high, word >= 2 ** 31 ? word : word + 2 ** 31, 42, 3);
        for (const half of [0, 2]) {
          step += 1 + Math.floor(Math.log1p(-out[half]! / 2 ** 32) / Math.log1p(-chance));
          if (step < 10_000 && out[half + 1]! / 2 ** 32 < 20 / 31.25) steps.push(step);
        }
      }
      expect(steps.length).toBeGreaterThan(10);
      expect(events({ rateHz: 20, trial: 3 }, Uint32Array.of(7))).toEqual(steps.map((step) => [step, 7]));
    });

    it.each([5, 31.25, 40, 62.5, 100, 200, 250, 333, 500])(
      'has exactly %p Hz: chi-square of the counts in ten parts of the trial, and of all',
      (rateHz) => {
        const counts = new Array<number>(10).fill(0);
        for (const [step] of events({ rateHz, seed: 7 })) counts[Math.floor(step / 1000)]!++;
        const expected = (population.length * rateHz) / 10;
        // A Bernoulli count has the variance n p (1 - p).
        const variance = expected * (1 - rateHz * 1e-4);
        const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / variance, 0);
        // Ten degrees of freedom: the 0.1 % points at both ends.
        expect(chiSquare).toBeLessThan(29.6);
        expect(chiSquare).toBeGreaterThan(1.47);
      },
    );

    it.each([20, 140, 500])('has geometric intervals at %p Hz: chi-square', (rateHz) => {
      const intervals: number[] = [];
      const last = new Map<number, number>();
      for (const [step, neuron] of events({ rateHz, seed: 11 })) {
        intervals.push(step - (last.get(neuron) ?? -1));
        last.set(neuron, step);
      }
      const chance = rateHz * 1e-4;
      // Twelve bins of about equal probability, below the median of the intervals, so that the end of a trial cuts few.
      const quantile = (share: number) => Math.ceil(Math.log1p(-share) / Math.log1p(-chance));
      const edges = Array.from({ length: 13 }, (_, k) => quantile(k / 16));
      const within = intervals.filter((interval) => interval <= edges[12]!);
      const cumulative = (k: number) => 1 - (1 - chance) ** k;
      const observed = edges
        .slice(1)
        .map((to, k) => within.filter((each) => each > edges[k]! && each <= to).length);
      const expected = edges
        .slice(1)
        .map((to, k) => ((cumulative(to) - cumulative(edges[k]!)) / cumulative(edges[12]!)) * within.length);
      const chiSquare = observed.reduce(
        (sum, count, k) => sum + (count - expected[k]!) ** 2 / expected[k]!,
        0,
      );
      // Eleven degrees of freedom: 31.3 is the 0.1 % point.
      expect(chiSquare).toBeLessThan(31.3);
    });

    it('only gains events as the rate rises, across all layers', () => {
      let weaker = new Set<string>();
      for (const rateHz of [0, 10, 31.25, 31.26, 50, 62.5, 90, 125, 180, 250, 400, 500]) {
        const stronger = new Set(asTexts(events({ rateHz })));
        expect([...weaker].filter((event) => !stronger.has(event))).toEqual([]);
        expect(stronger.size).toBeGreaterThanOrEqual(weaker.size);
        weaker = stronger;
      }
      expect(weaker.size).toBeGreaterThan(19_000);
    });

    it('is hidden by its window and not moved', () => {
      const all = events({});
      const window = { startStep: 2000, endStep: 3501 };
      expect(events(window)).toEqual(all.filter(([step]) => step >= 2000 && step < 3501));
      const [step] = all[0]!;
      expect(events({ startStep: step, endStep: step + 1 })).toEqual(
        all.filter((event) => event[0] === step),
      );
      expect(events({ startStep: step, endStep: step })).toEqual([]);
      expect(events(window, population, 3000)).toEqual(all.filter(([s]) => s >= 2000 && s < 3000));
    });

    it('depends on seed, trial, name and id', () => {
      const all = new Set(asTexts(events({})));
      for (const other of [{ seed: 43 }, { trial: 1 }, { name: 'water' }]) {
        const shared = asTexts(events(other)).filter((event) => all.has(event));
        // By chance 1 % of 40,000 events coincide; five standard deviations are 100.
        expect(shared.length).toBeLessThan(500);
      }
      const trains = new Set(
        Array.from(population, (i) =>
          asTexts(events({}, Uint32Array.of(i)))
            .join()
            .replaceAll(/ \d+/g, ''),
        ),
      );
      expect(trains.size).toBe(population.length);
    });

    it('depends on nothing else: neither on other neurons, nor other inputs, nor the order', () => {
      const all = events({});
      const few = population.slice(100, 103).reverse();
      expect(events({}, few)).toEqual(all.filter(([, i]) => few.includes(i)));
      const both = drawn(
        [
          { neurons: Uint32Array.of(5), train: { ...sugar, name: 'bitter' } },
          { neurons: population, train: sugar },
        ],
        10_000,
      );
      expect(both.filter(([, i]) => i !== 5)).toEqual(all);
    });

    it('of a neuron with a name is keyed by the name', () => {
      const train = { ...sugar, rateHz: 500 };
      const input = [{ neurons: Uint32Array.of(0, 1), train }];
      const { steps, neurons } = draw({ inputs: input, durationSteps: 2000 }, (i) => `LC4-${i}`);
      const id = createHash('sha256').update('LC4-1').digest().readBigUInt64BE();
      const renamed = draw({ inputs: input, durationSteps: 2000 }, (i) => (i === 1 ? String(id) : 'x'));
      const of1 = (events: { steps: Uint16Array; neurons: Uint32Array }) =>
        events.steps.filter((_, q) => events.neurons[q] === 1);
      expect(of1({ steps, neurons })).toEqual(of1(renamed));
      expect(of1({ steps, neurons }).length).toBeGreaterThan(50);
    });
  });

  // Epoch 0 has 50,000 steps, each later one 10,000.
  describe('a train that goes on for minutes', () => {
    const train: PoissonTrain = {
      kind: 'poisson',
      name: 'sugar',
      rateHz: 20,
      seed: 42,
      trial: 3,
      startStep: 0,
      endStep: 6_000_000,
    };
    const events = (more: Partial<PoissonTrain>, startStep: number, steps: number, neurons = population) =>
      drawn([{ neurons, train: { ...train, ...more } }], steps, startStep);

    // Written independently, only from the description, as above.
    it.each([
      [50_000, 1],
      [70_000, 3],
      [5_990_000, 595],
    ])('begins anew in step %p, with the blocks of epoch %p', (startStep, epoch) => {
      const id = BigInt('720575940600001007');
      const word = parseInt(createHash('sha256').update('sugar').digest('hex').slice(0, 8), 16);
      const expected: number[] = [];
      const out = new Uint32Array(4);
      for (let block = epoch * 2 ** 15, step = -1; step < 10_000; block++) {
        const [low, high] = [Number(id % 2n ** 32n), Number(id / 2n ** 32n)];
        philox4x32(out, block, low, high, word >= 2 ** 31 ? word : word + 2 ** 31, 42, 3);
        for (const half of [0, 2]) {
          step += 1 + Math.floor(Math.log1p(-out[half]! / 2 ** 32) / Math.log1p(-31.25e-4));
          if (step < 10_000 && out[half + 1]! / 2 ** 32 < 20 / 31.25) expected.push(startStep + step);
        }
      }
      const one = Uint32Array.of(7);
      expect(expected.length).toBeGreaterThan(10);
      expect(events({}, startStep, 10_000, one).map(([step]) => step)).toEqual(expected);
      const first = events({}, 40_000, 10_000, one).map(([step]) => step - 40_000);
      expect(first).not.toEqual(expected.map((step) => step - startStep));
      // A segment that begins earlier has the same events.
      const around = events({}, startStep - 3_000, 9_000, one).map(([step]) => step);
      expect(around.filter((step) => step >= startStep)).toEqual(
        expected.filter((step) => step < startStep + 6_000),
      );
    });

    it('has its rate and geometric intervals across the ends of epochs: chi-square', () => {
      const all = Array.from({ length: 6 }, (_, part) =>
        events({ rateHz: 100 }, 48_500 + 5_000 * part, 5_000),
      ).flat();
      const counts = new Array<number>(30).fill(0);
      const last = new Map<number, number>();
      let [overEnds, short] = [0, 0];
      for (const [step, neuron] of all) {
        counts[Math.floor((step - 48_500) / 1000)]!++;
        const before = last.get(neuron);
        const end = [50_000, 60_000, 70_000].find((each) => before! < each && each <= step);
        if (end !== undefined && before! >= end - 100) {
          overEnds++;
          if (step - before! <= 100) short++;
        }
        last.set(neuron, step);
      }
      const expected = (population.length * 100) / 10;
      const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / (expected * 0.99), 0);
      // Thirty degrees of freedom: the 0.1 % points at both ends.
      expect(chiSquare).toBeLessThan(59.7);
      expect(chiSquare).toBeGreaterThan(11.6);
      expect(overEnds).toBeGreaterThan(600);
      // An interval across an epoch's end begins k steps before it with a probability proportional to 0.99^k. Only
      // those that end within 100 steps are counted.
      const share = Array.from({ length: 100 }, (_, k) => [0.99 ** k, 0.99 ** k - 0.99 ** 100] as const);
      const chance = share.reduce((sum, [, s]) => sum + s, 0) / share.reduce((sum, [a]) => sum + a, 0);
      const deviation = Math.sqrt(overEnds * chance * (1 - chance));
      expect(Math.abs(short - overEnds * chance)).toBeLessThan(4 * deviation);
    });

    it('only gains events as the rate rises, also of one that was 0 until then', () => {
      const changing = {
        starts: Uint32Array.of(0, 3),
        steps: Uint32Array.of(0, 300_000, 300_400),
        ratesHz: Float64Array.of(0, 180, 0),
      };
      const steady = events({ rateHz: 180 }, 299_900, 700);
      expect(events({ rateHz: changing }, 299_900, 700)).toEqual(
        steady.filter(([step]) => step >= 300_000 && step < 300_400),
      );
      expect(events({ rateHz: changing, startStep: 300_100, endStep: 300_200 }, 299_900, 700)).toEqual(
        steady.filter(([step]) => step >= 300_100 && step < 300_200),
      );
    });

    it('has given events in the part that they belong to', () => {
      const given = { kind: 'spikes', steps: Uint32Array.of(0, 49_999, 100_000, 100_007, 131_072) } as const;
      const inputs = [{ neurons: Uint32Array.of(4, 2), train: given }];
      expect(drawn(inputs, 8, 100_000)).toEqual([
        [100_000, 2],
        [100_000, 4],
        [100_007, 2],
        [100_007, 4],
      ]);
      expect(drawn(inputs, 7, 100_001)).toEqual([
        [100_007, 2],
        [100_007, 4],
      ]);
    });
  });

  describe('a rate that changes', () => {
    const train = {
      kind: 'poisson',
      name: 'odour',
      seed: 42,
      trial: 0,
      startStep: 0,
      endStep: 10_000,
    } as const;
    const table = (...courses: (readonly (readonly [step: number, rateHz: number])[])[]) => {
      const starts = courses.map((_, at) => courses.slice(0, at).flat().length);
      return {
        starts: Uint32Array.from([...starts, courses.flat().length]),
        steps: Uint32Array.from(courses.flat(), ([step]) => step),
        ratesHz: Float64Array.from(courses.flat(), ([, rateHz]) => rateHz),
      };
    };
    const events = (rateHz: PoissonTrain['rateHz'], more: Partial<PoissonTrain> = {}, neurons = population) =>
      drawn([{ neurons, train: { ...train, rateHz, ...more } }], 10_000);

    it('has in each step the events of its rate: nothing is drawn anew', () => {
      const changes = [
        [0, 10],
        [1000, 80],
        [3000, 0],
        [4000, 500],
        [4001, 31.25],
        [9999, 62.5],
      ] as const;
      const expected = changes.flatMap(([from, rateHz], at) => {
        const to = changes[at + 1]?.[0] ?? 10_000;
        return events(rateHz).filter(([step]) => step >= from && step < to);
      });
      expect(expected.length).toBeGreaterThan(5000);
      expect(events(table(changes))).toEqual(expected);
      const window = { startStep: 2500, endStep: 4001 };
      expect(events(table(changes), window)).toEqual(
        expected.filter(([step]) => step >= 2500 && step < 4001),
      );
    });

    it('is a constant one if it does not change, and if time is cut finely', () => {
      const few = population.slice(0, 20);
      const constant = events(120, {}, few);
      expect(events(table([[0, 120]]), {}, few)).toEqual(constant);
      const each = Array.from({ length: 10_000 }, (_, step) => [step, 120] as const);
      expect(events(table(each), {}, few)).toEqual(constant);
      expect(events(table([[0, 0]]))).toEqual([]);
    });

    it('belongs to each neuron: each row of a pattern gives the same events by itself', () => {
      const rates = table(
        [[0, 41]],
        [
          [0, 0],
          [500, 300],
        ],
        [
          [0, 500],
          [600, 0],
        ],
      );
      const courses = Uint16Array.from(population, (_, place) => place % 3);
      const rows = [
        41,
        table([
          [0, 0],
          [500, 300],
        ]),
        table([
          [0, 500],
          [600, 0],
        ]),
      ];
      const expected = rows.flatMap((rateHz, row) =>
        events(
          rateHz,
          {},
          population.filter((_, place) => place % 3 === row),
        ),
      );
      expect(events({ ...rates, courses })).toEqual(
        expected.sort(([step, neuron], [otherStep, other]) => step - otherStep || neuron - other),
      );
    });
  });

  describe('background', () => {
    const train: BackgroundTrain = {
      kind: 'background',
      rateHz: 40,
      eventMv: 12.5,
      seed: 42,
      trial: 3,
      startStep: 0,
      endStep: 10_000,
    };
    const eventsOf = (
      more: Partial<BackgroundTrain> = {},
      neurons = population,
      others: readonly Input[] = [],
    ) => {
      const inputs = [...others, { neurons, train: { ...train, ...more } }];
      return draw({ inputs, durationSteps: 10_000 }, (i) => `72057594060000${1000 + i}`);
    };
    const events = (...args: Parameters<typeof eventsOf>) => {
      const { steps, neurons } = eventsOf(...args).background!;
      return Array.from(steps, (step, i): [number, number] => [step, neurons[i]!]);
    };

    // Written independently, only from the description, like the Poisson train.
    it('follows its description, at the lowest layer', () => {
      const steps: number[] = [];
      const out = new Uint32Array(4);
      const neurons = Uint32Array.from({ length: 20 }, (_, i) => i);
      for (const i of neurons) {
        const id = BigInt(`72057594060000${1000 + i}`);
        for (let block = 0, step = -1; step < 10_000; block++) {
          const [low, high] = [Number(id % 2n ** 32n), Number(id / 2n ** 32n)];
          philox4x32(out, block, low, high, 4, 42, 3);
          for (const half of [0, 2]) {
            step += 1 + Math.floor(Math.log1p(-out[half]! / 2 ** 32) / Math.log1p(-0.5e-4));
            if (step < 10_000 && out[half + 1]! / 2 ** 32 < 0.4 / 0.5) steps.push(step * 100 + i);
          }
        }
      }
      expect(steps.length).toBeGreaterThan(3);
      const ordered = steps.sort((a, b) => a - b).map((key) => [Math.floor(key / 100), key % 100]);
      expect(events({ rateHz: 0.4 }, neurons)).toEqual(ordered);
    });

    it.each([0.1, 0.5, 1, 2, 5, 8, 20, 40])(
      'has exactly %p Hz: chi-square of the counts in ten parts',
      (rateHz) => {
        const neurons = Uint32Array.from({ length: 4000 }, (_, i) => i);
        const counts = new Array<number>(10).fill(0);
        for (const [step] of events({ rateHz, seed: 7 }, neurons)) counts[Math.floor(step / 1000)]!++;
        const expected = (neurons.length * rateHz) / 10;
        const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
        // Ten degrees of freedom: the 0.1 % points at both ends.
        expect(chiSquare).toBeLessThan(29.6);
        expect(chiSquare).toBeGreaterThan(1.47);
      },
    );

    it('only gains events as the rate rises, and is hidden by its window', () => {
      let weaker = new Set<string>();
      for (const rateHz of [0, 0.2, 0.5, 0.51, 1.9, 2, 7, 8, 25, 40]) {
        const stronger = new Set(asTexts(events({ rateHz })));
        expect([...weaker].filter((event) => !stronger.has(event))).toEqual([]);
        weaker = stronger;
      }
      expect(weaker.size).toBeGreaterThan(15_000);
      expect(events({ startStep: 100, endStep: 2000 })).toEqual(
        events({}).filter(([step]) => step >= 100 && step < 2000),
      );
    });

    it('stands beside the others: its neurons are not stimulated, and no Poisson train has its numbers', () => {
      const sugar = { ...train, kind: 'poisson', name: '', rateHz: 31.25 } as const;
      const both = eventsOf({ rateHz: 8 }, population, [{ neurons: Uint32Array.of(5, 3), train: sugar }]);
      expect(both.stimulated).toEqual(Uint32Array.of(5, 3));
      expect(both.background!.eventMv).toBe(12.5);
      expect(both.background).toEqual(eventsOf({ rateHz: 8 }).background);
      expect(eventsOf().stimulated).toHaveLength(0);
      expect(eventsOf().steps).toHaveLength(0);
      const { steps, neurons } = draw(
        { inputs: [{ neurons: population, train: sugar }], durationSteps: 10_000 },
        String,
      );
      const own = new Set(asTexts(events({ rateHz: 31.25 })));
      const shared = Array.from(steps, (step, i) => `${step} ${neurons[i]}`).filter((event) =>
        own.has(event),
      );
      // By chance 0.3 % of 12,500 coincide.
      expect(shared.length).toBeLessThan(100);
    });
  });

  describe('given spikes', () => {
    it('come to all neurons, or to each its own, up to the end of the trial', () => {
      const steps = Uint32Array.of(0, 7, 49_999);
      const neurons = Uint32Array.of(4, 2);
      expect(drawn([{ neurons, train: { kind: 'spikes', steps } }], 50_000)).toEqual([
        [0, 2],
        [0, 4],
        [7, 2],
        [7, 4],
        [49_999, 2],
        [49_999, 4],
      ]);
      const each = [Uint32Array.of(3), Uint32Array.of(1, 3)];
      expect(drawn([{ neurons, train: { kind: 'spikes', steps: each } }], 3)).toEqual([[1, 2]]);
    });

    it('of two inputs meet: a pair stands twice', () => {
      const train = { kind: 'spikes', steps: Uint32Array.of(5) } as const;
      const inputs = [
        { neurons: Uint32Array.of(2, 1), train },
        { neurons: Uint32Array.of(3, 2), train },
      ];
      expect(drawn(inputs, 10)).toEqual([
        [5, 1],
        [5, 2],
        [5, 2],
        [5, 3],
      ]);
      expect([...draw({ inputs, durationSteps: 10 }, String).stimulated]).toEqual([1, 2, 3]);
    });
  });

  it('of no input is no event', () => {
    expect(draw({ inputs: [], durationSteps: 10 }, String)).toEqual({
      stimulated: new Uint32Array(0),
      steps: new Uint16Array(0),
      neurons: new Uint32Array(0),
    });
  });

  it('orders events by step, then by neuron', () => {
    const { inputs, durationSteps } = v1Protocol(
      population,
      { nominalRateHz: 150, intensity: 2, seed: 9 },
      2000,
    );
    const keys = drawn(inputs, durationSteps).map(([step, neuron]) => step * 2 ** 20 + neuron);
    expect(keys).toEqual(keys.toSorted((a, b) => a - b));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
