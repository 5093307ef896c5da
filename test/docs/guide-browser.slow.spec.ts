/** Pages and games of docs/guide, each in a real browser on another origin than the service, which has the brain that ships. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/browser.js';
import { connectomeFile } from '../support/connectomes.js';
import { freePort } from '../support/free-port.js';
import { codeAt } from '../support/guide-examples.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';

let service: Service;
const codeOf = (name: string, origin = service.url) => codeAt(origin, name);

beforeAll(async () => {
  service = await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
}, 180_000);
afterAll(() => service.stop());

describeWith(['chromium'], 'docs/guide in a browser, on another origin', () => {
  let browser: Browser;
  let pages: Server;
  /** Proxy of a service that is down. */
  let proxy: Server;
  let html = '';

  beforeAll(async () => {
    browser = await launchChromium();
    pages = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    proxy = createServer((_, response) => {
      response.writeHead(503, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' });
      response.end('<h1>Service Unavailable</h1>');
    });
    for (const server of [pages, proxy]) {
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    }
  });
  afterAll(async () => {
    await browser.close();
    pages.close();
    proxy.close();
  });

  async function open(content: string) {
    html = content;
    const page = await browser.newPage();
    const problems: string[] = [];
    const runs: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => {
      if (request.method() === 'POST') runs.push(request.url());
    });
    await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`);
    return { page, problems, runs };
  }

  it('runs an experiment by click', async () => {
    const { page, problems } = await open(codeOf('browser-page'));
    await page.locator('option[value=loom]').waitFor({ state: 'attached' });
    await page.selectOption('#stimulus', 'loom');
    await page.click('#run');
    const { spikes, channels } = await (await service.post({ stimulus: 'loom' })).json();
    const expected = `${spikes.responding_neurons} neurons answer; escape ${channels.escape} Hz`;
    await page.getByText(expected).waitFor({ timeout: 30_000 });
    expect(await page.locator('option').count()).toBe(10);
    expect(problems).toEqual([]);
  });

  it('says that it got no run, and lets it be tried again, while nobody listens', async () => {
    const { page, problems } = await open(codeOf('browser-page', `http://127.0.0.1:${await freePort()}`));
    const said = page.getByText(/^That did not work: ./);
    await said.waitFor();
    await page.evaluate("document.getElementById('result').textContent = ''");
    await page.click('#run:enabled');
    await said.waitFor();
    expect(await page.isEnabled('#run')).toBe(true);
    expect(problems).toEqual([]);
  });

  it('quotes the answer of a proxy in place of a run', async () => {
    const { port } = proxy.address() as AddressInfo;
    const { page, problems } = await open(codeOf('browser-page', `http://127.0.0.1:${port}`));
    await page.getByText('That did not work: The answer was 503.').waitFor();
    expect(await page.isEnabled('#run')).toBe(true);
    expect(problems).toEqual([]);
  });

  interface Window {
    fly: { x: number; glow(now: number): number; see(stimulus: string): Promise<void> };
  }

  function gameOf(code: string): string {
    const script = `<script type="module">${code}\nglobalThis.fly = fly;</script>`;
    return `<!doctype html><meta charset="utf-8" /><title>Game</title>${script}`;
  }

  it('lets a game go on while nobody listens, and ask again at a later event', async () => {
    const { page, problems, runs } = await open(
      gameOf(codeOf('game-loop', `http://127.0.0.1:${await freePort()}`)),
    );
    // The game sees something again and again; its request fails, and it asks once more after the pause.
    await page.waitForFunction(() => (globalThis as unknown as Window).fly !== undefined);
    await page.evaluate(() => setInterval(() => void (globalThis as unknown as Window).fly.see('loom'), 100));
    while (runs.length < 2) await page.waitForEvent('request', { timeout: 30_000 });
    expect(problems).toEqual([]);
  });

  it('animates a game between answers: one run, many pictures', async () => {
    const { page, problems, runs } = await open(gameOf(codeOf('game-loop')));
    // It flees from the looming shadow, and glows while the frames of the answer last.
    await page.waitForFunction(() => (globalThis as unknown as Window).fly?.x > 20, undefined, {
      timeout: 30_000,
    });
    await page.waitForFunction(
      () => (globalThis as unknown as Window).fly.glow(performance.now()) === 0,
      undefined,
      { timeout: 30_000 },
    );
    expect(runs).toHaveLength(1);
    expect(problems).toEqual([]);
  });
});
