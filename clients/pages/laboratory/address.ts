/** The part of the address after `#`: an example by its name, a whole document, or a job by its name. */
import { DOCUMENT } from '../document-link.js';
import { EXAMPLES } from './examples.js';
import type { Json } from './json.js';

const EXAMPLE = '#example=';
const JOB = '#job=';

export function exampleHash(id: string): string {
  return `${EXAMPLE}${id}`;
}

export function jobHash(job: string): string {
  return `${JOB}${encodeURIComponent(job)}`;
}

export function jobOfHash(hash: string): string | undefined {
  return hash.startsWith(JOB) ? decodeURIComponent(hash.slice(JOB.length)) : undefined;
}

/** @returns the document that an address names; nothing where it names none */
export function documentOfHash(hash: string): Json | undefined {
  if (hash.startsWith(EXAMPLE)) {
    return EXAMPLES.find(({ id }) => id === hash.slice(EXAMPLE.length))?.document;
  }
  if (!hash.startsWith(DOCUMENT)) return undefined;
  try {
    return JSON.parse(decodeURIComponent(hash.slice(DOCUMENT.length))) as Json;
  } catch {
    return undefined;
  }
}
