import { CodedError, describeValue } from '../errors.js';
import { pointerTo } from './json-path.js';

/** @throws CodedError MALFORMED_REQUEST */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CodedError('MALFORMED_REQUEST', `The body is not valid JSON: ${describeValue(text)}.`, {
      cause: error,
    });
  }
}

/** A longer path is left out. No useful document is nested so deeply, and the path could be as long as the text. */
const MAX_PATH_LENGTH = 1000;

/** The tokens of JSON that matter: strings, with a colon if they are names, and the characters { } [ ] and comma. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\],]/g;

/** An object or a list that has begun and not ended. */
interface Open {
  /** The names so far; only for an object. */
  readonly names?: Set<string>;
  /** The current member or item. */
  key: string | number;
}

/**
 * Finds a member that occurs twice in an object. JSON.parse would silently keep only the last one.
 * @param json must be valid JSON
 * @returns the member's name and JSON Pointer; undefined if there is none
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
 * Refuses a text in which an object has a member twice. Otherwise one of them, such as an input, would be lost
 * silently.
 * @param json must be valid JSON
 * @param what the name of the text in messages
 * @throws CodedError INVALID_PARAMETER
 */
export function refuseRepeatedMember(json: string, what = 'The document'): void {
  const repeated = repeatedMember(json);
  if (repeated === undefined) return;
  const { name, path } = repeated;
  throw new CodedError(
    'INVALID_PARAMETER',
    `${what} must have each member once, got ${describeValue(name)} twice in the same object.`,
    { path: path.length > MAX_PATH_LENGTH ? '' : path },
  );
}
