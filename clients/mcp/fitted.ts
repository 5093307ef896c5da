/** Shortens structured content: a client may refuse a long message, and an agent reads little of it. */
import { isObject } from '../../src/engine/schema/forms.js';

/** Length of the JSON of structured content: about 15 000 tokens of a language model. */
const MAX_CHARACTERS = 50_000;
/** Items that lists keep, tried in turn. */
const KEPT_ITEMS = [1000, 300, 100, 30, 10, 3, 1];
/** An object with more members has names of the data, such as cell types. */
const MAX_OWN_MEMBERS = 64;

export interface Fitted {
  readonly content: Readonly<Record<string, unknown>>;
  /** Number of missing items of each list that was cut, by its path. `*` stands for all items of a list. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** Cuts the ends of long lists, and of objects with many members, until the whole is short; else drops members. */
export function fitted(content: Fitted['content']): Fitted {
  let best: Fitted = { content, leftOut: {} };
  for (const kept of KEPT_ITEMS) {
    if (JSON.stringify(best).length <= MAX_CHARACTERS) break;
    const leftOut: Record<string, number> = {};
    best = { content: cut(content, kept, '', leftOut) as Fitted['content'], leftOut };
  }
  for (const name of longestFirst(best.content)) {
    if (JSON.stringify(best).length <= MAX_CHARACTERS) break;
    best = withoutMember(best, name, content[name]);
  }
  return best;
}

function longestFirst(content: Fitted['content']): string[] {
  const lengthOf = (name: string) => JSON.stringify(content[name]).length;
  return Object.keys(content).sort((a, b) => lengthOf(b) - lengthOf(a));
}

function withoutMember({ content, leftOut }: Fitted, name: string, member: unknown): Fitted {
  const path = `/${name}`;
  const others = Object.entries(leftOut).filter(([each]) => !each.startsWith(`${path}/`));
  return {
    content: Object.fromEntries(Object.entries(content).filter(([each]) => each !== name)),
    leftOut: { ...Object.fromEntries(others), [path]: Object.keys(member ?? {}).length },
  };
}

function cut(value: unknown, kept: number, path: string, leftOut: Record<string, number>): unknown {
  if (!isObject(value) && !Array.isArray(value)) return value;
  const isList = Array.isArray(value);
  const all = Object.entries(value);
  const entries = all.slice(0, isList ? kept : Math.max(kept, MAX_OWN_MEMBERS));
  if (entries.length < all.length) leftOut[path] = (leftOut[path] ?? 0) + all.length - entries.length;
  const shorter = entries.map(([name, member]) => [
    name,
    cut(member, kept, `${path}/${isList ? '*' : name}`, leftOut),
  ]);
  return isList ? shorter.map(([, member]) => member) : Object.fromEntries(shorter);
}
