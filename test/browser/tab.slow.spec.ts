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

/** Opens a page and waits until its brain is in the tab. @param from a context that tests of two tabs share */
async function openHere(path: string, from: Pick<Browser, 'newPage'> = browser) {
  const { page, problems } = await openPage(from as Browser, service, 'about:blank');
  const computed: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') computed.push(request.url());
  });
  const brain = page.waitForResponse(/\/brain\/\w+\.connectome$/);
  await page.goto(service.url + path);
  expect((await brain).status()).toBe(200);
  await untilHere(page);
  return { page, problems, computed };
}

/** In a page: limits of time run out at once, as after a sleep of the computer. */
function runOutOfTime(): void {
  const { setTimeout: usual } = globalThis;
  const late = (run: () => void, ms?: number) => usual(run, ms! >= 10_000 ? 0 : ms);
  globalThis.setTimeout = late as typeof setTimeout;
  AbortSignal.timeout = () => AbortSignal.abort(new DOMException('Time is up.', 'TimeoutError'));
}

async function untilHere(page: Page): Promise<void> {
  await page.locator('html[data-brain=here]').waitFor({ state: 'attached' });
}

async function runOf(page: Page, experiment: object): Promise<string> {
  await page.evaluate((hash) => (location.hash = hash), hashOf(experiment));
  await expectText(page, '#place', /Computed in this tab/);
  return page.locator('#identity').innerText();
}

it('computes runs in the tab, with the numbers of the service', async () => {
  const { page, problems, computed } = await openHere('/');
  await expectText(page, '#recorded', /^A recorded run\.$/);
  const { id, spikes, channels } = (await (await service.post(LOOM)).json()) as {
    id: string;
    spikes: { total: number };
    channels: Record<string, number>;
  };
  await page.evaluate(runOutOfTime);
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

it('loads the brain of a lesson whose model comes after its figures', async () => {
  const { page } = await openPage(browser, service, 'about:blank');
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/v1\/model$/, async (route) => {
    await released;
    await route.continue();
  });
  const brain = page.waitForResponse(/\/brain\/\w+\.connectome$/);
  await page.goto(`${service.url}/lesson`);
  await page.locator('[data-figure=sugar] svg').waitFor();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[data-figure] [role=status]')].every(
      ({ textContent }) => !textContent!.startsWith('Simulating'),
    ),
  );
  release();
  expect((await brain).status()).toBe(200);
  await page.close();
});

it('steps the live fly in the tab, but not a session that the service has opened', async () => {
  const { page, problems } = await openPage(browser, service, 'about:blank');
  const opened: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/v2/sessions')) opened.push(request.url());
  });
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/brain\/\w+\.connectome$/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(service.url);
  const sugar = page.getByRole('button', { name: 'Give sugar' });
  await sugar.hover();
  await page.mouse.down();
  await expectText(page, '#live-panel', /s of brain time, computed by the service/);
  release();
  await untilHere(page);
  const stepped = /([\d.]+ s) of brain time/.exec(await page.locator('#live-panel').innerText())![1]!;
  await expectText(page, '#live-panel', new RegExp(`(?<!${stepped}) of brain time, computed by the service`));
  await page.mouse.up();
  await page.getByRole('button', { name: 'Back to recorded runs' }).click();
  await sugar.hover();
  await page.mouse.down();
  await expectText(page, '#live-panel', /0\.[1-9] s of brain time, computed in this tab/);
  await page.mouse.up();
  expect(opened).toHaveLength(1);
  expect(problems).toEqual([]);
  await page.close();
});

it('runs an experiment of the laboratory in two tabs, after one was reloaded or closed in mid run', async () => {
  const document = { inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } }, trials: 100 };
  const path = `/laboratory#document=${encodeURIComponent(JSON.stringify(document))}`;
  const context = await browser.newContext();
  const { page, problems, computed } = await openHere(path, context);
  const other = await context.newPage();
  const loaded: string[] = [];
  other.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  const begin = async (tab: Page) => {
    await tab.locator('#run:enabled').click();
    await expectText(tab, '#progress-text', /^Running/);
  };
  const ratesOf = async (tab: Page) => {
    await expectText(tab, '#progress-text', /^1 condition of 100 trials: .* Computed in this tab/);
    return tab.locator('#rates').innerText();
  };
  await begin(page);
  await Promise.all([page.reload(), other.goto(service.url + path)]);
  await Promise.all([page, other].map(untilHere));
  await Promise.all([page, other].map(begin));
  const [rates, same] = [await ratesOf(page), await ratesOf(other)];
  expect(rates).toMatch(/\d/);
  expect(same).toBe(rates);
  await begin(page);
  await page.close();
  await begin(other);
  expect(await ratesOf(other)).toBe(rates);
  // The browser has stored the brain for all its tabs.
  expect(loaded.filter((asked) => asked.startsWith('/brain/'))).toEqual([]);
  expect(computed.filter((url) => !url.includes('dry_run'))).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

it.each(['/lesson', '/laboratory'])(
  'shows the first figure of %s before it loads the brain',
  async (path) => {
    const { page, problems } = await openPage(browser, service, 'about:blank');
    let see!: (figures: number) => void;
    const seenFirst = new Promise<number>((resolve) => (see = resolve));
    await page.route(/\/(tab|brain)\/[^/]+$/, async (route) => {
      see(await page.locator('[data-figure=sugar] svg, #figure svg').count());
      await route.abort();
    });
    await page.goto(service.url + path);
    expect(await seenFirst).toBe(1);
    // The opening of the laboratory shows it only after the bench is open.
    await page.locator('main', { hasText: /Computed by the service\./ }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  },
);

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

it.each([
  [
    'this browser saves data',
    "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })",
  ],
  ['this device has little memory', "Object.defineProperty(navigator, 'deviceMemory', { value: 1 })"],
  ['this browser has no WebAssembly with SIMD', 'WebAssembly.validate = () => false'],
])('asks the service, and says why, because %s', async (reason, device) => {
  const context = await browser.newContext();
  await context.addInitScript(device);
  const page = await context.newPage();
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(`${service.url}/#${hashOf({ ...LOOM, seed: 9 })}`);
  await expectText(page, '#place', new RegExp(`Computed by the service, because ${reason}`));
  expect(loaded.filter((path) => path.startsWith('/brain/') || path.startsWith('/tab/'))).toEqual([]);
  await context.close();
});
