/**
 * Finds at most `limit` names that may have been meant, nearest first. A name is near if it differs by at most
 * MAX_EDITS insertions, deletions and replacements. After these come names that begin with the wanted one. Case
 * and any `*` in the wanted name are ignored.
 */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 5): string[] {
  const plain = wanted.replaceAll('*', '').toLowerCase();
  const allowed = Math.min(MAX_EDITS, Math.max(1, Math.floor(plain.length / 2)));
  const editsTo = (name: string): number => {
    const difference = name.length - plain.length;
    if (difference < -allowed) return Infinity;
    const edits = difference > allowed ? Infinity : editDistance(plain, name, allowed);
    if (edits <= allowed) return edits;
    return plain.length >= SHORTEST_BEGINNING && name.startsWith(plain) ? allowed + 1 : Infinity;
  };
  const near: { readonly name: string; readonly edits: number }[] = [];
  for (const name of names) {
    const edits = name === '' ? Infinity : editsTo(name.toLowerCase());
    if (edits < Infinity) near.push({ name, edits });
  }
  return near
    .sort((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

const MAX_EDITS = 3;
/** Too many names begin with fewer characters. */
const SHORTEST_BEGINNING = 3;

/**
 * The Levenshtein distance in code units.
 * @returns the distance; if it is above the limit, any number above the limit
 */
export function editDistance(a: string, b: string, limit = Infinity): number {
  let previous: number[] = [];
  let current: number[] = [];
  for (let j = 0; j <= b.length; j++) previous.push(j);
  for (let i = 1; i <= a.length; i++) {
    current[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const edits = Math.min(replaced, previous[j]! + 1, current[j - 1]! + 1);
      current[j] = edits;
      if (edits < least) least = edits;
    }
    // The minimum of a row never falls, so the distance is above the limit.
    if (least > limit) return least;
    [previous, current] = [current, previous];
  }
  return previous[b.length]!;
}
