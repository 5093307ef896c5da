/** The examples of the pages in docs/guide, by their names: a block of code after `<!-- example: NAME -->`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const DOCUMENTED_ORIGIN = 'http://localhost:8080';
const FOLDER = resolve('docs/guide');

/** The text of each page, by its name. */
export const pages = new Map(
  readdirSync(FOLDER)
    .sort()
    .map((file) => [file.replace(/\.md$/, ''), readFileSync(join(FOLDER, file), 'utf8')]),
);

interface Example {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

export const examples = new Map<string, Example>();
for (const [page, text] of pages) {
  for (const [, name, language, code] of text.matchAll(
    /<!-- example: (\S+) -->\n+```(\S+)\n([^]*?)\n```\n/g,
  )) {
    if (examples.has(name!)) throw new Error(`Two examples are called ${name}.`);
    examples.set(name!, { page, language: language!, code: code! });
  }
}

/** The code of an example, aimed at a service. */
export function codeAt(origin: string, name: string): string {
  return examples.get(name)!.code.replaceAll(DOCUMENTED_ORIGIN, origin);
}
