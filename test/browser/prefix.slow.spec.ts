/** Pages behind a proxy that strips a prefix, such as that of a Jupyter server: each works below it, and asks nothing else. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { launchChromium, openPage } from '../support/browser.js';
import { connectomeFile } from '../support/connectomes.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';
import { expectText } from './page-reading.js';
import { LOOM_HASH } from './served-page.js';

const PREFIX = '/user/a%40b/proxy/8080';
const DOCUMENT = { inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } }, duration_ms: 100, trials: 2 };
const LABORATORY = `/laboratory#document=${encodeURIComponent(JSON.stringify(DOCUMENT))}`;

describeWith(['chromium'], 'below a prefix', () => {
  let browser: Browser;
  let service: Service;
  let gateway: Gateway;

  beforeAll(async () => {
    const CONNECTOME_FILE = await connectomeFile('default');
    [browser, service] = await Promise.all([
      launchChromium({ computesHere: true }),
      startReadyService({ CONNECTOME_FILE, TRUST_PROXY: 'loopback' }),
    ]);
    gateway = await startGateway(service, PREFIX);
  });

  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await service.stop();
  });

  /** Opens a page. Its problems include every failed request, and every request that leaves the prefix. */
  async function open(path: string, { computesHere = false } = {}) {
    const { page, problems } = await openPage(browser, gateway, 'about:blank');
    page.on('response', (answer) => {
      if (answer.status() >= 400) problems.push(`${answer.status()} ${answer.url()}`);
    });
    if (!computesHere)
      await page.addInitScript(
        "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })",
      );
    await page.goto(gateway.url + path);
    return { page, problems };
  }

  it('the brain is shown, and a run is computed in the tab', async () => {
    const { page, problems } = await open('/', { computesHere: true });
    await page.locator('html[data-brain=here]').waitFor({ state: 'attached' });
    await page.evaluate((hash) => (location.hash = hash), LOOM_HASH);
    await expectText(page, '#place', /Computed in this tab/);
    await expectText(page, '#curl', new RegExp(`'${gateway.url}/api/v1/run'`));
    expect(problems).toEqual([]);
    await page.close();
  });

  it('the laboratory runs an experiment, and one as a job', async () => {
    const { page, problems } = await open(LABORATORY);
    await page.locator('#run:enabled').click();
    await expectText(page, '#result-column', /1 condition of 2 trials/);
    await page.getByLabel('Run as a job').check();
    await page.locator('#run:enabled').click();
    await page.waitForFunction(() => location.hash.startsWith('#job='));
    await page.reload();
    await expectText(page, '#result-column', /1 condition of 2 trials/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('the lesson draws a figure that leads to the laboratory', async () => {
    const { page, problems } = await open('/lesson');
    await page.locator('[data-figure=sugar] svg').waitFor();
    await page.locator('[data-figure=sugar] a').click();
    await expectText(page, '#cost', /brain seconds/);
    expect(page.url()).toContain(`${gateway.url}/laboratory#document=`);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('the commands of the page of the interface work', async () => {
    const { page, problems } = await open('/docs');
    const commands = await page.locator('.command').allTextContents();
    expect(commands.length).toBeGreaterThan(15);
    const codes = await Promise.all(
      commands.map(async (command) => {
        expect(command).toContain(`'${gateway.url}/api/v`);
        const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent`]);
        return (JSON.parse(stdout) as { code?: string }).code;
      }),
    );
    // Jobs and sessions have made-up names there.
    const named = commands.map((command) => /(experiments|sessions)\/\w/.exec(command)?.[1]);
    const refusals = { experiments: 'NOT_FOUND', sessions: 'SESSION_ENDED' };
    expect(codes).toEqual(named.map((name) => refusals[name as keyof typeof refusals]));
    expect(problems).toEqual([]);
    await page.close();
  });

  it.each(['/', '/laboratory', '/lesson', '/docs'])('%s links to pages below it', async (path) => {
    const html = await (await fetch(gateway.url + path)).text();
    const links = [...html.matchAll(/<a href="([^"#][^"]*)"/g)].map(
      ([, href]) => new URL(href!.replaceAll('&amp;', '&'), gateway.url + path),
    );
    const own = links.filter(({ origin }) => gateway.url.startsWith(origin));
    expect(own.length).toBeGreaterThanOrEqual(3);
    for (const link of own) {
      expect(link.href).toContain(`${gateway.url}/`);
      expect((await fetch(link)).status).toBe(200);
    }
  });

  it('the links of a job lead to it', async () => {
    const begun = await fetch(`${gateway.url}/api/v2/experiments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'respond-async' },
      body: JSON.stringify(DOCUMENT),
    });
    const job = new URL(begun.headers.get('location')!, begun.url);
    const state = async () =>
      (await fetch(job)).json() as Promise<{ status: string; links: { href: string }[] }>;
    await until(async () => (await state()).status === 'successful');
    const { links } = await state();
    const answers = await Promise.all(links.map(({ href }) => fetch(new URL(href, job))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { servers } = (await (await fetch(`${gateway.url}/api/v2/openapi`)).json()) as {
      servers: object[];
    };
    expect(servers).toEqual([{ url: gateway.url }]);
  });
});
