/**
 * Adds the guide to the site: the pages of docs/guide, and the documents that they link to, as HTML. A page gives its
 * examples of open experiments to clients/pages/guide, which runs them in the tab.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, Renderer } from 'marked';
import { offlineScript } from './site-offline.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GUIDE = 'docs/guide';
const CONTENTS = `${GUIDE}/README.md`;
const ENTRY = join(ROOT, 'clients/pages/guide/main.ts');
/** The document that a command posts as an experiment: from a line with the path to the end of the quoted text. */
const POSTED = /\/api\/v2\/experiments\b(?:[^\n]*\\\n)*[^\n]*-d '(\{[^']*\})'/;
const LINK = /\]\(([^)#\s]+\.md)(?:#[^)\s]*)?\)/g;

/** Plugin of Vite that adds the guide to the build of the site. */
export function guide() {
  return {
    name: 'guide',
    enforce: 'post',
    config: () => ({ build: { rollupOptions: { input: [ENTRY] } } }),
    transformIndexHtml: (html) =>
      html.replace('</nav>', '  <a href="./guide/index.html">Guide</a>\n      </nav>'),
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const { pages, images } = guideSite();
        const assets = assetsOf(bundle);
        for (const page of pages) {
          this.emitFile({
            type: 'asset',
            fileName: `guide/${page.file}`,
            source: htmlOf(page, pages, assets),
          });
        }
        for (const image of images) {
          const source = readFileSync(join(ROOT, image));
          this.emitFile({ type: 'asset', fileName: `guide/images/${basename(image)}`, source });
        }
      },
    },
  };
}

/**
 * The pages without their frame, those of the guide in the order of its contents.
 * @returns documents: the text of each example that has a button; images: paths of files that the pages show
 */
export function guideSite() {
  const files = filesOfPages();
  const images = new Set();
  const pages = [...files].map(([source, file]) => pageOf(source, file, files, images));
  return { pages, images: [...images] };
}

/** @returns the names of pages by the paths of their sources */
function filesOfPages() {
  const named = linksOf(CONTENTS).filter((path) => posix.dirname(path) === GUIDE);
  const rest = readdirSync(join(ROOT, GUIDE)).map((name) => `${GUIDE}/${name}`);
  const own = [...new Set([CONTENTS, ...named, ...rest])];
  return new Map([...own, ...own.flatMap(linksOf)].map((path) => [path, fileOf(path)]));
}

function linksOf(path) {
  const links = readFileSync(join(ROOT, path), 'utf8').matchAll(LINK);
  return [...links]
    .map(([, link]) => posix.join(posix.dirname(path), link))
    .filter((target) => existsSync(join(ROOT, target)));
}

/** All pages are in one folder: `run.html`, `docs-science.html`, `clients-python.html`. */
function fileOf(path) {
  if (path === CONTENTS) return 'index.html';
  const name = path.startsWith(`${GUIDE}/`)
    ? basename(path)
    : path.replace('/README', '').replaceAll('/', '-');
  return name.replace(/\.md$/, '.html');
}

function pageOf(source, file, files, images) {
  const documents = [];
  const render = new Marked({ renderer: rendererOf(source, files, images, documents) });
  const text = readFileSync(join(ROOT, source), 'utf8');
  const title = /^# (.+)$/m.exec(text)[1].replaceAll('`', '');
  return { source, file, title, documents, body: render.parse(text) };
}

function rendererOf(source, files, images, documents) {
  const targetOf = (href) => posix.join(posix.dirname(source), href);
  return {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${escaped(anchorOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const address = /^(https?:|#)/.test(href) ? href : addressOf(targetOf(href), files);
      return address === undefined ? text : `<a href="${escaped(address)}">${text}</a>`;
    },
    image({ href, text }) {
      images.add(targetOf(href));
      return `<img src="images/${basename(href)}" alt="${escaped(text)}" loading="lazy">`;
    },
    table(token) {
      const table = Renderer.prototype.table.call(this, token);
      return `<div class="scroll" tabindex="0" role="group" aria-label="Table">\n${table}</div>\n`;
    },
    code({ text }) {
      const code = `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      const document = POSTED.exec(text)?.[1];
      if (document === undefined) return code;
      JSON.parse(document);
      documents.push(document);
      return `<div class="example" data-document="${escaped(document)}">\n${code}</div>\n`;
    },
    html: ({ text }) => (text.startsWith('<!--') ? '' : text),
  };
}

/** @returns undefined if the site lacks the target */
function addressOf(target, files) {
  const [path, anchor] = target.split('#');
  const example = /^examples\/([\w-]+)\.json$/.exec(path);
  if (example !== null) return `../laboratory.html#example=${example[1]}`;
  const file = files.get(path);
  return file && (anchor === undefined ? file : `${file}#${anchor}`);
}

/** The name by which a page of GitHub links to a heading. */
function anchorOf(heading) {
  const letters = heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '');
  return letters.replaceAll(' ', '-');
}

/** The files of the guide's entry, with their hashes. */
function assetsOf(bundle) {
  const files = Object.values(bundle);
  const entry = files.find(({ facadeModuleId }) => facadeModuleId === ENTRY);
  const styles = new Set();
  const collect = (chunk) => {
    for (const file of chunk.imports) collect(bundle[file]);
    for (const file of chunk.viteMetadata.importedCss) styles.add(file);
  };
  collect(entry);
  const icon = files.find(({ names }) => names?.includes('icon.svg')).fileName;
  return { script: entry.fileName, styles: [...styles], icon };
}

function htmlOf({ file, title, body }, pages, { script, styles, icon }) {
  const current = (of) => (of === file ? ' aria-current="page"' : '');
  const contents = pages
    .filter(({ source }) => source.startsWith(`${GUIDE}/`) && source !== CONTENTS)
    .map((page) => `<li><a href="${page.file}"${current(page.file)}>${escaped(page.title)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${escaped(title)} · Guide to the fly brain</title>
<link rel="icon" href="../${icon}" type="image/svg+xml">
${styles.map((style) => `<link rel="stylesheet" href="../${style}">`).join('\n')}
<script type="module" src="../${script}"></script>
${offlineScript('../')}
</head>
<body>
<header>
<div><p>Fly brain experiments</p></div>
<nav aria-label="Pages"><a href="../index.html">The brain</a><a href="../lesson.html">Lesson</a><a href="../laboratory.html">Laboratory</a><a href="index.html"${current('index.html')}>Guide</a></nav>
</header>
<main class="guide">
<article>
${body}</article>
<nav aria-label="Guide">
<h2>Guide</h2>
<ul>
${contents.join('\n')}
</ul>
</nav>
</main>
</body>
</html>
`;
}

function escaped(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
