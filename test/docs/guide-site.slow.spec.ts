/** The guide of the site: its links lead somewhere, and the documents of its buttons run. */
import { readFileSync } from 'node:fs';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { connectomeFile } from '../support/connectomes.js';
import { examples } from '../support/guide-examples.js';
import { guidePages } from '../support/guide-site.js';
import { planOf, refusalOf } from '../support/open-experiments.js';

const pages = guidePages();
const byFile = new Map(pages.map((page) => [page.file, page]));
const idsOf = (body: string) => [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);

describe('the guide of the site', () => {
  it('has each page of docs/guide, and the documents that these link to', () => {
    const guide = pages.filter(({ source }) => source.startsWith('docs/guide/'));
    const [first, second] = guide;
    expect([first!.file, second!.file]).toEqual(['index.html', 'run.html']);
    expect(new Set(guide.map(({ source }) => source)).size).toBe(20);
    expect(byFile.size).toBe(pages.length);
    expect(byFile.get('docs-science.html')!.title).toBe('The model, and what it can say');
  });

  it.each(pages)('$file links to pages and headings that are there', ({ file, body }) => {
    const links = [...body.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href!);
    const lost = links.filter((href) => {
      if (/^https?:/.test(href) || href.startsWith('../laboratory.html#example=')) return false;
      const [path, anchor] = href.split('#');
      const page = byFile.get(path === '' ? file : path!);
      return page === undefined || (anchor !== undefined && !idsOf(page.body).includes(anchor));
    });
    expect(lost).toEqual([]);
    expect(body).not.toMatch(/<script|<style| on\w+=| src="(?!images\/)/);
  });
});

describe('the documents with a button', () => {
  let connectome: Connectome;
  beforeAll(async () => {
    connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile('default'))).buffer);
  });

  const documents = pages.flatMap(({ file, documents: texts }) => texts.map((text) => ({ file, text })));

  it('are those that the guide posts as experiments', () => {
    const posted = [...examples.values()].filter(
      ({ language, code }) => language === 'sh' && /\/api\/v2\/experiments[^]*-d '\{/.test(code),
    );
    // A session posts its document elsewhere.
    const expected = posted.map(({ page }) => `${page}.html`).filter((file) => file !== 'sessions.html');
    expect(documents.map(({ file }) => file).sort()).toEqual(expected.sort());
    expect(documents).toHaveLength(12);
  });

  it.each(documents)('$file: is accepted, or refused as the page says', ({ file, text }) => {
    const plan = () => planOf(connectome, JSON.parse(text) as object);
    if (file !== 'errors.html') {
      expect(plan().dryRun(0).cost.brain_seconds).toBeGreaterThan(0);
      return;
    }
    const [, shown] = /```json\n([^]*?)\n```/.exec(readFileSync('docs/guide/errors.md', 'utf8'))!;
    expect(refusalOf(plan).message).toBe((JSON.parse(shown!) as { error: string }).error);
  });
});
