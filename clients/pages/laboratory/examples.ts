/** Published experiments as starting points: the documents of examples/, by file name. */
import { getOrInsert } from '../../../src/engine/get-or-insert.js';
import { grouped } from '../dom.js';
import { service } from '../service/client.js';
import { isList, isMembers, type Json, type Members } from './json.js';
import { namesIn, ownSetsOf } from './selectors.js';

const FILES = import.meta.glob<Members>('../../../examples/*.json', { eager: true, import: 'default' });
const CHANGED = 'Changed: ';
const MAX_NAME_LENGTH = 120;

export interface Example {
  /** File name without its extension; links contain it. */
  readonly id: string;
  readonly title: string;
  readonly document: Members;
}

export const EXAMPLES: readonly Example[] = Object.entries(FILES).map(([path, document]) => {
  const id = path.slice(path.lastIndexOf('/') + 1, -'.json'.length);
  return { id, title: typeof document['name'] === 'string' ? document['name'] : id, document };
});

/** Gives a document the name of a published one only if both are equal. */
export function namedTruly(document: Members): Members {
  const name = String(document['name'] ?? '');
  const changedName = (title: string) => (CHANGED + title).slice(0, MAX_NAME_LENGTH);
  const example = EXAMPLES.find(({ title }) => title === name || changedName(title) === name);
  if (example === undefined) return document;
  const isSame = textOf(document) === textOf(example.document);
  const named = isSame ? example.title : changedName(example.title);
  return named === name ? document : { ...document, name: named };
}

/** A text that depends neither on the name of a document nor on the order of its members. */
export function textOf(document: Members): string {
  return sorted({ ...document, name: '' });
}

function sorted(value: Json): string {
  if (isList(value)) return `[${value.map(sorted).join()}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${name}:${sorted(value[name]!)}`).join()}}`;
}

/**
 * Compares the examples with the served brain.
 * @returns for each, the neurons that the brain lacks or selects differently; an empty text if there are no differences
 */
export async function exampleFits(): Promise<{ readonly canRun: boolean; readonly text: string }[]> {
  const sets = new Map((await service.nodeSets()).node_sets.map((set) => [set.name, set]));
  const counts = new Map<string, Promise<number>>();
  const countOf = (name: string): Promise<number> =>
    getOrInsert(counts, name, async (type) => (await service.neurons({ type, limit: 1 })).count);
  return Promise.all(
    EXAMPLES.map(async ({ document }) => {
      const own = ownSetsOf(document);
      const names = namesIn(document).filter((name) => name !== '@all' && !own.includes(name));
      const countHere = async (name: string) =>
        name.startsWith('@') ? (sets.get(name)?.neurons ?? 0) : countOf(name);
      const found = await Promise.all(names.map(async (name) => ({ name, count: await countHere(name) })));
      const lacking = found.filter(({ count }) => count === 0).map(({ name }) => name);
      if (lacking.length > 0) {
        return { canRun: false, text: `Cannot run on this brain, which has no ${lacking.join(', ')}.` };
      }
      const others = found.flatMap(({ name, count }) => {
        const published = sets.get(name)?.published_count;
        return published === undefined || published === count
          ? []
          : [`${grouped(count)} for the ${grouped(published)} of ${name}`];
      });
      const text = others.length === 0 ? '' : `Neurons here: ${others.join(', ')}. Do not compare doses.`;
      return { canRun: true, text };
    }),
  );
}
