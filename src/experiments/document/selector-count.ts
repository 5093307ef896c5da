import { DIRECTIONS } from '../../engine/connectome/neighbours.js';
import { MAX_SELECTOR_DEPTH, SELECTOR_LABELS } from '../../engine/connectome/selector-schema.js';
import { nameOnSide, PUBLISHED_PREFIX } from '../../engine/connectome/set-selector.js';
import { hasMember, isObject } from '../../engine/schema/forms.js';
import { invalid, type JsonPath } from '../../engine/schema/json-path.js';
import { Bound } from '../kinds/bound.js';

/**
 * Maximum number of objects, lists, names of sets and patterns with `*` in all selectors of a document. Each may select the
 * whole brain, so this bounds the work of resolving a document.
 */
const MAX_SELECTORS = 500;
/** Maximum number of hops. Each may visit every connection of the model, which takes as long as many selectors. */
const MAX_HOPS = 60;

/** Counts the selectors of one document. This bounds work before any selector is checked. */
export class SelectorCount {
  readonly #selectors = new Bound(
    MAX_SELECTORS,
    `The selectors of a document may have at most ${MAX_SELECTORS} lists, objects, names of sets and patterns with * ` +
      'in all',
  );
  readonly #hops = new Bound(
    MAX_HOPS,
    `The selectors of a document may follow connections over at most ${MAX_HOPS} hops in all`,
  );
  /** Types and root ids in rows of rates; they have a limit of their own, apart from #names. */
  readonly #namesOfRows: Bound;
  readonly #names: Bound;

  /** @param nodeSets names of the document's own sets  @param maxNames limit on types and root ids in all selectors */
  constructor(
    private readonly nodeSets: ReadonlySet<string>,
    maxNames: number,
  ) {
    const names = (whose: string) =>
      new Bound(
        maxNames,
        `The ${whose} of a document may have at most ${maxNames} types and root ids in all`,
      );
    this.#namesOfRows = names('rows of rates');
    this.#names = names('selectors');
  }

  /**
   * Counts a selector without the selectors inside it. In a row of rates it counts only if it has a `*`. All other work there
   * grows with the selected neurons, which have their own limit.
   * @param depth number of lists and objects around the selector, itself included
   * @throws CodedError INVALID_PARAMETER
   */
  add(selector: unknown, path: JsonPath, depth: number): void {
    const isInRow = path[0] === 'inputs' && path[2] === 'rates';
    const counts = !isInRow || depth > 1;
    const addPattern = (text: string, here: JsonPath) => {
      (isInRow ? this.#namesOfRows : this.#names).add(1, here);
      if (text.includes('*')) this.#selectors.add(1, here);
    };
    if (typeof selector === 'string') {
      const name = nameOnSide(selector)?.name ?? selector;
      if (!name.startsWith(PUBLISHED_PREFIX) && !this.nodeSets.has(name)) addPattern(name, path);
      else if (counts) this.#selectors.add(1, path);
    }
    if (typeof selector !== 'object' || selector === null) return;
    if (depth > MAX_SELECTOR_DEPTH) {
      throw invalid(
        path,
        `A selector may have at most ${MAX_SELECTOR_DEPTH} levels of lists and objects, got more.`,
      );
    }
    if (counts) this.#selectors.add(1, path);
    if (!isObject(selector)) return;
    const { hops } = selector;
    for (const direction of DIRECTIONS) {
      // The schema refuses other values of hops later.
      const followed = typeof hops === 'number' ? hops : 1;
      if (hasMember(selector, direction)) this.#hops.add(followed, [...path, direction]);
    }
    for (const label of SELECTOR_LABELS) {
      if (label === 'side') continue;
      const values = [selector[label] ?? []].flat() as unknown[];
      values.forEach((value, i) => {
        const here = Array.isArray(selector[label]) ? [...path, label, i] : [...path, label];
        if (typeof value === 'string') addPattern(value, here);
      });
    }
  }
}
