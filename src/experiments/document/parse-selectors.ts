import { SELECTOR_DEFINITIONS, selector } from '../../engine/connectome/selector-schema.js';
import type { SelectorAt } from '../../engine/connectome/node-set-resolver.js';
import type { SetSelector } from '../../engine/connectome/set-selector.js';
import { mapped } from '../../engine/mapped.js';
import { checked, checkOf } from '../../engine/schema/check.js';
import { completed } from '../../engine/schema/completed.js';
import { repeatedMember } from '../../engine/schema/json-text.js';
import { pointerTo, refused } from '../../engine/schema/json-path.js';
import { mapOf } from '../../engine/schema/json-schema.js';
import { SelectorCount } from './selector-count.js';

const SCHEMA = { ...mapOf(undefined, selector()), $defs: SELECTOR_DEFINITIONS };
const check = checkOf(SCHEMA, 'The query');

/**
 * Parses selectors in a query: names separated by commas, or JSON if the text begins with { or [.
 * @param texts by the names of their parameters
 * @param maxNames limit on types and root ids in all of them
 * @throws CodedError INVALID_PARAMETER with the path of the first fault; the path begins with the parameter
 */
export function parseSelectors(texts: Readonly<Record<string, string>>, maxNames: number): SelectorAt[] {
  const value = mapped(texts, selectorIn);
  const count = new SelectorCount(new Set(), maxNames);
  const complete = completed(SCHEMA, value, (_, each, path, depth) => count.add(each, path, depth));
  const selectors = checked(check, complete) as Readonly<Record<string, SetSelector>>;
  return Object.entries(selectors).map(([name, each]) => ({ selector: each, path: pointerTo([name]) }));
}

function selectorIn(text: string, name: string): unknown {
  if (/^\s*[{[]/.test(text)) {
    let selector: unknown;
    try {
      selector = JSON.parse(text);
    } catch {
      throw refused([name], text, 'names with commas between them, or a selector as JSON');
    }
    if (repeatedMember(text) === undefined) return selector;
    throw refused([name], text, 'a selector that has each member once');
  }
  const names = text.split(',').map((each) => each.trim());
  return names.length === 1 ? names[0] : names;
}
