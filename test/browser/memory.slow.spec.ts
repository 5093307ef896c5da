/** Stored runs, Back and links of the page, and its start before the atlas has arrived. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { encodeConnectome } from '../../src/engine/connectome/format.js';
import { openPage } from '../support/browser.js';
import { startGateway } from '../support/gateway.js';
import { describeWith } from '../support/requirements.js';
import { startReadyService } from '../support/service.js';
import { smallConnectome } from '../support/small-connectome.js';
import { expectText, openSettings, scalesOfRates, untilBrain } from './page-reading.js';
import { LOOM_HASH, serve } from './served-page.js';

const RUN_PATH = '/api/v1/run';

describeWith(['chromium'], 'memory of the page', () => {
  const served = serve();

  /** The experiments that a page asks for from now on. */
  function runsOf(page: Page): { stimulus: string; seed: number }[] {
    const asked: { stimulus: string; seed: number }[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === RUN_PATH) asked.push(request.postDataJSON());
    });
    return asked;
  }

  it('shows the result again after a reload, also while runs are limited', async () => {
    const limited = await startReadyService({ RATE_LIMIT: '1' });
    const { page } = await openPage(served.browser, limited, LOOM_HASH);
    await page.locator('#results').waitFor();
    const numbers = await page.locator('#summary, #identity').allTextContents();
    const asked = runsOf(page);
    await page.reload();
    await expectText(page, '#key', /Stimulus loom/);
    expect(await page.locator('#summary, #identity').allTextContents()).toEqual(numbers);
    expect(await page.locator('#alert').isVisible()).toBe(false);
    expect(asked).toEqual([]);
    await page.close();
    await limited.stop();
  });

  it('shows a linked run and all its content if neither the database nor the atlas answers', async () => {
    const { page } = await openPage(served.browser, served.service, 'about:blank');
    await page.addInitScript(() => {
      indexedDB.open = () => ({}) as IDBOpenDBRequest;
    });
    await page.route(/\/atlas\//, () => undefined);
    await page.goto(served.service.url + '/' + LOOM_HASH);
    await expectText(page, '#key', /Stimulus loom/);
    await page.locator('main:not(.arriving)').waitFor();
    await page.close();
  });

  it('goes back and forth between runs without asking for them again', async () => {
    const { page } = await served.open();
    await openSettings(page);
    await page.locator('#run:enabled').click();
    await expectText(page, '#key', /Stimulus loom/);
    await page.getByRole('button', { name: 'Run next seed' }).click();
    await expectText(page, '#key', /seed 43/);
    const asked = runsOf(page);
    await page.goBack();
    await expectText(page, '#key', /seed 42/);
    expect(await page.locator('#seed').inputValue()).toBe('42');
    await page.goForward();
    await expectText(page, '#key', /seed 43/);
    expect(asked).toEqual([]);
    await page.close();
  });

  it('keeps the last ten runs for Back, also after a reload', async () => {
    const { page } = await served.open();
    await openSettings(page);
    await page.locator('#run:enabled').click();
    await page.locator('#recorded').waitFor({ state: 'hidden' });
    for (let seed = 43; seed < 54; seed++) {
      await page.locator('#next-seed:enabled').click();
      await expectText(page, '#key', new RegExp(`seed ${seed}`));
    }
    // The page stores a run, and drops the oldest, after it shows it.
    await page.waitForFunction(async () => {
      const stored = await new Promise<{ response: { seed: number } }[]>((resolve) => {
        const opening = indexedDB.open('fly-brain-experiments');
        opening.onsuccess = () => {
          const all = opening.result.transaction('runs').objectStore('runs').getAll();
          opening.result.close();
          all.onsuccess = () => resolve(all.result);
        };
      });
      const seeds = stored.map(({ response }) => response.seed);
      return seeds.includes(53) && !seeds.includes(43);
    });
    const asked = runsOf(page);
    await page.reload();
    for (let seed = 53; seed >= 44; seed--) {
      await expectText(page, '#key', new RegExp(`seed ${seed}`));
      expect(asked).toEqual([]);
      await page.goBack();
    }
    await expectText(page, '#key', /seed 43/);
    expect(asked.map(({ seed }) => seed)).toEqual([43]);
    await page.close();
  });

  it.each([
    ['#stimulus=loom&seed=abc', { stimulus: 'loom', seed: 'abc' }, '"abc"'],
    ['#stimulus=sweet', { stimulus: 'sweet' }, '"sweet"'],
    ['#stimlus=loom', { stimlus: 'loom' }, '"stimlus"'],
  ])('quotes a bad link: %s', async (hash, body, got) => {
    const { error } = await (await served.service.post(body)).json();
    const { page } = await served.open(hash);
    await expectText(page, '#alert', /experiment was refused/);
    expect(await page.locator('#alert p').innerText()).toBe(error);
    expect(error).toContain(got);
    await page.close();
  });

  it('runs before the atlas is there, and draws the brain and the raster when it comes', async () => {
    const gateway = await startGateway(served.service);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    gateway.wayOf = async (path) => {
      if (path.startsWith('/atlas/')) await released;
      return served.service;
    };
    const hash = '#stimulus=sugar&kept.stimulus=food';
    const { page, problems } = await openPage(served.browser, gateway, `/${hash}`);
    await expectText(page, '#key', /Stimulus sugar.*Kept: Stimulus food/s);
    await page.locator('#rates .channel').nth(3).waitFor();
    expect(await page.locator('#types tbody tr').count()).toBeGreaterThan(3);
    // The answer to sugar names 20 types, and those that food excites are not among them.
    const spikes = page
      .locator('#types tr', { hasText: 'S_food' })
      .locator('td')
      .nth(2)
      .locator('span')
      .first();
    expect(await spikes.innerText()).toBe('–');
    expect(await page.locator('#raster-panel').isVisible()).toBe(false);
    release();
    await page.locator('#raster svg').waitFor();
    expect(await spikes.innerText()).toBe('0');
    await expectText(page, '#shown-moment', /Whole run/);
    expect(problems).toEqual([]);
    await page.close();
    await gateway.stop();
  });

  it('starts on a stimulus that the connectome has', async () => {
    const content = smallConnectome();
    const { stimuli } = content.metadata;
    const file = join(mkdtempSync(join(tmpdir(), 'no-sugar-')), 'other.connectome');
    writeFileSync(
      file,
      encodeConnectome({
        ...content,
        metadata: { ...content.metadata, stimuli: stimuli.slice(3) },
        populations: content.populations.slice(3),
      }),
    );
    const other = await startReadyService({ CONNECTOME_FILE: file });
    const { page } = await openPage(served.browser, other);
    await expectText(page, '#key', /^Stimulus touch/);
    await page.close();
    await other.stop();
  });

  it('repeats a run with further seeds and shows mean and population standard deviation', async () => {
    const { page } = await served.open(LOOM_HASH);
    await page.locator('#results').waitFor();
    await page.locator('#rates svg').waitFor();
    expect(await page.locator('#rates .band').count()).toBe(0);
    // A live fly ends the repetition, and its notice.
    await page.route(`**${RUN_PATH}*`, () => undefined);
    await page.getByRole('button', { name: 'Repeat with 4 more seeds' }).click();
    await expectText(page, '#status', /^Repeating/);
    await page.locator('#live-start:enabled').click();
    await expectText(page, '#status', /^$/);
    await page.getByRole('button', { name: 'Back to recorded runs' }).click();
    await page.unroute(`**${RUN_PATH}*`);
    await page.reload();
    await page.locator('#rates svg').waitFor();
    await page.getByRole('button', { name: 'Repeat with 4 more seeds' }).click();
    await expectText(page, '#trials-shown', /of 5 seeds/);
    await page.locator('#rates .band').nth(3).waitFor();

    const answers = await Promise.all(
      [7, 8, 9, 10, 11].map(async (seed) =>
        (await served.service.post({ stimulus: 'loom', duration_ms: 200, intensity: 1.5, seed })).json(),
      ),
    );
    // Independently of the page: the highest mean plus one population standard deviation is the end of the scale.
    const highest = answers[0].frames.map((_: unknown, frame: number) => {
      const rates = answers.map(({ frames }) => frames[frame].channels.escape as number);
      const mean = rates.reduce((sum, rate) => sum + rate) / 5;
      return mean + Math.sqrt(rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / 5);
    });
    const scale = (await scalesOfRates(page)).get('Channel escape')!;
    expect(scale / Math.max(...highest)).toBeCloseTo(1, 2);
    await page.close();
  });

  it('names the types of both runs with the numbers of both', async () => {
    const { page } = await served.open(`${LOOM_HASH}&kept.stimulus=food&kept.seed=3`);
    await expectText(page, '#key', /Kept/);
    await page.locator('#raster svg').waitFor();
    const kept = await (await served.service.post({ stimulus: 'food', seed: 3 })).json();
    const run = await (
      await served.service.post({ stimulus: 'loom', duration_ms: 200, intensity: 1.5, seed: 7 })
    ).json();
    type Top = { type: string; super_class: string; spikes: number };
    const names = new Set([...run.top_types, ...kept.top_types].map(({ type }: Top) => type));
    const rows = page.locator('#types tbody tr');
    expect(await rows.count()).toBe(names.size);
    for (const { type, spikes } of kept.top_types as Top[]) {
      const row = rows.filter({ has: page.getByRole('button', { name: type, exact: true }) });
      expect(await row.locator('td').nth(2).locator('.of-kept').innerText()).toBe(String(spikes));
    }
    await page.close();
  });

  it('draws each drive on its own scale, whatever the sign of turn', async () => {
    const negative = [];
    for (let seed = 0; negative.length === 0 && seed < 50; seed++) {
      const { drive } = await (await served.service.post({ stimulus: 'loom', seed })).json();
      if (drive.turn < 0) negative.push({ seed, drive });
    }
    const [{ seed, drive }] = negative as [{ seed: number; drive: Record<string, number> }];
    const { page } = await served.open(`#stimulus=loom&seed=${seed}`);
    await page.locator('#results').waitFor();
    for (const [id, value] of Object.entries(drive)) {
      const row = page.locator('#drives tr', { has: page.getByText(id, { exact: true }) });
      const bar = await row.locator('i').evaluate(({ style }) => ({
        from: Number.parseFloat(style.getPropertyValue('--from')),
        length: Number.parseFloat(style.getPropertyValue('--length')),
      }));
      const expected =
        id === 'turn' ? { from: 50 + 50 * value, length: -50 * value } : { from: 0, length: 100 * value };
      expect(bar.from).toBeCloseTo(expected.from, 3);
      expect(bar.length).toBeCloseTo(expected.length, 3);
    }
    await page.close();
  });

  it('fits its numbers into windows from 360 to 1440 wide', async () => {
    const { page } = await served.open(`${LOOM_HASH}&kept.stimulus=food`, { width: 360 });
    await expectText(page, '#key', /Kept/);
    for (const width of [360, 1200, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const overflowing = await page.evaluate(() =>
        [...document.querySelectorAll('#summary dd, #summary dt, #rates, #raster, #channels td')]
          .filter(
            (each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline',
          )
          .map((each) => each.textContent),
      );
      expect([width, overflowing]).toEqual([width, []]);
    }
    await page.close();
  });

  it('gives credit: citations with their DOI, and the licences', async () => {
    const { page } = await served.open();
    await untilBrain(page);
    const model = await (await served.service.get('/api/v1/model')).json();
    const hrefs = await page
      .locator('#about a')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    for (const { doi } of model.citations) expect(hrefs).toContain(`https://doi.org/${doi}`);
    await expectText(page, '#licence', new RegExp(`${model.licence.data}.*${model.licence.software}`));
    await page.close();
  });
});
