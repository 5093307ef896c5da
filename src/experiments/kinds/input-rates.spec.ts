import { ratesCourse } from './input-rates.js';

describe('the course of rates for figures', () => {
  it('has the highest rate of all rows at each time', () => {
    const rows = [
      { times_ms: [0, 10, 30], values: [5, 80, 0] },
      { times_ms: [0, 10, 20], values: [7, 1, 90] },
      12,
    ];
    expect(ratesCourse(rows, 2)).toEqual({
      rates: [
        { fromMs: 0, hz: 24 },
        { fromMs: 10, hz: 160 },
        { fromMs: 20, hz: 180 },
        { fromMs: 30, hz: 180 },
      ],
      isMerged: false,
    });
  });

  it('merges times that no figure can show, and loses no high rate', () => {
    const times = Array.from({ length: 60_000 }, (_, at) => at / 10);
    const values = times.map((_, at) => (at === 31_415 ? 99 : at % 7));
    const { rates, isMerged } = ratesCourse([{ times_ms: times, values }, 3], 1);
    expect(isMerged).toBe(true);
    expect(rates.length).toBeLessThan(2_100);
    expect(rates.filter(({ hz }) => hz > 6)).toEqual([{ fromMs: 3138, hz: 99 }]);
  });

  it('keeps what holds for long among many short ones', () => {
    const short = Array.from({ length: 1_000 }, (_, at) => at / 10);
    const times = [...short, 100, 100.1, 500];
    const values = [...short.map(() => 50), 150, 0, 200];
    const { rates } = ratesCourse([{ times_ms: times, values }], 1);
    expect(rates.slice(-2)).toEqual([
      { fromMs: 100.1, hz: 0 },
      { fromMs: 500, hz: 200 },
    ]);
    expect(rates.find(({ fromMs }) => fromMs === 100)!.hz).toBe(150);
  });
});
