import { DIRECTIONS } from '../../connectome/neighbours.js';
import { MAXIMUM_SELECTOR_DEPTH, SELECTOR_LABELS } from '../../connectome/selector-schema.js';
import { nameOnSide, PUBLISHED_PREFIX } from '../../connectome/set-selector.js';
import { hasMember, isObject } from '../../schema/forms.js';
import { invalid, type JsonPath } from '../../schema/json-path.js';
import { Bound } from '../kinds/bound.js';

/**
 * Objects, lists, names of sets and patterns with `*` in all selectors of a document. Each of them may stand for the
 * whole brain, so their number bounds what it costs to resolve a document.
 */
const MAXIMUM_SELECTORS = 500;
/** Each hop may look at every connection of the model, which takes as long as many selectors do. */
const MAXIMUM_HOPS = 60;

/** Counts what the selectors of one document need in all, before anything of them is checked. */
export class SelectorCount {
  readonly #selectors = new Bound(
    MAXIMUM_SELECTORS,
    `The selectors of a document may have at most ${MAXIMUM_SELECTORS} lists, objects, names of sets and patterns with * ` +
      'in all',
  );
  readonly #hops = new Bound(
    MAXIMUM_HOPS,
    `The selectors of a document may follow connections over at most ${MAXIMUM_HOPS} hops in all`,
  );
  /** Types and root ids: in rows of rates, which have a limit of their own, and elsewhere. */
  readonly #namesOfRows: Bound;
  readonly #names: Bound;

  /** @param nodeSets names of the document's own sets  @param maximumNames types and root ids in all selectors */
  constructor(
    private readonly nodeSets: ReadonlySet<string>,
    maximumNames: number,
  ) {
    const names = (whose: string) =>
      new Bound(
        maximumNames,
        `The ${whose} of a document may have at most ${maximumNames} types and root ids in all`,
      );
    this.#namesOfRows = names('rows of rates');
    this.#names = names('selectors');
  }

  /**
   * Counts a selector without those inside it. That of a row of rates counts only where it has a `*`: all else costs what
   * it selects, and neurons are counted when they are found.
   * @param depth lists and objects around it, with itself
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
    if (depth > MAXIMUM_SELECTOR_DEPTH) {
      throw invalid(
        path,
        `A selector may have at most ${MAXIMUM_SELECTOR_DEPTH} levels of lists and objects, got more.`,
      );
    }
    if (counts) this.#selectors.add(1, path);
    if (!isObject(selector)) return;
    const { hops } = selector;
    for (const direction of DIRECTIONS) {
      // Hops that are no number are refused later.
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
