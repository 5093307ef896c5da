/**
 * Names similar to a wanted name, nearest first: at most `limit`, each within `maximumEdits` insertions, deletions and
 * replacements, ignoring case. `*` in the wanted name is ignored.
 */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 5, maximumEdits = 3): string[] {
  const plain = wanted.replaceAll('*', '').toLowerCase();
  const allowed = Math.min(maximumEdits, Math.max(1, Math.floor(plain.length / 2)));
  return [...names]
    .filter((name) => name !== '')
    .map((name) => ({ name, edits: editDistance(plain, name.toLowerCase()) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

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
