/** The pages of a static site in Chromium, below a path: all of them compute in the tab. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, openPage } from '../support/browser.js';
import { connectomeFile } from '../support/connectomes.js';
import { guidePages } from '../support/guide-site.js';
import { describeWith } from '../support/requirements.js';
import { serveFolder, type StaticSite } from '../support/static-site.js';
import { expectText, follow } from './page-reading.js';
import { axeFindings, hashOf, LOOM } from './served-page.js';

const COMPUTED = /^Computed in this tab; the service gives the same answer\.$/;
/** Pages with examples that the service accepts. */
const PAGES = guidePages().filter(({ file, documents }) => documents.length > 0 && file !== 'errors.html');

describeWith(['chromium'], 'the pages of a static site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  let site: StaticSite;
  let browser: Browser;

  beforeAll(async () => {
    const args = ['scripts/site.mjs', '--out', folder, '--connectome', await connectomeFile('default')];
    await promisify(execFile)(process.execPath, args);
    site = await serveFolder(folder);
    browser = await launchChromium();
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    rmSync(folder, { recursive: true });
  });

  const open = async (file: string, options = {}) => {
    const watched = await openPage(browser, site, `guide/${file}`, options);
    return watched;
  };
  const fits = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

  it('plays and computes runs without a service, and opens another worker for a lost one', async () => {
    site.asked.length = 0;
    const { page, problems } = await open('../index.html');
    await expectText(page, '#key', /^Looming object/);
    await expectText(page, '#recorded', /^A recorded run\.$/);
    // The browser saves data, so the brain waits for an act.
    expect(site.asked.filter((path) => path.startsWith('brain'))).toEqual([]);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/*.connectome.gz', async (route) => {
      await released;
      await route.continue();
    });
    await follow(page, `#${hashOf(LOOM)}`);
    await expectText(page, '#status', /^Loading the brain/);
    release();
    await expectText(page, '#place', COMPUTED);
    await expectText(page, '#key', /seed 7/);
    await expectText(page, '#status', /^$/);
    await page.getByRole('button', { name: 'Give sugar' }).hover();
    await page.mouse.down();
    await expectText(page, '#live-panel', /0\.[1-9] s of brain time, computed in this tab/);
    await page.mouse.up();
    expect(problems.splice(0)).toEqual([]);

    await page.workers()[0]!.evaluate(
      () =>
        void setTimeout(() => {
          throw new Error('out of memory');
        }),
    );
    await follow(page, `#${hashOf({ ...LOOM, seed: 11 })}`);
    await expectText(page, '#key', /seed 11/);
    await expectText(page, '#place', COMPUTED);

    await page.getByRole('link', { name: 'Lesson' }).click();
    await expectText(page, '[data-figure=sugar]', /Computed in this tab/);
    expect(await page.locator('[data-figure=sugar] svg').count()).toBe(1);
    expect(await page.context().cookies()).toEqual([]);
    // A browser may end the worker before it has reported the error.
    expect(problems.filter((each) => !each.includes('out of memory'))).toEqual([]);
    await page.close();
  });

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

  it('is found from the other pages, and runs a document in the laboratory', async () => {
    const { page, problems } = await open('../laboratory.html');
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
    await page.locator('#run:enabled').click();
    await expectText(page, '#progress-text', /conditions of .* Computed in this tab/);
    expect(await page.locator('#figure svg').count()).toBe(1);
    expect(await page.context().cookies()).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });
});
