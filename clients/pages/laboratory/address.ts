/** The part of the address after `#`: an example by its name, a whole document, or a job by its name with its document. */
import { repeatedMember } from '../../../src/repeated-member.js';
import { documentHash } from '../document-link.js';
import { EXAMPLES } from './examples.js';
import { isMembers, type Json } from './json.js';

/** The experiment of an address. */
export interface Named {
  readonly document?: Json;
  readonly job?: string;
  /** Why it names nothing, where it seems to. */
  readonly damage?: string;
}

export function exampleHash(id: string): string {
  return `#example=${id}`;
}

/** @param document stays in the address when the job has ended */
export function jobHash(job: string, document: Json | undefined): string {
  const rest = document === undefined ? undefined : documentHash(document);
  return `#job=${encodeURIComponent(job)}${rest === undefined ? '' : `&${rest.slice(1)}`}`;
}

export function namedBy(hash: string): Named {
  if (hash.length <= 1) return {};
  try {
    const parts = new Map(
      hash
        .slice(1)
        .split('&')
        .map((part) => [
          part.slice(0, part.indexOf('=')),
          decodeURIComponent(part.slice(part.indexOf('=') + 1)),
        ]),
    );
    const [example, text, job] = ['example', 'document', 'job'].map((name) => parts.get(name));
    const document = text === undefined ? exampleOf(example) : documentIn(text);
    if (job === undefined && document === undefined) return { damage: 'It names no experiment.' };
    return { ...(document !== undefined && { document }), ...(job !== undefined && { job }) };
  } catch (error) {
    return { damage: (error as Error).message };
  }
}

function exampleOf(id: string | undefined): Json | undefined {
  const example = EXAMPLES.find((each) => each.id === id);
  if (id !== undefined && example === undefined) throw new Error(`There is no example ${id}.`);
  return example?.document;
}

/** @throws Error for a text that is no document */
export function documentIn(text: string): Json {
  const document = JSON.parse(text) as Json;
  if (!isMembers(document)) throw new Error('A document is an object of members.');
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw new Error(`The member ${repeated.name} stands there twice.`);
  return document;
}
