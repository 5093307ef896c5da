/** Links to the laboratory that contain a document. */
/** Some programs cut longer addresses. */
const MAX_HASH_LENGTH = 16_000;

/** @returns undefined if the document is too long for an address */
export function documentHash(document: unknown): string | undefined {
  const hash = `#document=${encodeURIComponent(JSON.stringify(document))}`;
  return hash.length > MAX_HASH_LENGTH ? undefined : hash;
}
