/** Published experiments to begin with: the documents of examples/, by the names of their files. */
import { grouped } from '../dom.js';
import { service } from '../service/client.js';
import { isList, isMembers, type Json, type Members } from './json.js';
import { namesIn, ownSetsOf } from './selectors.js';

const FILES = import.meta.glob<Members>('../../../examples/*.json', { eager: true, import: 'default' });
const CHANGED = 'Changed: ';
const LONGEST_NAME = 120;

export interface Example {
  /** Name of the file without its ending, which links contain. */
  readonly id: string;
  readonly title: string;
  readonly document: Members;
}

export const EXAMPLES: readonly Example[] = Object.entries(FILES).map(([path, document]) => {
  const id = path.slice(path.lastIndexOf('/') + 1, -'.json'.length);
  return { id, title: typeof document['name'] === 'string' ? document['name'] : id, document };
});

/** The document with a name of its own where it has that of a published one and is another; and the other way round. */
export function namedTruly(document: Members): Members {
  const name = String(document['name'] ?? '');
  const changedName = (title: string) => (CHANGED + title).slice(0, LONGEST_NAME);
  const example = EXAMPLES.find(({ title }) => title === name || changedName(title) === name);
  if (example === undefined) return document;
  const isSame = sorted({ ...document, name: example.title }) === sorted(example.document);
  const named = isSame ? example.title : changedName(example.title);
  return named === name ? document : { ...document, name: named };
}

/** Equal for equal documents, in whatever order their members stand. */
function sorted(value: Json): string {
  if (isList(value)) return `[${value.map(sorted).join()}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${name}:${sorted(value[name]!)}`).join()}}`;
}

/** How an example stands to the brain that is served. */
export interface Standing {
  readonly canRun: boolean;
  /** Empty where there is nothing to say. */
  readonly text: string;
}

/** @returns for each example, in their order, which of its neurons the brain lacks or has others for */
export async function standings(): Promise<Standing[]> {
  const sets = new Map((await service.nodeSets()).node_sets.map((set) => [set.name, set]));
  const counts = new Map<string, Promise<number>>();
  const countOf = (name: string): Promise<number> => {
    const count = counts.get(name) ?? service.neurons({ type: name, limit: 1 }).then((found) => found.count);
    counts.set(name, count);
    return count;
  };
  return Promise.all(
    EXAMPLES.map(async ({ document }) => {
      const own = ownSetsOf(document);
      const names = namesIn(document).filter((name) => name !== '@all' && !own.includes(name));
      const of = async (name: string) =>
        name.startsWith('@') ? (sets.get(name)?.neurons ?? 0) : countOf(name);
      const found = await Promise.all(names.map(async (name) => ({ name, count: await of(name) })));
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
