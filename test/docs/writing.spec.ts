/** Documents are short to read: the rules on sentences, paragraphs and code spans. */
import { readdirSync, readFileSync } from 'node:fs';

const MAX_SENTENCE_WORDS = 35;
const MAX_PARAGRAPH_WORDS = 90;
const MAX_CODE_SPANS_PER_100_WORDS = 2;

const documents = [
  'README.md',
  'SECURITY.md',
  'clients/fly/README.md',
  'clients/python/README.md',
  'clients/typescript/README.md',
  'docker/README.md',
  'examples/README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].sort();

/** @returns the prose of a document: a text for each paragraph and each entry of a list, without code and tables */
function paragraphsOf(markdown: string): string[] {
  const text = markdown
    .replace(/^(```|~~~)[^]*?^\1$/gm, '')
    .replace(/<!--[^]*?-->/g, '')
    .replace(/^\|.*$/gm, '')
    .replace(/^#.*$/gm, '');
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((each) => each.replace(/\s+/g, ' ').trim())
    .filter((each) => each !== '');
}

/** @returns a code span, a link and a formula as the words that a reader says */
function spoken(paragraph: string): string {
  return paragraph
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]+`/g, 'code')
    .replace(/[*_]{1,2}/g, '');
}

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));

/** A full stop between digits, or after one of these, ends no sentence. */
function sentencesOf(paragraph: string): string[] {
  return spoken(paragraph)
    .replace(/\b(e\.g|i\.e|al|Fig|Figs|vs|approx|No)\. /g, '$1 ')
    .split(/(?<=[.!?:;])["')\]]*\s+/);
}

it('finds sentences and paragraphs, and leaves out the rest', () => {
  const text =
    '# Title\n\nOne two. Three [four](x.md) `a b`: five\nsix.\n\n- seven\n- eight\n\n```\ncode\n```\n\n| a |\n';
  const found = paragraphsOf(text);
  expect(found).toEqual(['One two. Three [four](x.md) `a b`: five six.', '- seven', '- eight']);
  expect(sentencesOf(found[0]!)).toEqual(['One two.', 'Three four code:', 'five six.']);
});

describe.each(documents)('%s', (path) => {
  const paragraphs = paragraphsOf(readFileSync(path, 'utf8'));

  it(`has no sentence above ${MAX_SENTENCE_WORDS} words`, () => {
    const sentences = paragraphs.flatMap(sentencesOf);
    expect(sentences.filter((each) => wordsOf(each).length > MAX_SENTENCE_WORDS)).toEqual([]);
  });

  it(`has no paragraph above ${MAX_PARAGRAPH_WORDS} words`, () => {
    expect(paragraphs.filter((each) => wordsOf(spoken(each)).length > MAX_PARAGRAPH_WORDS)).toEqual([]);
  });
});

it('docs/ARCHITECTURE.md is an argument, not a list of files', () => {
  // Paths belong in the captions of pictures, which are numbered, in tables and in the tree.
  const argument = paragraphsOf(readFileSync('docs/ARCHITECTURE.md', 'utf8')).filter(
    (each) => !/^\d+\. /.test(each),
  );
  const words = argument.flatMap((each) => wordsOf(spoken(each))).length;
  const spans = argument.join(' ').match(/`[^`]+`/g)?.length ?? 0;
  expect((100 * spans) / words).toBeLessThanOrEqual(MAX_CODE_SPANS_PER_100_WORDS);
});
