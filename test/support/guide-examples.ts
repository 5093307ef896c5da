/** The examples of docs/guide.md, by their names. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const DOCUMENTED_ORIGIN = 'http://localhost:8080';
export const guide = readFileSync(resolve('docs/guide.md'), 'utf8');

interface Example {
  readonly language: string;
  readonly code: string;
}

export const examples = new Map<string, Example>();
for (const [, name, language, code] of guide.matchAll(
  /<!-- example: (\S+) -->\n+```(\S+)\n([^]*?)\n```\n/g,
)) {
  examples.set(name!, { language: language!, code: code! });
}

/** The code of an example, aimed at a service. */
export function codeAt(origin: string, name: string): string {
  return examples.get(name)!.code.replaceAll(DOCUMENTED_ORIGIN, origin);
}
