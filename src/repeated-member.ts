import { CodedError, describeValue } from './errors.js';
import { pointerTo } from './schema/json-path.js';

/** Documents are not nested so deeply: a longer path helps nobody, and could be as long as the text. */
const LONGEST_PATH_CHARACTERS = 1000;

/** Strings, with the colon of those that are names, and what opens, separates and closes. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\],]/g;

/** An object or a list that is open at a place in the text. */
interface Open {
  /** Names so far, of an object alone. */
  readonly names?: Set<string>;
  /** The member or item that the text is in. */
  key: string | number;
}

/**
 * A member that stands twice in an object, of which JSON.parse keeps the last without a word, with its JSON Pointer.
 * @param json a text that is JSON
 */
export function repeatedMember(json: string): { readonly name: string; readonly path: string } | undefined {
  const open: Open[] = [];
  for (const [token, colon] of json.matchAll(TOKEN)) {
    const last = open.at(-1);
    if (token === '{') open.push({ names: new Set(), key: '' });
    else if (token === '[') open.push({ key: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',') {
      if (typeof last!.key === 'number') last!.key++;
    } else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      last!.key = name;
      if (last!.names!.has(name)) return { name, path: pointerTo(open.map(({ key }) => key)) };
      last!.names!.add(name);
    }
  }
  return undefined;
}

/**
 * Finds a member that a text has twice: one of them, an input, a rate or a report, would be lost without a word.
 * @param json a text that is JSON  @param what it is, as sentences name it
 * @throws CodedError INVALID_PARAMETER
 */
export function refuseRepeatedMember(json: string, what = 'The document'): void {
  const repeated = repeatedMember(json);
  if (repeated === undefined) return;
  const { name, path } = repeated;
  throw new CodedError(
    'INVALID_PARAMETER',
    `${what} must have each member once, got ${describeValue(name)} twice in the same object.`,
    { path: path.length > LONGEST_PATH_CHARACTERS ? '' : path },
  );
}
