import { SELECTOR_DEFINITIONS, selector } from '../../connectome/selector-schema.js';
import type { SelectorAt } from '../../connectome/node-set-resolver.js';
import type { SetSelector } from '../../connectome/set-selector.js';
import { checked, checkOf } from '../../schema/check.js';
import { completed } from '../../schema/completed.js';
import { pointerTo, refused } from '../../schema/json-path.js';
import { mapOf } from '../../schema/json-schema.js';
import { SelectorCount } from './selector-count.js';

const SCHEMA = { ...mapOf(undefined, selector()), $defs: SELECTOR_DEFINITIONS };
const check = checkOf(SCHEMA, 'The query');

/**
 * Reads selectors that stand in a query: names that commas separate, or, beginning with { or [, JSON.
 * @param texts by the names of their parameters
 * @param maximumNames types and root ids in all of them
 * @throws CodedError INVALID_PARAMETER with the path of the first fault, which begins with the parameter
 */
export function parseSelectors(texts: Readonly<Record<string, string>>, maximumNames: number): SelectorAt[] {
  const value = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, selectorIn(name, text)]),
  );
  const count = new SelectorCount(new Set(), maximumNames);
  const complete = completed(SCHEMA, value, (_, each, path, depth) => count.add(each, path, depth));
  const selectors = checked(check, complete) as Readonly<Record<string, SetSelector>>;
  return Object.entries(selectors).map(([name, each]) => ({ selector: each, path: pointerTo([name]) }));
}

function selectorIn(name: string, text: string): unknown {
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw refused([name], text, 'names with commas between them, or a selector as JSON');
    }
  }
  const names = text.split(',').map((each) => each.trim());
  return names.length === 1 ? names[0] : names;
}
