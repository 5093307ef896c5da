import { CodedError, describeValue } from '../errors.js';
import { pointerTo } from './json-path.js';

/** @throws CodedError MALFORMED_REQUEST */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // Not the message of JSON.parse, which each engine words differently.
    const lines = text.slice(0, validUntil(text)).split('\n');
    throw new CodedError(
      'MALFORMED_REQUEST',
      `The body is not valid JSON: ${describeValue(text)}; the fault is in line ${lines.length}, ` +
        `column ${lines.at(-1)!.length + 1}.`,
      { cause: error },
    );
  }
}

const BLANKS = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** A string without its closing quote, as far as it is valid. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[ !#-[\]-\uffff]*)*/y;

/**
 * Finds the first fault of a text that should be JSON (RFC 8259).
 * @returns the offset of the first character that is not allowed there; the length if there is none, or too little text
 */
export function validUntil(text: string): number {
  let at = 0;
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? -1;
    at += Math.max(0, length);
    return length >= 0;
  };
  const take = (character: string) => {
    const isThere = text[at] === character;
    if (isThere) at++;
    return isThere;
  };
  const takeString = () => skip(STRING) && take('"');
  const takeName = () => skip(BLANKS) && takeString() && skip(BLANKS) && take(':');
  const isClosed = (closer: string) => skip(BLANKS) && take(closer);
  /** Closing brackets of the objects and lists that have begun. */
  const closers: string[] = [];
  for (;;) {
    skip(BLANKS);
    const closer = take('{') ? '}' : take('[') ? ']' : undefined;
    if (closer !== undefined && !isClosed(closer)) {
      closers.push(closer);
      if (closer === '}' && !takeName()) return at;
      continue;
    }
    if (closer === undefined && !(text[at] === '"' ? takeString() : skip(SCALAR))) return at;
    while (closers.length > 0 && isClosed(closers.at(-1)!)) closers.pop();
    if (!skip(BLANKS) || closers.length === 0 || !take(',')) return at;
    if (closers.at(-1) === '}' && !takeName()) return at;
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
