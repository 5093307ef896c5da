import { type KnownPositions, positionsOf } from './positions.js';

/** Puts each of some neurons at [i, i, i]. */
const positionsOfThese = (neurons: readonly number[]): KnownPositions =>
  new Map(neurons.map((i) => [i, [i, i, i]]));

/** Rows of type, side, class, super class. */
function labelsOf(rows: readonly (readonly [string, string, string, string])[]) {
  const column = (k: number) => rows.map((row) => row[k]!);
  return {
    type: column(0),
    side: column(1),
    class: column(2),
    sub_class: rows.map(() => ''),
    super_class: column(3),
  };
}

/** The neuron whose position neuron i got; each measured neuron k is at [k, k, k]. */
function modelsOf(rows: Parameters<typeof labelsOf>[0], measured: readonly number[]): number[] {
  const { positionsNm } = positionsOf(labelsOf(rows), positionsOfThese(measured), new Map());
  return rows.map((_, i) => positionsNm[3 * i]!);
}

describe('positionsOf', () => {
  const other = ['X', 'left', 'y', 'motor'] as const;

  it('prefers a cell of the same type and side, then type, class and side, class, super class', () => {
    const missing = ['T', 'left', 'c', 's'] as const;
    const models = [
      ['', '', '', ''],
      ['', 'right', '', 's'],
      ['', 'left', '', 's'],
      ['U', 'right', 'c', 'r'],
      ['U', 'left', 'c', 'r'],
      ['T', 'right', '', 'r'],
      ['T', 'left', '', 'r'],
    ] as const;
    // The cell without a position stands first; each time the best of its models is taken away.
    for (let last = models.length; last > 0; last--) {
      const measured = Array.from({ length: last }, (_, i) => i + 1);
      expect(modelsOf([missing, ...models], measured)[0]).toBe(last);
    }
  });

  it('never takes two empty labels for the same', () => {
    const rows = [['', '', '', 'motor'], ['', '', '', 'optic'], other] as const;
    expect(modelsOf(rows, [1, 2])[0]).toBe(2);
  });

  it('lets cells take turns among like ones', () => {
    const rows = Array.from({ length: 7 }, () => ['T', 'left', '', ''] as const);
    expect(modelsOf(rows, [1, 2])).toEqual([1, 1, 2, 2, 1, 2, 1]);
  });

  it('prefers an estimate to a like cell, a measurement to an estimate, and flags positions that are not measured', () => {
    const rows = Array.from({ length: 3 }, () => ['T', 'left', '', ''] as const);
    const estimated = new Map([0, 1].map((i) => [i, [50, 50, 50]]));
    const { positionsNm, positionEstimated } = positionsOf(labelsOf(rows), positionsOfThese([0]), estimated);
    expect([...positionsNm]).toEqual([0, 0, 0, 50, 50, 50, 0, 0, 0]);
    expect([...positionEstimated]).toEqual([0, 1, 1]);
  });

  it('puts everything into the origin when no position is known', () => {
    const { positionsNm, positionEstimated } = positionsOf(labelsOf([other, other]), new Map(), new Map());
    expect([...positionsNm]).toEqual([0, 0, 0, 0, 0, 0]);
    expect([...positionEstimated]).toEqual([1, 1]);
  });
});
