import type { FastifyRequest } from 'fastify';

/**
 * A token in quotes may have commas and semicolons. One without its end goes on to the end of the header: to look for
 * that end from every quote would take time that follows the square of the length.
 */
const PARTS = /"(?:[^"\\]|\\.?)*"?|[^",;]+|[,;]/g;

/**
 * Whether a request prefers to be answered before its work is done (RFC 7240, section 4.1). Preferences that are not
 * known are passed over, as that document asks for.
 */
export function prefersAsync({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const header = [headers['prefer'] ?? []].flat().join(',');
  // The first part of each preference is its name; what follows a semicolon are parameters.
  let isName = true;
  for (const part of header.match(PARTS) ?? []) {
    if (part === ',') isName = true;
    else if (isName && part.trim() !== '') {
      if (part.trim().toLowerCase() === 'respond-async') return true;
      isName = false;
    }
  }
  return false;
}
