import { nearestNames } from '../../connectome/nearest-names.js';
import {
  type LabelSelector,
  NAMED_SIDES,
  nameOnSide,
  PUBLISHED_PREFIX,
  type SetSelector,
} from '../../connectome/set-selector.js';
import {
  MAXIMUM_LABEL_LENGTH,
  MAXIMUM_SELECTOR_DEPTH,
  MAXIMUM_SELECTORS,
  ROOT_ID,
  SELECTOR_LABELS,
} from './fields.js';
import { checkMembers, checkNew, isSet } from './members.js';
import { invalid, memberOf, type Place, refused } from './place.js';
import { UNPRINTABLE } from './scalars.js';

const EXCEPT = 'except';
const SELECTOR_MEMBERS = [...Object.keys(SELECTOR_LABELS), EXCEPT];
const ROOT_ID_EXPRESSION = new RegExp(ROOT_ID);
const FORMS = 'a name, an object of labels or a list of selectors';

/** Checks the selectors of one document and counts what they need in all. */
export class SelectorParser {
  #names = 0;
  #selectors = 0;

  /** @param nodeSets names of the document's own sets  @param maximumNames ids, types and names in all selectors */
  constructor(
    private readonly nodeSets: ReadonlySet<string>,
    private readonly maximumNames: number,
  ) {}

  /** @throws CodedError INVALID_PARAMETER */
  parse(value: unknown, place: Place, depth = 1): SetSelector {
    if (typeof value === 'string') return this.#reference(value, place);
    if (typeof value === 'number') throw refused(place, value, `${FORMS}; ids are strings in root_id`);
    if (typeof value !== 'object' || value === null) throw refused(place, value, FORMS);
    if (depth > MAXIMUM_SELECTOR_DEPTH) {
      throw invalid(
        place,
        `A selector may have at most ${MAXIMUM_SELECTOR_DEPTH} levels of lists and objects, got more.`,
      );
    }
    this.#countSelector(place);
    return Array.isArray(value) ? this.#list(value, place, depth) : this.#labels(value, place, depth);
  }

  #reference(text: string, place: Place): string {
    checkLabel(text, place, 'the name of a node set or a cell type');
    const reference = nameOnSide(text);
    if (reference === undefined || reference.name === '') {
      const sides = NAMED_SIDES.map((side) => `:${side}`).join(', ');
      throw refused(place, text, `a name, alone or followed by one of ${sides}`);
    }
    const { name } = reference;
    if (name.startsWith(PUBLISHED_PREFIX) || this.nodeSets.has(name)) this.#countSelector(place);
    else this.#countPattern(name, place);
    return text;
  }

  #list(items: readonly unknown[], place: Place, depth: number): SetSelector[] {
    if (items.length === 0) throw refused(place, items, `${FORMS} with at least one item`);
    const seen = new Map<string, number>();
    return items.map((item, i) => {
      const here = memberOf(place, i);
      const selector = this.parse(item, here, depth + 1);
      checkNew(seen, JSON.stringify(selector), here, selector);
      return selector;
    });
  }

  #labels(value: object, place: Place, depth: number): LabelSelector {
    checkMembers(value, SELECTOR_MEMBERS, place);
    const given = SELECTOR_MEMBERS.filter((member) => isSet(value, member));
    if (given.every((member) => member === EXCEPT)) {
      throw refused(
        place,
        value,
        `an object with at least one of ${Object.keys(SELECTOR_LABELS).join(', ')}`,
      );
    }
    const members = given.map((member) => {
      const here = memberOf(place, member);
      const own = (value as Record<string, unknown>)[member];
      return [member, member === EXCEPT ? this.parse(own, here, depth + 1) : this.#values(member, own, here)];
    });
    return Object.fromEntries(members) as LabelSelector;
  }

  #values(label: string, value: unknown, place: Place): string | string[] {
    if (!Array.isArray(value)) return this.#value(label, value, place);
    if (value.length === 0) throw refused(place, value, 'a string or a list of at least one');
    const seen = new Map<string, number>();
    return value.map((item: unknown, i) => {
      const here = memberOf(place, i);
      const text = this.#value(label, item, here);
      checkNew(seen, text, here, text);
      return text;
    });
  }

  #value(label: string, value: unknown, place: Place): string {
    if (label === 'root_id') {
      this.#countName(place);
      return rootId(value, place);
    }
    if (label === 'side') {
      if (NAMED_SIDES.some((side) => side === value)) return value as string;
      throw refused(
        place,
        value,
        `one of ${NAMED_SIDES.join(', ')}`,
        typeof value === 'string' ? nearestNames(value, NAMED_SIDES) : undefined,
      );
    }
    if (typeof value !== 'string') throw refused(place, value, 'a string or a list of strings');
    checkLabel(value, place, `a ${label}`);
    this.#countPattern(value, place);
    return value;
  }

  #countPattern(text: string, place: Place): void {
    this.#countName(place);
    if (text.includes('*')) this.#countSelector(place);
  }

  #countName(place: Place): void {
    if (++this.#names > this.maximumNames) {
      throw invalid(
        place,
        `The selectors of a document may have at most ${this.maximumNames} types and root ids in all, got more.`,
      );
    }
  }

  #countSelector(place: Place): void {
    if (++this.#selectors > MAXIMUM_SELECTORS) {
      throw invalid(
        place,
        `The selectors of a document may have at most ${MAXIMUM_SELECTORS} lists, objects, names of sets and ` +
          'patterns with * in all, got more.',
      );
    }
  }
}

/** @throws CodedError INVALID_PARAMETER; a number would have lost digits before anybody could see it */
export function rootId(value: unknown, place: Place): string {
  if (typeof value === 'number') {
    throw refused(
      place,
      value,
      'a string of decimal digits: root ids exceed 2^53, beyond which a number in JSON is not exact',
    );
  }
  if (typeof value !== 'string' || !ROOT_ID_EXPRESSION.test(value)) {
    throw refused(place, value, 'a root id: a string of 1 to 20 decimal digits without a leading zero');
  }
  return value;
}

function checkLabel(text: string, place: Place, what: string): void {
  if (text === '' || text.length > MAXIMUM_LABEL_LENGTH || UNPRINTABLE.test(text)) {
    throw refused(place, text, `${what}: 1 to ${MAXIMUM_LABEL_LENGTH} characters without control characters`);
  }
}
