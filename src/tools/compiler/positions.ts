import type { NeuronColumns } from './brain.js';

/** x, y and z in nm of some neurons, by their index. */
export type KnownPositions = ReadonlyMap<number, readonly number[]>;

type Labels = NeuronColumns['labels'];

/** Keys that similar cells share, from the most to the least specific. An empty key matches no cell. */
const LIKENESS: readonly ((labels: Labels, i: number) => string)[] = [
  ...(['type', 'class', 'super_class'] as const).flatMap((label) => [
    (labels: Labels, i: number) => labels[label][i]! && `${labels[label][i]}\n${labels.side[i]}`,
    (labels: Labels, i: number) => labels[label][i]!,
  ]),
  () => 'any cell',
];

/**
 * Gives every neuron a position: the measured one, else the estimated one, else that of a similar cell. Cells without a
 * position take turns among the similar cells, so that they do not all get the same point. If no neuron has a position,
 * all of them lie in the origin.
 */
export function positionsOf(
  labels: Labels,
  measured: KnownPositions,
  estimated: KnownPositions,
): { positionsNm: Int32Array; positionEstimated: Uint8Array } {
  const count = labels.type.length;
  const positionsNm = new Int32Array(3 * count);
  const positionEstimated = Uint8Array.from(labels.type, (_, i) => (measured.has(i) ? 0 : 1));
  const placed: number[] = [];
  let missing: number[] = [];
  for (let i = 0; i < count; i++) {
    const nm = measured.get(i) ?? estimated.get(i);
    if (nm !== undefined) positionsNm.set(nm, 3 * i);
    (nm === undefined ? missing : placed).push(i);
  }
  for (const likeness of LIKENESS) {
    if (missing.length === 0) break;
    const models = new Map(missing.map((i): [string, number[]] => [likeness(labels, i), []]));
    for (const i of placed) models.get(likeness(labels, i))?.push(i);
    const turns = new Map<string, number>();
    missing = missing.filter((i) => {
      const key = likeness(labels, i);
      const like = models.get(key)!;
      if (key === '' || like.length === 0) return true;
      const turn = turns.get(key) ?? 0;
      turns.set(key, turn + 1);
      const model = like[turn % like.length]!;
      positionsNm.set(positionsNm.subarray(3 * model, 3 * model + 3), 3 * i);
      return false;
    });
  }
  return { positionsNm, positionEstimated };
}
