/** Finds and replaces the selectors of a document, at any path. */
import { mapped } from '../../../src/engine/mapped.js';
import { INNER_SELECTORS, nameOnSide } from '../../../src/engine/connectome/set-selector.js';
import { isList, isMembers, type Json, type Members, pointer, withMemberRenamed } from './json.js';

/** Members whose values are selectors. */
const SELECTORS: readonly string[] = ['node_set', 'each', 'source', 'target', 'silence', ...INNER_SELECTORS];
const OWN_SETS = 'node_sets';

/** Replaces the text of each selector in the document. */
function withSelectors(document: Members, replace: (selector: string) => string): Members {
  return mapped(document, (member, name) =>
    name === OWN_SETS && isMembers(member)
      ? mapped(member, (each) => replaced(each, replace, true))
      : replaced(member, replace, SELECTORS.includes(name)),
  );
}

function replaced(value: Json, replace: (selector: string) => string, isSelector: boolean): Json {
  if (typeof value === 'string') return isSelector ? replace(value) : value;
  if (isList(value)) return value.map((item) => replaced(item, replace, isSelector));
  if (!isMembers(value)) return value;
  return mapped(value, (member, name) => replaced(member, replace, SELECTORS.includes(name)));
}

/** Distinct names in the selectors of a document, without sides. */
export function namesIn(document: Members): string[] {
  const names = new Set<string>();
  withSelectors(document, (text) => {
    names.add(nameOnSide(text)?.name ?? text);
    return text;
  });
  return [...names];
}

/** Names of the sets that the document defines. */
export function ownSetsOf({ [OWN_SETS]: own }: Members): string[] {
  return isMembers(own) ? Object.keys(own) : [];
}

/** Renames one of the document's sets, also in its selectors. */
export function withSetRenamed(document: Members, before: string, name: string): Json {
  const renamed = withSelectors(document, (text) => {
    const parts = nameOnSide(text);
    if (parts?.name !== before) return text;
    return parts.side === undefined ? name : `${name}:${parts.side}`;
  });
  return withMemberRenamed(renamed, pointer(OWN_SETS, before), name);
}
