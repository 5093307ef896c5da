/** Sets of neurons as ascending indices without repetition. */

/** @param count neurons of the whole brain */
export function unionOf(sets: readonly Uint32Array[], count: number): Uint32Array {
  if (sets.length === 1) return sets[0]!;
  const total = sets.reduce((sum, { length }) => sum + length, 0);
  if (total * MARKING_SHARE > count) {
    const marks = new Uint8Array(count);
    for (const set of sets) for (const i of set) marks[i] = 1;
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
  for (const mark of marks) size += mark;
  const set = new Uint32Array(size);
  let filled = 0;
  for (let i = 0; i < marks.length; i++) if (marks[i] === 1) set[filled++] = i;
  return set;
}

/** @param sets at least one */
export function intersectionOf(sets: readonly Uint32Array[]): Uint32Array {
  const [fewest, ...others] = [...sets].sort((a, b) => a.length - b.length);
  return others.reduce((left, other) => left.filter(membersOf(other)), fewest!);
}

export function differenceOf(set: Uint32Array, excepted: Uint32Array): Uint32Array {
  const isExcepted = membersOf(excepted);
  return set.filter((i) => !isExcepted(i));
}

/** @returns whether a neuron is in a set; to be asked in ascending order */
function membersOf(set: Uint32Array): (i: number) => boolean {
  let at = 0;
  return (i) => {
    while (at < set.length && set[at]! < i) at++;
    return set[at] === i;
  };
}
