/** Sets of neurons as ascending indices without repetition. */

/** @param count neurons of the whole brain */
export function unionOf(sets: readonly Uint32Array[], count: number): Uint32Array {
  if (sets.length === 1) return sets[0]!;
  const total = sets.reduce((sum, { length }) => sum + length, 0);
  if (total * MARKING_SHARE > count) {
    const marks = new Uint8Array(count);
    for (const set of sets) for (let k = 0; k < set.length; k++) marks[set[k]!] = 1;
    return marked(marks);
  }
  const all = new Uint32Array(total);
  let filled = 0;
  for (const set of sets) {
    all.set(set, filled);
    filled += set.length;
  }
  return all.sort().filter((i, at) => at === 0 || i !== all[at - 1]);
}

/** Below this share of the brain, sorting the members is faster than looking at every neuron. */
const MARKING_SHARE = 16;

function marked(marks: Uint8Array): Uint32Array {
  let size = 0;
  for (let i = 0; i < marks.length; i++) size += marks[i]!;
  const set = new Uint32Array(size);
  let filled = 0;
  for (let i = 0; i < marks.length; i++) if (marks[i] === 1) set[filled++] = i;
  return set;
}

/** @param sets at least one */
export function intersectionOf(sets: readonly Uint32Array[]): Uint32Array {
  const [fewest, ...others] = [...sets].sort((a, b) => a.length - b.length);
  return others.reduce((left, other) => chosen(left, other, true), fewest!);
}

export function differenceOf(set: Uint32Array, excepted: Uint32Array): Uint32Array {
  return excepted.length === 0 ? set : chosen(set, excepted, false);
}

/** Members of a set that are, or are not, in another one. A loop: callbacks take ten times as long for a whole brain. */
function chosen(set: Uint32Array, other: Uint32Array, wanted: boolean): Uint32Array {
  const found = new Uint32Array(set.length);
  let size = 0;
  let at = 0;
  for (let k = 0; k < set.length; k++) {
    const i = set[k]!;
    while (at < other.length && other[at]! < i) at++;
    if ((at < other.length && other[at] === i) === wanted) found[size++] = i;
  }
  return found.slice(0, size);
}
