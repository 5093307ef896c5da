/** Links to the laboratory that hold a document. */
/** Longer addresses are cut by some programs. */
const LONGEST_HASH = 16_000;

/** @returns nothing where a document is too long for an address */
export function documentHash(document: unknown): string | undefined {
  const hash = `#document=${encodeURIComponent(JSON.stringify(document))}`;
  return hash.length > LONGEST_HASH ? undefined : hash;
}
