/** The brain of a static site in Chromium, below a path and without cross-origin isolation, beside a service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import type { DriveRun } from '../../clients/typescript/src/client.js';
import { launchChromium, openPage, type WatchedPage } from '../support/browser.js';
import { describeContract, describeGoldens, serveBrain } from '../support/brain-contract.js';
import { type Outcome, runsOf } from '../support/brain-deeds.js';
import { chromiumPlace } from '../support/brain-places.js';
import { connectomeFile } from '../support/connectomes.js';
import { codeAt } from '../support/guide-examples.js';
import { describeLocal } from '../support/local-brain-contract.js';
import { describeWith } from '../support/requirements.js';
import { until } from '../support/service-process.js';
import { serveFolder, type StaticSite } from '../support/static-site.js';
import { expectText, follow } from './page-reading.js';
import { hashOf, LOOM } from './served-page.js';

jest.setTimeout(300_000);

const RUN = [{ request: { stimulus: 'loom' }, view: 'drive' }] as const;
/** A page of the host that loads nothing by itself. */
const EMPTY = 'empty.html';

describeWith(['chromium'], 'the brain of a static site', () => {
  let folder: string;
  let site: StaticSite;
  let browser: Browser;
  let watched: WatchedPage;
  /** The path of the site's brain in the site. */
  let brainFile: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'site-'));
    const connectome = await connectomeFile('default');
    const args = ['scripts/site.mjs', '--out', folder, '--connectome', connectome];
    await promisify(execFile)(process.execPath, args);
    brainFile = (JSON.parse(readFileSync(join(folder, 'brain.json'), 'utf8')) as { file: string }).file;
    site = await serveFolder(folder);
    site.files.set(EMPTY, Buffer.from('<!doctype html><title>Empty</title>'));
    browser = await launchChromium({ computesHere: true });
    watched = await openPage(browser, site, EMPTY);
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    rmSync(folder, { recursive: true });
  });

  const place = chromiumPlace(() => watched.page);
  const bytesOfBrain = () => readFileSync(join(folder, brainFile));

  it('is not written over files that are no site', async () => {
    const other = mkdtempSync(join(tmpdir(), 'other-'));
    writeFileSync(join(other, 'thesis.txt'), 'mine');
    const writing = promisify(execFile)(process.execPath, ['scripts/site.mjs', '--out', other]);
    await expect(writing).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has other files'),
    });
    expect(readFileSync(join(other, 'thesis.txt'), 'utf8')).toBe('mine');
    rmSync(other, { recursive: true });
  });

  it('needs no cross-origin isolation, and asks nobody but its host', async () => {
    const isolation = 'crossOriginIsolated';
    expect(await watched.page.evaluate(isolation)).toBe(false);
    const brain = await place.open();
    await brain.use(runsOf, RUN);
    await brain.close();
    expect(watched.problems).toEqual([]);
  });

  const http = serveBrain('default');
  describeContract(place, http, () => undefined);
  describeGoldens(place, (file) => {
    site.files.set('measured.connectome', file);
    return './measured.connectome';
  });
  describeLocal(place, () => undefined, {
    missing: () => './brain/missing.connectome',
    damaged: () => {
      const bytes = gunzipSync(bytesOfBrain());
      bytes[bytes.length >> 1]! ^= 1;
      site.files.set('damaged.connectome', bytes);
      return './damaged.connectome';
    },
  });

  describe('that was loaded', () => {
    let page: WatchedPage;
    const fresh = chromiumPlace(() => page.page);
    beforeEach(async () => {
      const context = await browser.newContext();
      page = await openPage(context as unknown as Browser, site, EMPTY);
      site.asked.length = 0;
    });
    afterEach(async () => {
      site.files.delete(brainFile);
      site.files.delete('brain.json');
      await page.page.context().close();
    });

    /** Waits until the cache of the page holds brains as a test wants them; returns their addresses. */
    async function storedBrains(isDone: (urls: string[]) => boolean): Promise<string[]> {
      for (;;) {
        const urls = await page.page.evaluate(async () =>
          (await (await caches.open('brain')).keys()).map(({ url }) => url),
        );
        if (isDone(urls)) return urls;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }

    const loads = () => site.asked.filter((path) => path === brainFile).length;

    it('is loaded once, and works without the host', async () => {
      const first = await fresh.open();
      const answers = await first.use(runsOf, RUN);
      await first.close();
      site.files.set(brainFile, undefined);
      const again = await fresh.open();
      expect(await again.use(runsOf, RUN)).toEqual(answers);
      expect(loads()).toBe(1);
    });

    it('is stored beside those of other folders, and replaces those of its own', async () => {
      const nameOf = (digit: string) => `other/brain/${digit.repeat(64)}.connectome.gz`;
      const opened = [brainFile, nameOf('0'), nameOf('1')];
      for (const path of opened) {
        if (path !== brainFile) site.files.set(path, bytesOfBrain());
        await (await fresh.open(`./${path}`)).close();
        await storedBrains((urls) => urls.includes(site.url + path));
      }
      const stored = await storedBrains((urls) => urls.length < 3);
      expect(stored.toSorted()).toEqual([brainFile, nameOf('1')].map((path) => site.url + path).toSorted());
    });

    it.each([
      ['damaged', (bytes: Buffer) => bytes.with(bytes.length >> 1, bytes[bytes.length >> 1]! ^ 1)],
      ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
      ['an HTML page', () => Buffer.from('<!doctype html><title>Welcome</title>')],
    ])('is refused if it is %s, and not stored', async (_, of) => {
      site.files.set(brainFile, of(bytesOfBrain()));
      await expect(fresh.open()).rejects.toMatchObject({ code: 'CONNECTOME_INVALID' });
      site.files.delete(brainFile);
      const brain = await fresh.open();
      expect(await brain.use(runsOf, RUN)).toEqual([expect.any(String)]);
      expect(loads()).toBe(2);
    });

    it('is loaded anew if another file has its address and no digest', async () => {
      const path = 'lesson.connectome';
      site.files.set(path, Buffer.from('another kind of file, and long enough to have a header'.repeat(9)));
      await expect(fresh.open(`./${path}`)).rejects.toMatchObject({ code: 'CONNECTOME_INVALID' });
      site.files.set(path, await connectomeFile('default'));
      await (await fresh.open(`./${path}`)).close();
      await (await fresh.open(`./${path}`)).close();
      expect(site.asked.filter((each) => each === path)).toHaveLength(3);
    });

    it('is missed if the host does not say which it is', async () => {
      site.files.set('brain.json', Buffer.from('<!doctype html><title>Welcome</title>'));
      const missing = {
        code: 'CONNECTOME_MISSING',
        message: expect.stringContaining('brain.json') as string,
      };
      await expect(fresh.open()).rejects.toMatchObject(missing);
      site.files.set('brain.json', undefined);
      await expect(fresh.open()).rejects.toMatchObject(missing);
    });
  });

  it('works without its host after a visit, and shows what the host has when it is back', async () => {
    let host = await serveFolder(folder);
    const [file] = readdirSync(join(folder, 'brain'));
    const brainBytes = statSync(join(folder, 'brain', file!)).size;
    const context = await browser.newContext();
    try {
      const { page, problems } = await openPage(context as unknown as Browser, host, '');
      const untilHere = () => page.locator('html[data-brain=here]').waitFor({ state: 'attached' });
      await untilHere();
      await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
      // A key is there before its file is stored.
      const storedBytes = `caches.open('brain').then(async (cache) => {
        const [stored] = await cache.matchAll();
        return (await stored?.arrayBuffer())?.byteLength;
      })`;
      await until(async () => (await page.evaluate(storedBytes)) === brainBytes);
      await host.stop();

      await page.reload();
      await untilHere();
      await follow(page, hashOf(LOOM));
      await expectText(page, '#place', /Computed in this tab/);
      await page.goto(`${host.url}guide/`);
      expect(await page.locator('h1').innerText()).toBe('Guide');
      expect(problems).toEqual([]);

      host = await serveFolder(folder, Number(new URL(host.url).port));
      host.files.set('guide/index.html', Buffer.from('<!doctype html><title>Newer</title>'));
      await page.reload();
      expect(await page.title()).toBe('Newer');

      // The files of another build replace those of this one, and those that are the same are not loaded again.
      const script = readFileSync(join(folder, 'offline.js'), 'utf8');
      host.files.set('offline.js', Buffer.from(script.replace(/(?<=["'`])[0-9a-f]{16}(?=["'`])/, 'next')));
      host.asked.length = 0;
      await page.evaluate('navigator.serviceWorker.getRegistration().then((each) => each.update())');
      await page.waitForFunction('navigator.serviceWorker.getRegistration().then((each) => each.waiting)');
      await page.goto('about:blank');
      await page.goto(`${host.url}guide/run.html`);
      const cached = `caches.keys().then((names) => names.filter((name) => name.startsWith('site ')).join())`;
      await page.waitForFunction(`${cached}.then((names) => names === 'site ${host.url} next')`);
      expect(host.asked).toContain('brain.json');
      expect(host.asked.filter((path) => /^assets\/.*\.js$/.test(path))).toEqual([]);
    } finally {
      await context.close();
      await host.stop();
    }
  });

  describe('a page of the guide beside it', () => {
    const open = async (name: string) => {
      site.files.set(`${name}.html`, Buffer.from(codeAt(site.url, name)));
      return openPage(browser, site, `${name}.html`);
    };
    const asked = async (answers: Promise<Outcome[]>) => JSON.parse((await answers)[0] as string) as unknown;

    it('own-page: runs by click', async () => {
      const { page, problems } = await open('own-page');
      await page.locator('#run:enabled').click();
      const { spikes, channels } = (await asked(
        http().runs([{ request: { stimulus: 'loom', seed: 1 }, view: 'drive' }]),
      )) as DriveRun;
      await page
        .getByText(`${spikes.responding_neurons} neurons answer; escape ${channels.escape} Hz`)
        .waitFor();
      expect(problems).toEqual([]);
      await page.close();
    });

    it('own-experiment: prints the rates of the service', async () => {
      const { page, problems } = await open('own-experiment');
      const document = {
        inputs: { sugar: { node_set: '@sugar' } },
        reports: { mn9: { node_set: '@MN9' } },
        sweep: [{ set: 'inputs.sugar.rate_hz', values: [50, 100, 150] }],
        trials: 5,
      };
      const { conditions } = (await asked(http().answers([document]))) as {
        readonly conditions: readonly {
          readonly reports: { readonly mn9: readonly [{ readonly rate_hz: { readonly mean: number } }] };
        }[];
      };
      const rates = conditions.map(({ reports }) => reports.mn9[0].rate_hz.mean.toFixed(1));
      await page.getByText(`50 Hz: ${rates[0]} Hz, 100 Hz: ${rates[1]} Hz, 150 Hz: ${rates[2]} Hz`).waitFor();
      expect(problems).toEqual([]);
      await page.close();
    });

    it('own-session: moves the proboscis while sugar is given', async () => {
      const { page, problems } = await open('own-session');
      const value = "document.getElementById('proboscis').value";
      await page.locator('#sugar').hover();
      await page.mouse.down();
      await page.waitForFunction(`${value} > 30`);
      await page.mouse.up();
      await page.waitForFunction(`${value} < 5`);
      expect(problems).toEqual([]);
      await page.close();
    });
  });
});
