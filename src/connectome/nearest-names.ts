/**
 * Names that somebody may have meant, nearest first: at most `limit` within `maximumEdits` insertions, deletions and
 * replacements, upper and lower case being equal, then those that begin with the wanted name. `*` in the wanted name
 * counts as nothing.
 */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 5, maximumEdits = 3): string[] {
  const plain = wanted.replaceAll('*', '').toLowerCase();
  const allowed = Math.min(maximumEdits, Math.max(1, Math.floor(plain.length / 2)));
  const editsTo = (name: string): number => {
    const difference = name.length - plain.length;
    if (difference < -allowed) return Infinity;
    const edits = difference > allowed ? Infinity : editDistance(plain, name);
    if (edits <= allowed) return edits;
    return plain.length >= SHORTEST_BEGINNING && name.startsWith(plain) ? allowed + 1 : Infinity;
  };
  return [...names]
    .filter((name) => name !== '')
    .map((name) => ({ name, edits: editsTo(name.toLowerCase()) }))
    .filter(({ edits }) => edits < Infinity)
    .sort((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Fewer characters begin too many names. */
const SHORTEST_BEGINNING = 3;

/** Levenshtein distance in code units. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
