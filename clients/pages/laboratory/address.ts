/** The part of the address after `#`: the name of an example, a document, or the id of a job with its document. */
import { repeatedMember } from '../../../src/engine/schema/json-text.js';
import { documentHash } from '../document-link.js';
import { EXAMPLES } from './examples.js';
import { isMembers, type Json } from './json.js';

/** The experiment that an address names. */
interface AddressedExperiment {
  readonly document?: Json;
  readonly job?: string;
  /** The reason if the address seems to name an experiment but does not. */
  readonly damage?: string;
}

export function exampleHash(id: string): string {
  return `#example=${id}`;
}

/** @param document is kept in the address for the time after the job has expired */
export function jobHash(job: string, document: Json | undefined): string {
  const rest = document === undefined ? undefined : documentHash(document);
  return `#job=${encodeURIComponent(job)}${rest === undefined ? '' : `&${rest.slice(1)}`}`;
}

export function experimentIn(hash: string): AddressedExperiment {
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

/** @throws Error if the text is not a document */
export function documentIn(text: string): Json {
  const document = JSON.parse(text) as Json;
  if (!isMembers(document)) throw new Error('A document is an object of members.');
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw new Error(`The document has the member ${repeated.name} twice.`);
  return document;
}
