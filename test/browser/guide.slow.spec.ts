/** The guide of a static site in Chromium, below a path: its examples run in the tab. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, openPage } from '../support/browser.js';
import { connectomeFile } from '../support/connectomes.js';
import { guidePages } from '../support/guide-site.js';
import { describeWith } from '../support/requirements.js';
import { expectText } from './page-reading.js';
import { axeFindings } from './served-page.js';

const BELOW = '/courses/fly';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};
const COMPUTED = /^Computed in this tab; the service gives the same answer\.$/;
const WAIT_MS = 120_000;
/** Pages with examples that the service accepts. */
const PAGES = guidePages().filter(({ file, documents }) => documents.length > 0 && file !== 'errors.html');

describeWith(['chromium'], 'the guide of a static site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  let server: Server;
  let site: { readonly url: string };
  let browser: Browser;

  beforeAll(async () => {
    const args = ['scripts/site.mjs', '--out', folder, '--connectome', await connectomeFile('default')];
    await promisify(execFile)(process.execPath, args);
    server = createServer((request, response) => {
      const path = join(folder, new URL(request.url!, 'http://host').pathname.slice(BELOW.length));
      if (!request.url!.startsWith(BELOW) || !existsSync(path)) return response.writeHead(404).end();
      response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
      return response.end(readFileSync(path));
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    site = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BELOW}` };
    browser = await launchChromium();
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(folder, { recursive: true });
  });

  const open = async (file: string, options = {}) => {
    const watched = await openPage(browser, site, `/guide/${file}`, options);
    watched.page.setDefaultTimeout(WAIT_MS);
    return watched;
  };
  const fits = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

  it.each(PAGES)('$file: each button draws a figure', async ({ file, documents }) => {
    const { page, problems } = await open(file, { width: 360, colorScheme: 'light' });
    const examples = page.locator('.example');
    expect(await examples.count()).toBe(documents.length);
    for (const example of await examples.all()) {
      await example.getByRole('button', { name: 'Run in this tab' }).click();
      await example.getByText(COMPUTED).waitFor();
      expect(await example.locator('svg').getAttribute('aria-label')).toMatch(/\w/);
      expect(await example.locator('svg :is(rect, path, circle)').count()).toBeGreaterThan(3);
    }
    expect(await fits(page)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('says a refusal as its sentence', async () => {
    const { page } = await open('errors.html');
    await page.getByRole('button').click();
    await expectText(page, '.example .alert', /^The model lacks "@sugr" \(near: @sugar\)\.$/);
    expect(await page.locator('svg').count()).toBe(0);
    await page.close();
  });

  it('stops while the brain loads, and runs again', async () => {
    const { page, problems } = await open('experiments.html');
    let held = true;
    await page.route('**/*.connectome.gz', (route) => (held ? undefined : route.continue()));
    await Promise.all([page.waitForRequest(/connectome\.gz/), page.getByRole('button').click()]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    held = false;
    await page.getByRole('button', { name: 'Run in this tab' }).click();
    await page.getByText(COMPUTED).waitFor();
    expect(await page.locator('svg').count()).toBe(1);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('is found from the other pages, and opens a document in the laboratory', async () => {
    const { page } = await open('../laboratory.html');
    await page.getByRole('link', { name: 'Guide' }).click();
    await page.getByRole('link', { name: 'Sweeps' }).first().click();
    const link = page.getByRole('link', { name: 'Open in the laboratory' });
    const [, document] = (await link.getAttribute('href'))!.split('#document=');
    const [printed] = guidePages().find(({ file }) => file === 'sweeps.html')!.documents;
    expect(JSON.parse(decodeURIComponent(document!))).toEqual(JSON.parse(printed!));
    await link.click();
    await page.waitForURL(/laboratory\.html#document=/);
    const text = await page.locator('#document').inputValue();
    expect(JSON.parse(text)).toEqual(JSON.parse(printed!));
    await page.close();
  });
});
