import { MAXIMUM_STEPS } from './network.js';
import { drawKicks } from './stimulus.js';

const population = Uint32Array.from({ length: 400 }, (_, i) => 1000 - i);

function events(...args: Parameters<typeof drawKicks>): string[] {
  const { steps, neurons } = drawKicks(...args);
  return Array.from(steps, (step, i) => `${step} ${neurons[i]}`);
}

describe('drawKicks', () => {
  it('draws the same train for the same seed, another for another', () => {
    expect(events(population, 150, 1, 42, 1000)).toEqual(events(population, 150, 1, 42, 1000));
    expect(events(population, 150, 1, 42, 1000)).not.toEqual(events(population, 150, 1, 43, 1000));
  });

  it('is pinned, since every result hangs on it', () => {
    expect(events(Uint32Array.of(7, 8, 9), 150, 1, 42, 500)).toMatchInlineSnapshot(`
     [
       "18 9",
       "23 7",
       "47 8",
       "49 7",
       "66 9",
       "108 8",
       "116 9",
       "125 9",
       "146 7",
       "154 8",
       "167 9",
       "172 7",
       "180 7",
       "181 9",
       "184 7",
       "209 7",
       "295 8",
       "408 9",
       "413 7",
       "450 8",
       "455 9",
       "457 8",
       "477 8",
       "490 7",
     ]
    `);
  });

  it('gives no kick at intensity 0, but still names the stimulated neurons', () => {
    const kicks = drawKicks(population, 150, 0, 42, 1000);
    expect(kicks.steps).toHaveLength(0);
    expect(kicks.stimulated).toBe(population);
  });

  it.each([
    [150, 1],
    [150, 2],
    [50, 0.5],
    [150, 0.01],
  ])('has the rate asked for: %p Hz at intensity %p', (rateHz, intensity) => {
    const expected = population.length * rateHz * intensity * 0.2;
    const drawn = events(population, rateHz, intensity, 1, MAXIMUM_STEPS).length;
    expect(Math.abs(drawn - expected)).toBeLessThan(5 * Math.sqrt(expected));
  });

  it('has no memory: the variance of counts is that of a Bernoulli train', () => {
    const counts = new Map<number, number>();
    for (const i of drawKicks(population, 150, 1, 3, MAXIMUM_STEPS).neurons)
      counts.set(i, (counts.get(i) ?? 0) + 1);
    const values = [...population].map((i) => counts.get(i) ?? 0);
    const mean = values.reduce((a, b) => a + b) / values.length;
    const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
    // Expected 0.985 of the mean; five standard errors of a variance over 400 samples are 35 %.
    expect(variance / mean).toBeGreaterThan(0.63);
    expect(variance / mean).toBeLessThan(1.34);
  });

  it('only adds events as the intensity rises', () => {
    const weaker = events(population, 150, 0.7, 5, 1000);
    const stronger = new Set(events(population, 150, 1.3, 5, 1000));
    expect(weaker.every((event) => stronger.has(event))).toBe(true);
    expect(stronger.size).toBeGreaterThan(weaker.length);
  });

  it('begins a longer run with the shorter one', () => {
    const longer = events(population, 150, 1, 5, 2000);
    expect(events(population, 150, 1, 5, 500)).toEqual(
      longer.filter((event) => Number(event.split(' ')[0]) < 500),
    );
  });

  it('gives a neuron the train of its place, whatever else is in the population', () => {
    const few = events(population.slice(0, 3), 150, 1, 5, 1000);
    const many = events(population, 150, 1, 5, 1000).filter((event) => Number(event.split(' ')[1]) > 997);
    expect(few).toEqual(many);
  });

  it('orders events by step, then by neuron, none twice', () => {
    const { steps, neurons } = drawKicks(population, 150, 2, 9, 2000);
    for (let i = 1; i < steps.length; i++) {
      expect(steps[i]! * 2 ** 20 + neurons[i]!).toBeGreaterThan(steps[i - 1]! * 2 ** 20 + neurons[i - 1]!);
    }
  });
});
