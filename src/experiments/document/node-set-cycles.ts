import { INNER_SELECTORS, nameOnSide, type SetSelector } from '../../connectome/set-selector.js';
import { isList } from '../../schema/forms.js';
import { invalid } from '../../schema/json-path.js';

type NodeSets = Readonly<Record<string, SetSelector>>;

/** @throws CodedError INVALID_PARAMETER for a set that names itself, be it through others */
export function checkCircles(nodeSets: NodeSets): void {
  const finished = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    const at = trail.indexOf(name);
    if (at >= 0) {
      const circle = [...trail.slice(at), name];
      throw invalid(['node_sets', name], `node_sets.${name} must not name itself: ${circle.join(' -> ')}.`);
    }
    if (finished.has(name)) return;
    for (const other of setsNamedIn(nodeSets[name]!, nodeSets)) visit(other, [...trail, name]);
    finished.add(name);
  };
  for (const name of Object.keys(nodeSets)) visit(name, []);
}

/** Names of the document's own sets in a selector, each once. Selectors are not nested deeply once they are checked. */
function setsNamedIn(selector: SetSelector, nodeSets: NodeSets): ReadonlySet<string> {
  if (typeof selector === 'string') {
    const name = nameOnSide(selector)?.name;
    return new Set(name !== undefined && Object.hasOwn(nodeSets, name) ? [name] : []);
  }
  const inside = isList(selector) ? selector : INNER_SELECTORS.flatMap((member) => selector[member] ?? []);
  return new Set(inside.flatMap((each) => [...setsNamedIn(each, nodeSets)]));
}
