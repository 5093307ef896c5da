/** Pages whose brain is in the tab: they ask the service for nothing that they can compute, and show the same. */
import type { Browser, Page } from 'playwright-core';
import { launchChromium, openPage } from '../support/browser.js';
import { connectomeFile } from '../support/connectomes.js';
import { startReadyService, type Service } from '../support/service.js';
import { expectText } from './page-reading.js';
import { hashOf, LOOM } from './served-page.js';

let browser: Browser;
let service: Service;

beforeAll(async () => {
  const CONNECTOME_FILE = await connectomeFile('default');
  [browser, service] = await Promise.all([
    launchChromium({ computesHere: true }),
    startReadyService({ CONNECTOME_FILE }),
  ]);
});

afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** Opens a page and waits until its brain is in the tab. */
async function openHere(path: string) {
  const { page, problems } = await openPage(browser, service, 'about:blank');
  const computed: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') computed.push(request.url());
  });
  const brain = page.waitForResponse(/\/brain\/\w+\.connectome$/);
  await page.goto(service.url + path);
  expect((await brain).status()).toBe(200);
  await page.locator('html[data-brain=here]').waitFor({ state: 'attached' });
  return { page, problems, computed };
}

async function runOf(page: Page, experiment: object): Promise<string> {
  await page.evaluate((hash) => (location.hash = hash), hashOf(experiment));
  await expectText(page, '#place', /Computed in this tab/);
  return page.locator('#identity').innerText();
}

it('computes runs in the tab, with the numbers of the service', async () => {
  const { page, problems, computed } = await openHere('/');
  const { id, spikes, channels } = (await (await service.post(LOOM)).json()) as {
    id: string;
    spikes: { total: number };
    channels: Record<string, number>;
  };
  expect(await runOf(page, LOOM)).toContain(id);
  const summary = await page.locator('#summary').innerText();
  expect(summary.replace(/\D/g, '')).toContain(String(spikes.total));
  const rates = page.locator('#channels tr[data-of] > td:last-child');
  expect(await rates.allTextContents()).toEqual(expect.arrayContaining([String(channels['escape'])]));
  expect(computed).toEqual([]);
  // Only a site stores itself.
  expect(await page.locator('script[src*="offline"]').count()).toBe(0);
  expect(problems).toEqual([]);
  await page.close();
});

it('steps the live fly in the tab', async () => {
  const { page, problems, computed } = await openHere('/');
  await runOf(page, { ...LOOM, seed: 8 });
  await page.getByRole('button', { name: 'Give sugar' }).hover();
  await page.mouse.down();
  await expectText(page, '#live-panel', /0\.[1-9] s of brain time/);
  await page.mouse.up();
  expect(computed).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it('runs an experiment of the laboratory in the tab', async () => {
  const document = { inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } }, duration_ms: 100, trials: 2 };
  const { page, problems, computed } = await openHere(
    `/laboratory#document=${encodeURIComponent(JSON.stringify(document))}`,
  );
  await page.locator('#run:enabled').click();
  await expectText(page, '#result-column', /1 condition of 2 trials/);
  expect(computed.filter((url) => !url.includes('dry_run'))).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it('goes on with the service if the worker fails', async () => {
  const { page, computed } = await openHere('/');
  await page.workers()[0]!.evaluate(
    () =>
      void setTimeout(() => {
        throw new Error('out of memory');
      }),
  );
  await page.evaluate((hash) => (location.hash = hash), hashOf({ ...LOOM, seed: 11 }));
  await expectText(page, '#key', /seed 11/);
  expect(computed).toEqual([`${service.url}/api/v1/run?view=full`]);
  await page.close();
});

it('asks the service, and says why, if the browser saves data', async () => {
  const context = await browser.newContext();
  await context.addInitScript(
    "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })",
  );
  const page = await context.newPage();
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(`${service.url}/#${hashOf({ ...LOOM, seed: 9 })}`);
  await expectText(page, '#place', /Computed by the service, because this browser saves data/);
  expect(loaded.filter((path) => path.startsWith('/brain/') || path.startsWith('/tab/'))).toEqual([]);
  await context.close();
});
