import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import dockerignore from '@balena/dockerignore';
import { DockerfileParser, type JSONInstruction } from 'dockerfile-ast';

/** One line of a Dockerfile with its arguments to Docker filled in. */
export interface Step {
  readonly keyword: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly words: readonly string[];
  /** Everything after keyword and flags, lines joined. */
  readonly text: string;
  /** Of the form with brackets, which no shell reads. */
  readonly list: readonly string[] | undefined;
}

export interface Stage {
  readonly name: string;
  /** An image of a registry or an earlier stage. */
  readonly base: string;
  readonly steps: readonly Step[];
}

export function readDockerfile(path: string): Stage[] {
  const stages: { name: string; base: string; steps: Step[] }[] = [];
  const globals: Record<string, string> = {};
  for (const instruction of DockerfileParser.parse(readFileSync(path, 'utf8')).getInstructions()) {
    const keyword = instruction.getKeyword();
    const words = instruction.getArguments().map((argument) => argument.getValue());
    const stage = stages.at(-1);
    if (keyword === 'FROM') {
      stages.push({ name: words[2]!, base: filledIn(words[0]!, globals), steps: [] });
    } else if (stage === undefined) {
      Object.assign(globals, assignments(words));
    } else {
      const text = instruction.getArgumentsContent() ?? '';
      const flags = 'getFlags' in instruction ? (instruction as JSONInstruction).getFlags() : [];
      const rest = words.filter((word) => !word.startsWith('--'));
      stage.steps.push({
        keyword,
        flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue()!])),
        words: rest,
        text,
        list: /\[.*\]$/s.test(text) ? (JSON.parse(text.slice(text.indexOf('['))) as string[]) : undefined,
      });
    }
  }
  return stages;
}

/** @returns NAME=VALUE words as an object; a name alone is empty */
export function assignments(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => /^([^=]+)=?(.*)$/s.exec(word)!.slice(1) as [string, string]));
}

export function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

/** Files that Docker would be given, by the rules of .dockerignore; paths relative to the folder. */
export function buildContext(folder: string): string[] {
  const rules = dockerignore.default().add(readFileSync(join(folder, '.dockerignore'), 'utf8'));
  // Not looked into, as nothing copies from them.
  const skipped = new Set(['node_modules', '.git', 'dist', 'coverage']);
  const files = (below: string): string[] =>
    readdirSync(join(folder, below))
      .filter((name) => below !== '' || !skipped.has(name))
      .map((name) => join(below, name))
      .flatMap((path) => (statSync(join(folder, path)).isDirectory() ? files(path) : [path]));
  return files('').filter((path) => !rules.ignores(path));
}
