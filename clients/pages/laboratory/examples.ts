/** Published experiments to begin with: the documents of examples/, by the names of their files. */
import type { Members } from './json.js';

const FILES = import.meta.glob<Members>('../../../examples/*.json', { eager: true, import: 'default' });

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
