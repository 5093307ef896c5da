import type { Citation } from './service/client.js';
import { element } from './dom.js';

/** A publication as a link to its DOI. */
export function citationLink({ text, doi }: Pick<Citation, 'text' | 'doi'>): HTMLElement {
  return element('a', { href: `https://doi.org/${doi}`, rel: 'noreferrer' }, text);
}
