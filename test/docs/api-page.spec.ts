/** The page of the API, as the build makes it, beside the descriptions that it is made from. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Description {
  readonly info: { readonly version: string };
  readonly paths: Record<string, Record<string, { readonly operationId: string }>>;
  readonly components: { readonly schemas: Record<string, object> };
}

const PRINTED = `
  const { apiContent } = await import('./scripts/api-page.mjs');
  process.stdout.write(JSON.stringify([apiContent(), apiContent({ isSite: true })]));
`;
const MAX_BYTES = 600_000;
const DESCRIPTIONS = ['openapi.json', 'openapi-v2.json'].map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as Description,
);
const args = ['--input-type=module', '--eval', PRINTED];
const printed = execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const [served, site] = JSON.parse(printed) as [string, string];

const hrefsOf = (html: string) => [...html.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href!);
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** Names and descriptions of a schema and its parts, as text without marks. */
function saidIn(schema: object): string[] {
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
    if (keyword === 'properties')
      return Object.entries(value as object).flatMap(([name, each]: [string, object]) => [
        name,
        ...saidIn(each),
      ]);
    if (keyword === 'description') return [(value as string).replaceAll('`', '')];
    return keyword === 'examples' ? [] : [value].flat().flatMap(saidInPart);
  });
}
/** A reference leads to what is said there. */
const saidInPart = (part: unknown) =>
  typeof part === 'object' && part !== null && !('$ref' in part) ? saidIn(part) : [];

describe.each(DESCRIPTIONS)('the page of the API, version $info.version', ({ info, paths, components }) => {
  const version = `v${info.version[0]!}`;

  it('has a heading for each operation, with its method and path', () => {
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId }] of Object.entries(methods)) {
        const [, heading] = new RegExp(`<h3 id="${version}-${operationId}">(.+?)</h3>`).exec(served)!;
        expect(textOf(heading!)).toBe(`${method.toUpperCase()} ${path}`);
      }
    }
  });

  it.each(Object.entries(components.schemas))('says all of the schema %s', (name, schema) => {
    const [, own] = new RegExp(`<div id="${version}-${name}">([^]+?)</div>`).exec(served)!;
    const text = textOf(own!);
    expect(saidIn(schema).filter((each) => !text.includes(each))).toEqual([]);
  });
});

it('has links that lead somewhere, and no identifier twice', () => {
  for (const html of [served, site]) {
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
    expect(new Set(ids).size).toBe(ids.length);
    const lost = hrefsOf(html).filter((href) => href.startsWith('#') && !ids.includes(href.slice(1)));
    expect(lost).toEqual([]);
  }
});

it('has relative links to answers and to the laboratory, and on a static site only to the laboratory', () => {
  const own = (html: string) => hrefsOf(html).filter((href) => !/^(#|https:)/.test(href));
  const others = own(served).filter((href) => !href.startsWith('laboratory#document='));
  expect(others).toContain('api/v2/neurons?type=LC4&amp;side=left');
  expect(others.filter((href) => !/^api\/v[12]\/\w/.test(href))).toEqual([]);
  expect(own(served)).toHaveLength(others.length + own(site).length);
  for (const href of own(site)) {
    const [page, document] = href.split('#document=');
    expect(page).toBe('laboratory.html');
    expect(JSON.parse(decodeURIComponent(document!))).toHaveProperty('inputs');
  }
});

it('is small, and nothing in it runs', () => {
  expect(Buffer.byteLength(served)).toBeLessThan(MAX_BYTES);
  expect(served).not.toMatch(/<script|<style| on\w+=| style=/);
});

it('is the page that was built', () => {
  expect(readFileSync('dist/pages/docs.html', 'utf8')).toContain(served);
});
