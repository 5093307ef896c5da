import type { CellGroup } from './statistics.js';

const SIDE_LETTERS: Readonly<Record<string, string>> = { left: 'L', right: 'R', center: 'C' };

/**
 * Generates ids for sampled cells, such as LB3_L_0007: type, side, and a number that is unique within these.
 * @returns ids in ascending order by code unit, and for each group the indices of its cells in that order
 */
export function nameCells(groups: readonly CellGroup[]): { ids: string[]; neuronOf: Uint32Array[] } {
  const used = new Map<string, number>();
  const names = groups.map((group) => {
    const label = group.type || group.subClass || group.class || group.superClass || 'neuron';
    // Ids stay within plain ASCII; a few types have primes or blanks.
    const prefix = `${label.replace(/[^\w.+-]+/g, '-')}_${SIDE_LETTERS[group.side] ?? 'N'}`;
    const before = used.get(prefix) ?? 0;
    used.set(prefix, before + group.cells);
    return Array.from(
      { length: group.cells },
      (_, cell) => `${prefix}_${String(before + cell + 1).padStart(4, '0')}`,
    );
  });
  const ids = names.flat().sort();
  const neuronOfId = new Map(ids.map((id, neuron) => [id, neuron]));
  return { ids, neuronOf: names.map((own) => Uint32Array.from(own, (id) => neuronOfId.get(id)!)) };
}
