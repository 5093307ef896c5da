import { DIRECTIONS } from '../../connectome/neighbours.js';
import { MAXIMUM_SELECTOR_DEPTH, SELECTOR_LABELS } from '../../connectome/selector-schema.js';
import { nameOnSide, PUBLISHED_PREFIX } from '../../connectome/set-selector.js';
import { hasMember, isObject } from '../../schema/forms.js';
import { invalid, type JsonPath } from '../../schema/json-path.js';

/**
 * Objects, lists, names of sets and patterns with `*` in all selectors of a document. Each of them may stand for the
 * whole brain, so their number bounds what it costs to resolve a document.
 */
const MAXIMUM_SELECTORS = 500;
/** Each hop may look at every connection of the model, which takes as long as many selectors do. */
const MAXIMUM_HOPS = 60;

/** Counts what the selectors of one document need in all, before anything of them is checked. */
export class SelectorCount {
  /** Types and root ids: in rows of rates, which have a limit of their own, and elsewhere. */
  readonly #names = { rows: 0, others: 0 };
  #selectors = 0;
  #hops = 0;

  /** @param nodeSets names of the document's own sets  @param maximumNames types and root ids in all selectors */
  constructor(
    private readonly nodeSets: ReadonlySet<string>,
    private readonly maximumNames: number,
  ) {}

  /**
   * Counts a selector without those inside it. That of a row of rates counts only where it has a `*`: all else costs what
   * it selects, and neurons are counted when they are found.
   * @param depth lists and objects around it, with itself
   * @throws CodedError INVALID_PARAMETER
   */
  add(selector: unknown, path: JsonPath, depth: number): void {
    const isInRow = path[0] === 'inputs' && path[2] === 'rates';
    const counts = !isInRow || depth > 1;
    if (typeof selector === 'string') {
      const name = nameOnSide(selector)?.name ?? selector;
      if (!name.startsWith(PUBLISHED_PREFIX) && !this.nodeSets.has(name))
        this.#countPattern(name, path, isInRow);
      else if (counts) this.#countSelector(path);
    }
    if (typeof selector !== 'object' || selector === null) return;
    if (depth > MAXIMUM_SELECTOR_DEPTH) {
      throw invalid(
        path,
        `A selector may have at most ${MAXIMUM_SELECTOR_DEPTH} levels of lists and objects, got more.`,
      );
    }
    if (counts) this.#countSelector(path);
    if (!isObject(selector)) return;
    for (const direction of DIRECTIONS) {
      if (hasMember(selector, direction)) this.#countHops(selector['hops'], [...path, direction]);
    }
    for (const label of SELECTOR_LABELS) {
      const values = [selector[label] ?? []].flat() as unknown[];
      values.forEach((value, i) => {
        const here = Array.isArray(selector[label]) ? [...path, label, i] : [...path, label];
        if (typeof value === 'string' && label !== 'side') this.#countPattern(value, here, isInRow);
      });
    }
  }

  #countHops(hops: unknown, path: JsonPath): void {
    // Hops that are no number are refused later.
    this.#hops += typeof hops === 'number' ? hops : 1;
    if (this.#hops > MAXIMUM_HOPS) {
      throw invalid(
        path,
        `The selectors of a document may follow connections over at most ${MAXIMUM_HOPS} hops in all, got more.`,
      );
    }
  }

  #countPattern(text: string, path: JsonPath, isInRow: boolean): void {
    const place = isInRow ? 'rows' : 'others';
    if (++this.#names[place] > this.maximumNames) {
      const whose = isInRow ? 'rows of rates' : 'selectors';
      throw invalid(
        path,
        `The ${whose} of a document may have at most ${this.maximumNames} types and root ids in all, got more.`,
      );
    }
    if (text.includes('*')) this.#countSelector(path);
  }

  #countSelector(path: JsonPath): void {
    if (++this.#selectors > MAXIMUM_SELECTORS) {
      throw invalid(
        path,
        `The selectors of a document may have at most ${MAXIMUM_SELECTORS} lists, objects, names of sets and ` +
          'patterns with * in all, got more.',
      );
    }
  }
}
