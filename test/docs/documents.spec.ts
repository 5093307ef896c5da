/** Files, commands and links that the documents name have to exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'clients/fly/README.md',
  'clients/python/CHANGELOG.md',
  'clients/python/README.md',
  'clients/typescript/README.md',
  'docker/README.md',
  'examples/README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].filter((path) => existsSync(path));

/** Something with a folder in it, or a file of code. */
const IS_PATH =
  /^(?:src|test|data|docs|bench|validation|scripts|clients|docker|examples)\/[\w./-]*$|^(?:[\w-]+\/)*[\w.-]+\.(?:ts|mjs)$/;
/** Made by a command, so not there in a fresh clone. */
const MADE = /^(?:data\/[\w.-]+\.connectome|data\/jobs|docker\/\.env)$/;

const sources = ['src', 'test', 'bench', 'scripts', 'clients/pages', 'clients/python'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs|py)$/.test(name))
    .map((name) => join(folder, name)),
);
const sourceNames = new Set(sources.map((file) => basename(file)));
const sourceText = [...sources, 'docker/compose.yaml'].map((file) => readFileSync(file, 'utf8')).join('\n');

/** @returns the names by which a page of GitHub links to the headings of a document */
function headingsOf(markdown: string): Set<string> {
  const headings = markdown.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, text]) => nameOf(text!)));
}

const nameOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

describe.each(DOCUMENTS)('%s', (path) => {
  const text = readFileSync(path, 'utf8');
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, inner]) => inner!);

  it('links to files that are there', () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target!);
    expect(targets.filter((target) => !existsSync(join(dirname(path), target)))).toEqual([]);
  });

  it('links to headings that are there', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const missing = links.filter(([, file, heading]) => {
      const target = file === '' ? path : join(dirname(path), file!);
      return target.endsWith('.md') && !headingsOf(readFileSync(target, 'utf8')).has(heading!);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it('names files that are there', () => {
    const files = code.filter((each) => IS_PATH.test(each) && !MADE.test(each));
    // Below the root, src or clients/pages; in documents on one folder, only the name.
    const missing = files.filter(
      (each) =>
        ![each, join(dirname(path), each), join('src', each), join('clients/pages', each)].some((file) =>
          existsSync(file),
        ) && !sourceNames.has(each),
    );
    expect(missing).toEqual([]);
  });

  it('names commands that are there', () => {
    const scripts = ['package.json', join(dirname(path), 'package.json')]
      .filter((file) => existsSync(file))
      .flatMap((file) =>
        Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { scripts: object }).scripts),
      );
    const named = [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name]) => name!);
    expect([...new Set(named)].filter((name) => !scripts.includes(name))).toEqual([]);
  });

  it('names errors, variables and constants that are there', () => {
    if (path === 'CHANGELOG.md') return; // It also names those that are gone.
    const shouting = code.filter((each) => /^(?:[A-Z]+_)+[A-Z]+(?:=\S*)?$/.test(each));
    const known = (name: string) => new RegExp(`\\b${name}\\b`).test(sourceText);
    expect(shouting.map((each) => each.split('=')[0]!).filter((name) => !known(name))).toEqual([]);
  });
});

describe('NOTICE and CITATION.cff', () => {
  it('have the citations of the model', () => {
    const files = ['src/service/api/v1/model.controller.ts', 'src/engine/connectome/model-origin.ts'];
    const described = files.map((file) => readFileSync(file, 'utf8')).join('');
    const dois = [...described.matchAll(/doi: '([^']+)'/g)].map(([, doi]) => doi!);
    expect(dois.length).toBeGreaterThan(2);
    for (const doi of dois) {
      expect(readFileSync('NOTICE', 'utf8')).toContain(`https://doi.org/${doi}`);
      expect(readFileSync('CITATION.cff', 'utf8')).toContain(`doi: ${doi}`);
    }
  });
});
