/**
 * Config of a route whose body is a document: it arrives as text, failures say where in it the fault is, and no member
 * may stand in it twice.
 */
export const DOCUMENT_ROUTE = { isDocumentRoute: true } as const;

export function isDocumentRoute(config: object | undefined): boolean {
  return config !== undefined && 'isDocumentRoute' in config;
}
